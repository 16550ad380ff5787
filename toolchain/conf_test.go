package toolchain

import (
	"slices"
	"strings"
	"testing"
)

func TestParseMaps(t *testing.T) {
	got := parseMaps("Python   *.py *.pyx SConscript [Ss]Construct *.py\n\nC#       *.cs\nAsm *.29[kK] *.min.s\nBad *.a:b *.(x) plain\nNone\n")
	want := []language{
		{"Python", []string{".py", ".pyx", "(SConscript)", "([Ss]Construct)"}},
		{"C#", []string{".cs"}},
		{"Asm", []string{"(*.29[kK])", "(*.min.s)"}},
		{"Bad", []string{"(plain)"}},
		{"None", nil},
	}
	equal := func(a, b language) bool { return a.Name == b.Name && slices.Equal(a.Patterns, b.Patterns) }
	if !slices.EqualFunc(got, want, equal) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestChooseLanguages(t *testing.T) {
	got := chooseLanguages([]language{
		{"Markdown", []string{".md"}},
		{"ObjectiveC", []string{".m", ".h", ".mm"}},
		{"Python", []string{".py"}},
		{"Raku", []string{".p6"}},
		{"Perl6", []string{".p6"}},
	})
	want := []string{"Python .py", "ObjectiveC .m .mm", "Perl6 .p6"} // .h is C's, .p6 was taken
	var names []string
	for _, l := range got {
		names = append(names, l.Name+" "+strings.Join(l.Patterns, " "))
	}
	if !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

func TestGtagsConf(t *testing.T) {
	got := gtagsConf([]language{{"Python", []string{".py", "(SConscript)"}}, {"C#", []string{".cs"}}})
	want := `default:\
	:tc=native-ctags:
native:\
	:skip=GTAGS,GRTAGS,GPATH:\
	:langmap=c\:.c.h,yacc\:.y,asm\:.s.S,java\:.java,cpp\:.c++.cc.hh.cpp.cxx.hxx.hpp.C.H,php\:.php.php3.phtml:
native-ctags:\
	:tc=native:\
	:ctagscom=gtagsmcp-ctagscom:\
	:langmap=Python\:.py(SConscript),C#\:.cs:\
	:gtags_parser=Python\:universal-ctags.so,C#\:universal-ctags.so:
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// FuzzParseMaps: whatever ctags says, nothing that would end an entry early may
// reach the configuration.
func FuzzParseMaps(f *testing.F) {
	f.Add("Python   *.py SConscript\nC#  *.cs\n")
	f.Add("Python *.p:y *.\\ (x)\nGo *.go,\n")
	f.Fuzz(func(t *testing.T, out string) {
		conf := gtagsConf(chooseLanguages(parseMaps(out)))
		if records := strings.Count(conf, ":\n"); records != 3 {
			t.Errorf("got %d records, want 3:\n%s", records, conf)
		}
		for _, l := range chooseLanguages(parseMaps(out)) {
			for _, p := range l.Patterns {
				if strings.ContainsAny(p, ":,\\\n\t ") {
					t.Errorf("pattern %q of %s cannot stand in a langmap", p, l.Name)
				}
			}
		}
	})
}
