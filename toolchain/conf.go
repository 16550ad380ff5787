package toolchain

import (
	"fmt"
	"slices"
	"strings"
)

// The labels of our gtags.conf.
const (
	// LabelNative is what gtags parses itself: C, yacc, C++, Java, PHP, assembly.
	LabelNative = "native"
	// LabelCtags adds the languages that Universal Ctags parses.
	LabelCtags = "native-ctags"
)

// HelperName is the name by which gtags starts the parser helper. It stands in
// gtags.conf without a folder, and Env's PATH leads to it: nothing in the
// managed home holds its own path, so a moved home needs no repair.
const HelperName = "gtagsmcp-ctagscom"

// pluginName is GNU Global's plugin that asks such a helper. It is found
// through LTDL_LIBRARY_PATH for the same reason. A prebuilt gtags has the plugin
// inside and knows it by this name too, whose extension it ignores; one
// configuration serves both.
const pluginName = "universal-ctags.so"

// nativeLangmap gives gtags' own parsers their files. Headers go to C, as in
// GNU Global's stock configuration.
const nativeLangmap = `c\:.c.h,yacc\:.y,asm\:.s.S,java\:.java,cpp\:.c++.cc.hh.cpp.cxx.hxx.hpp.C.H,php\:.php.php3.phtml`

var nativePatterns = strings.Fields(`.c .h .y .s .S .java .c++ .cc .hh .cpp .cxx .hxx .hpp .C .H .php .php3 .phtml`)

// pluginLanguages are the languages that go to ctags where it lists them:
// programming languages only. Markup, data and build files are left out, since
// their "definitions" (headings, keys, targets) drown the names of the code. A
// pattern that two languages claim goes to the one that stands first.
var pluginLanguages = strings.Fields(`Python Go Rust JavaScript TypeScript Ruby Perl Sh Kotlin Scala C# Lua
	ObjectiveC Swift Zig CUDA D Dart Haskell OCaml SML Elm Erlang Elixir Clojure Lisp EmacsLisp Scheme
	Julia R Fortran Ada Pascal Cobol Basic Eiffel Haxe Vala Tcl Awk PowerShell Vim SQL Protobuf Thrift
	Verilog SystemVerilog VHDL SystemTap Perl6 Raku Groovy GDScript Nix Terraform`)

// morePatterns are files that ctags leaves out of its languages' maps.
var morePatterns = map[string][]string{
	"JavaScript": {".cjs"},
	"TypeScript": {".tsx", ".mts", ".cts"},
}

// language is one language of ctags and the file names it takes, in the notation
// that gtags and ctags share: ".ext", or a glob in parentheses.
type language struct {
	Name     string
	Patterns []string
}

// parseMaps reads what `ctags --list-maps` prints: one language a line, its name,
// then its patterns, separated by blanks:
//
//	Python   *.py *.pyx SConscript [Ss]Construct
//
// A pattern that the colon-and-comma syntax of a langmap cannot hold is dropped.
func parseMaps(out string) []language {
	var langs []language
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		l := language{Name: fields[0]}
		for _, glob := range fields[1:] {
			if strings.ContainsAny(glob, `:,()\$"'`) {
				continue
			}
			pattern := "(" + glob + ")"
			if ext, ok := strings.CutPrefix(glob, "*."); ok && !strings.ContainsAny(ext, "*?[].") {
				pattern = "." + ext
			}
			if !slices.Contains(l.Patterns, pattern) {
				l.Patterns = append(l.Patterns, pattern)
			}
		}
		langs = append(langs, l)
	}
	return langs
}

// chooseLanguages returns the plugin languages among listed, each pattern once
// and none that a native parser takes.
func chooseLanguages(listed []language) []language {
	taken := make(map[string]bool)
	for _, p := range nativePatterns {
		taken[p] = true
	}
	var chosen []language
	for _, name := range pluginLanguages {
		i := slices.IndexFunc(listed, func(l language) bool { return l.Name == name })
		if i < 0 {
			continue
		}
		l := language{Name: name}
		for _, p := range slices.Concat(listed[i].Patterns, morePatterns[name]) {
			if !taken[p] {
				taken[p] = true
				l.Patterns = append(l.Patterns, p)
			}
		}
		if l.Patterns != nil {
			chosen = append(chosen, l)
		}
	}
	return chosen
}

// gtagsConf writes our gtags.conf, termcap style: a record ends at the first line
// without a trailing backslash, ":tc=" includes another record, and a colon in
// a value is written "\:". gtags adds up the langmap entries of all records.
//
// It skips nothing but databases: which files are indexed is decided by the list
// that gtags is given.
func gtagsConf(langs []language) string {
	var b strings.Builder
	b.WriteString("default:\\\n\t:tc=" + LabelCtags + ":\n")
	b.WriteString(LabelNative + ":\\\n\t:skip=GTAGS,GRTAGS,GPATH:\\\n\t:langmap=" + nativeLangmap + ":\n")
	b.WriteString(LabelCtags + ":\\\n\t:tc=" + LabelNative + ":")
	if len(langs) > 0 {
		var maps, parsers []string
		for _, l := range langs {
			maps = append(maps, l.Name+`\:`+strings.Join(l.Patterns, ""))
			parsers = append(parsers, l.Name+`\:`+pluginName)
		}
		fmt.Fprintf(&b, "\\\n\t:ctagscom=%s:\\\n\t:langmap=%s:\\\n\t:gtags_parser=%s:",
			HelperName, strings.Join(maps, ","), strings.Join(parsers, ","))
	}
	b.WriteString("\n")
	return b.String()
}
