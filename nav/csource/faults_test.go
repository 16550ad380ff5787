package csource

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The folders under testdata/faults are small inputs on which other tools are
// wrong: prototypes taken for calls, annotations that swallow the next
// function, braces that differ between conditional arms.

func scanFault(t *testing.T, name string) *File {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "faults", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	lang, ok := LangOf(name)
	if !ok {
		t.Fatalf("%s: no language", name)
	}
	return Scan(text, lang)
}

// outline renders definitions as "kind scope::name start-end", one a line.
func outline(f *File) string {
	var b strings.Builder
	for _, s := range f.Symbols() {
		if !s.Kind.Definition() {
			continue
		}
		fmt.Fprintf(&b, "%s %s %d-%d", s.Kind, join(s.Scope, s.Name), s.Start, s.End)
		if s.Line != s.Start {
			fmt.Fprintf(&b, " at %d", s.Line)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestFaultDefinitions(t *testing.T) {
	tests := []struct{ file, want string }{
		{"04/a.c", "function target 1-1\nfunction realcaller 2-8\nmacro LOCAL_LIMIT 4-4\nfunction top 9-12\n"},
		{"13/a.h", "typedef ssize_t 1-1\ntypedef cb_t 2-2\nstruct fops 3-6\nmember fops::read 4-4\nmember fops::write 5-5\n"},
		{"16/a.c", "function f 1-11\nfunction secret 12-15\n"},
		{"17/a.c", "function f 1-13\n"},
		{"19/a.h", "enum color 1-5\nenumerator color::RED 2-2\nenumerator color::GREEN 3-3\nenumerator color::BLUE 4-4\nstruct s 7-7\nmember s::z 7-7\n"},
		{"20/a.h", "macro DEFINE_SHOW 1-8\nmacro CHECK 10-11\n"},
		{"22/a.c", "struct r 1-1\nmember r::v 1-1\nfunction lookup 2-6 at 3\n"},
		{"23/a.c", "function wide 1-27\n"},
		{"25/a.c", "function o 2-2\nvariable jiffies_x 3-3\nvariable my_fops 4-6\nfunction get 7-10\n"},
		{"25/a.h", "struct fops 1-1\nmember fops::open 1-1\n"},
		{"31/a.c", "function fa 2-2\nfunction fb 4-4\nfunction fc 6-6\nfunction fd 8-8\n"},
		{"40/a.c", "function first 1-4\nvariable tab 7-10\nfunction second 12-15\nfunction usefirst 16-16\n"},
		{"46/a.c", "function target 1-1\nfunction dead 3-6\n"},
		{"50/a.c", "function a 3-7\nfunction b 8-12\n"},
		{"50/t.h", ""},
		{"52/a.cpp", "namespace ns 2-38\nstruct ns::V 3-15\nmember ns::V::a 4-4\nmember ns::V::b 4-4\nfunction ns::V::V 5-7\nfunction ns::V::~V 8-8\n" +
			"function ns::V::operator() 9-9\nfunction ns::V::operator+ 10-12\nfunction ns::V::init 16-16\nfunction ns::V::destroy 17-17\n" +
			"function ns::overload 18-18\nfunction ns::overload 19-19\nvariable ns::lam 20-20\nfunction ns::trail 21-25\nvariable ns::million 26-26\n" +
			"function ns::afterdigit 27-30\nenum ns::Color 31-31\nenumerator ns::Color::Red 31-31\nenumerator ns::Color::Green 31-31\n" +
			"typedef ns::Vec 32-32\nvariable ns::raw 33-33\nfunction ns::afterraw 34-37\n"},
		{"53/a.cpp", "struct P 1-4\nmember P::a 2-2\nmember P::b 2-2\nfunction P::P 5-9\nfunction deflt 10-13\n"},
		{"58/a.h", "macro __alloc_size 1-1\nfunction before 2-5\nfunction kmalloc_n 6-9\n"},
		{"58/b.c", "function target 2-2\nfunction lockit 5-8\nfunction warnx 9-12\nfunction start 13-16\nfunction attr1 17-20\nfunction attr2 21-24\nfunction annotated 25-29\n"},
		{"59/p.h", ""},
		{"59/a.c", "function proto1 2-2\nfunction proto2 3-3\nfunction proto3 4-4\nfunction proto4 5-5\nfunction proto6 6-6\nfunction after_thing 8-8\nfunction after_lic 10-10\n"},
		{"61/a.c", "variable counter 1-1\nfunction inc 2-5\nfunction get 6-9\n"},
		{"62/a.h", "function kmalloc_n 1-4\nfunction __kmalloc_n 5-5\nvariable state 6-6\nfunction _state 7-7\n"},
		{"65/crlf.c", "function cr 2-5\nfunction cr2 7-7\n"},
		{"65/empty.c", ""},
		{"65/long.c", "function lng 1-1\nfunction afterlng 2-2\n"},
		{"65/nonl.c", "function nonl 1-1\n"},
		{"65/nul.c", "function nul1 1-1\nfunction nul2 2-2\n"},
		{"67/a.h", "typedef rcu_callback_t 1-1\ntypedef irq_fn 2-2\ntypedef irq_handler_t 3-3\nstruct file 4-4\nmember file::f_op 4-4\ntypedef filp_t 5-5\ntypedef u32 6-6\n"},
		{"68/a.h", "macro LIMIT 1-1\nmacro LIMIT 3-3\n"},
		{"70/a.c", "variable its_cmd 1-2\nfunction parse 4-7\nfunction user 8-11\n"},
		{"70/k.h", "macro IS_ENABLED 1-1\nmacro __ro_after_init 2-2\n"},
		{"71/r.h", "function add_latent 5-8\nfunction next 9-12\n"},
		{"73/include/sec.h", "function security_open 4-7\n"},
		{"74/a.h", "struct map_blocks 1-3\nmember map_blocks::a 2-2\n"},
		{"74/b.c", "function map_blocks 1-4\n"},
		{"76/e.S", "label entry_sys 2-5\nlabel old_fn 6-38\n"},
		{"83/a.c", "function init 1-6\nfunction populate 7-17\nfunction after 18-18\n"},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			if got := outline(scanFault(t, tt.file)); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestFaultInvocations(t *testing.T) {
	tests := []struct{ file, want string }{
		{"28/fs/r.c", "SYSCALL_DEFINE1(read, int, fd) 2-5"},
		{"50/a.c", "DEFINE_SHOW_ATTRIBUTE(stats) 1-1; DEVICE_ATTR_RO(vendor) 2-2; DECLARE_WORK(mywork, a) 13-13"},
		{"50/t.h", "DEFINE_EVENT(my_template, ev_one, TP_PROTO(int x)) 1-2; DEFINE_EVENT(my_template, ev_two, TP_PROTO(int x)) 3-5"},
		{"59/a.c", `DEFINE_THING(alpha) 7-7; MODULE_LICENSE("GPL") 9-9`},
		{"59/p.h", "STATIC_DECL(int, proto5, (int x)) 5-5"},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			var found []string
			for _, s := range scanFault(t, tt.file).Symbols() {
				if s.Kind == Invocation {
					found = append(found, fmt.Sprintf("%s%s %d-%d", s.Name, s.Signature, s.Start, s.End))
				}
			}
			if got := strings.Join(found, "; "); got != tt.want {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestFaultGuards(t *testing.T) {
	tests := []struct {
		file string
		line int
		want string
	}{
		{"26/a.c", 2, "defined(CONFIG_HIGHMEM)"},
		{"26/a.c", 7, "!defined(CONFIG_HIGHMEM)"},
		{"29/a.c", 2, "MODE > 0644"},
		{"29/a.c", 8, "VER >= 010"},
		{"31/a.c", 4, "!defined(A) && defined(B)"},
		{"31/a.c", 6, "!defined(A) && !defined(B) && !defined(C)"},
		{"31/a.c", 8, "!defined(A) && !defined(B) && defined(C)"},
		{"32/a.c", 3, ""},
		{"32/a.c", 10, ""},
		{"46/a.c", 3, "0"},
		{"65/crlf.c", 2, "defined(W)"},
		{"65/crlf.c", 7, ""},
		{"73/include/sec.h", 2, "defined(CONFIG_SECURITY)"},
		{"73/include/sec.h", 4, "!defined(CONFIG_SECURITY)"},
		{"79/a.c", 4, "!defined(CONFIG_FOO) && defined(CONFIG_FOO_MODULE)"},
		{"79/a.c", 6, "!defined(CONFIG_FOO) && !defined(CONFIG_FOO_MODULE)"},
	}
	for _, tt := range tests {
		f := scanFault(t, tt.file)
		if got := strings.Join(f.Guards(tt.line), " ; "); got != tt.want {
			t.Errorf("%s:%d: got %q, want %q", tt.file, tt.line, got, tt.want)
		}
	}
}

// TestFaultCallers asks for every mention of a name what it is and whose.
func TestFaultCallers(t *testing.T) {
	tests := []struct{ file, name, want string }{
		{"01/a.c", "target", "2 definition target; 5 call caller"},
		{"01/h.h", "target", "7 declaration target"},
		{"02/a.c", "my_open", "2 definition my_open; 12 reference my_ops"},
		{"02/a.c", "open", "1 definition ops; 12 designator my_ops"},
		{"04/a.c", "target", "1 definition target; 6 call realcaller"},
		{"04/a.c", "LOCAL_LIMIT", "4 definition LOCAL_LIMIT; 5 reference realcaller"},
		{"05/a.c", "target", "1 definition target; 6 call realcaller"},
		{"07/i.h", "vfs_open", "4 declaration vfs_open"},
		{"08/a.c", "probe", "2 definition probe; 6 call a_main"},
		{"10/fs.c", "cb", "2 parameter vfs; 4 pointer call vfs; 6 definition cb"},
		{"10/fs.c", "read", "1 definition fops; 4 member call vfs"},
		{"11/a.c", "danger", "1 definition danger; 6 comment f"},
		{"11/a.c", "other", "2 definition other; 7 string f"},
		{"25/a.c", "my_fops", "4 definition my_fops; 9 address get"},
		{"25/a.c", "o", "2 definition o; 5 reference my_fops"},
		{"34/a.c", "target", "1 definition target; 4 call caller"},
		{"46/a.c", "target", "1 definition target; 5 call dead"},
		{"52/a.cpp", "init", "6 call V; 13 declaration init; 16 definition init"},
		{"58/b.c", "target", "2 definition target; 11 call warnx; 15 call start; 19 call attr1; 23 call attr2; 28 call annotated"},
		{"58/a.h", "target", "8 call kmalloc_n"},
		{"61/a.c", "counter", "1 definition counter; 4 reference inc; 8 reference get"},
		{"65/nul.c", "nul1", "1 definition nul1; 2 call nul2"},
		{"68/a.h", "OTHER", "4 directive -"},
		{"70/a.c", "parse", "4 definition parse; 10 call user"},
		{"70/a.c", "IS_ENABLED", "2 call its_cmd; 6 call parse"},
		{"71/r.h", "add_intr", "3 declaration add_intr; 7 call add_latent"},
		{"77/a.c", "target", "1 definition target; 2 call CALL_TARGET; 7 call call_target"},
		{"83/a.c", "init", "1 definition init; 18 call after"},
	}
	for _, tt := range tests {
		t.Run(tt.file+" "+tt.name, func(t *testing.T) {
			f := scanFault(t, tt.file)
			var found []string
			for line := 1; line <= f.Lines(); line++ {
				for _, o := range f.Occurrences(line, tt.name) {
					in := o.In.Name
					if o.In.Kind == 0 {
						in = "-"
					}
					found = append(found, fmt.Sprintf("%d %s %s", line, o.Use, in))
				}
			}
			if got := strings.Join(found, "; "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestFaultColumns(t *testing.T) {
	f := scanFault(t, "49/a.c")
	if got := f.Occurrences(3, "read"); len(got) != 1 || got[0].Col != 37 {
		t.Errorf("read on line 3: got %+v, want one at column 37", got)
	}
	if got := f.Occurrences(4, "map"); len(got) != 1 || got[0].Col != 14 {
		t.Errorf("map on line 4: got %+v, want one at column 14", got)
	}
}

// callees renders the calls of a symbol as "name kind", without duplicates.
func callees(t *testing.T, f *File, name string, kind Kind) string {
	t.Helper()
	for _, s := range f.Symbols() {
		if s.Name != name || s.Kind != kind {
			continue
		}
		var calls []string
		for _, c := range f.CallsOf(s) {
			calls = append(calls, c.Name+" "+c.Kind.String())
		}
		return strings.Join(calls, "; ")
	}
	t.Fatalf("no %s %s", kind, name)
	return ""
}

func TestFaultCallees(t *testing.T) {
	tests := []struct {
		file, name string
		kind       Kind
		want       string
	}{
		{"07/a.c", "do_sys", Function, ""},
		{"08/b.c", "b_main", Function, "probe direct"},
		{"10/fs.c", "vfs", Function, "read member; cb pointer"},
		{"11/a.c", "f", Function, "printk direct"},
		{"13/a.h", "fops", Struct, ""},
		{"14/a.c", "big", Function, "late direct"},
		{"16/a.c", "f", Function, ""},
		{"52/a.cpp", "afterraw", Function, "overload direct"},
		{"52/a.cpp", "V", Function, "init direct"},
		{"71/r.h", "next", Function, "add_latent direct"},
		{"73/security/sec.c", "security_open", Function, "check direct"},
		{"74/b.c", "map_blocks", Function, "helper direct"},
		{"77/a.c", "user", Function, "CALL_TARGET direct"},
		{"77/a.c", "CALL_TARGET", Macro, "target direct"},
		{"77/a.c", "call_target", Macro, "target direct"},
		{"83/a.c", "after", Function, "init direct"},
	}
	for _, tt := range tests {
		t.Run(tt.file+" "+tt.name, func(t *testing.T) {
			if got := callees(t, scanFault(t, tt.file), tt.name, tt.kind); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
