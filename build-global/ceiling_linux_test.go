package buildglobal

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hostPlatform is one under which this machine's own programs are judged.
func hostPlatform(t *testing.T, glibc string) Platform {
	t.Helper()
	f, err := elf.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return Platform{Name: "host", Glibc: glibc, ELF: f.Machine.String()}
}

// build compiles a C program with the machine's compiler.
func build(t *testing.T, text string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	src, out := filepath.Join(dir, "a.c"), filepath.Join(dir, "a")
	if err := os.WriteFile(src, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	argv := append([]string{"cc", "-o", out, src}, flags...)
	if msg, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", argv, err, msg)
	}
	return out
}

const emptyMain = "int main(void) { return 0; }\n"

// TestCeilingOfThisMachine: a program linked on a machine of today needs a glibc
// of at least 2.34, where the start of every program moved to.
func TestCeilingOfThisMachine(t *testing.T) {
	for _, path := range []string{"/bin/ls", build(t, emptyMain)} {
		n, err := CheckELF(path, hostPlatform(t, "2.28"))
		if err == nil || !strings.Contains(err.Error(), "ceiling") || !strings.Contains(err.Error(), "GLIBC_"+n.Glibc) {
			t.Errorf("%s: %+v passes the ceiling of 2.28, error %v", path, n, err)
		}
		if slices.Compare(parseVersion(n.Glibc), []int{2, 34}) < 0 {
			t.Errorf("%s needs %s, expected 2.34 or newer", path, n.Glibc)
		}
	}
	path := build(t, emptyMain)
	n, err := CheckELF(path, hostPlatform(t, "99.0"))
	if err != nil || n.Interp == "" || len(n.Libraries) == 0 {
		t.Errorf("%+v under glibc 99.0: %v", n, err)
	}
}

func TestCheckELFFaults(t *testing.T) {
	tests := []struct {
		name  string
		flags []string
		p     Platform
		want  string // empty: no fault
	}{
		{"static", []string{"-static"}, hostPlatform(t, ""), ""},
		{"dynamic as static", nil, hostPlatform(t, ""), "should be static"},
		{"library", []string{"-Wl,--no-as-needed", "-lgcc_s"}, hostPlatform(t, "99.0"), "libgcc_s.so.1"},
		{"run path", []string{"-Wl,-rpath,/opt/lib"}, hostPlatform(t, "99.0"), "/opt/lib"},
		{"machine", nil, Platform{Glibc: "99.0", ELF: "EM_S390"}, "not for EM_S390"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := CheckELF(build(t, emptyMain, tt.flags...), tt.p)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
	if _, err := CheckELF("ceiling.go", hostPlatform(t, "2.28")); err == nil {
		t.Error("a Go file passes as ELF")
	}
}

// FuzzReadNeeds: headers are read from files that may be anything.
func FuzzReadNeeds(f *testing.F) {
	for _, path := range []string{"/bin/true", "ceiling.go"} {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b[:min(len(b), 64<<10)])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		n, err := ReadNeeds(path)
		if err == nil && n.Machine == "" {
			t.Errorf("no error and no machine: %+v", n)
		}
	})
}

// TestLinkedParsers compiles the table that stands in for libltdl with a parser
// that does nothing.
func TestLinkedParsers(t *testing.T) {
	include, err := filepath.Abs("c/global")
	if err != nil {
		t.Fatal(err)
	}
	program := build(t, `
#include <stdio.h>
#include <string.h>
#include "ltdl.h"
#include "linked-parsers.c"
void universal_ctags_parser(const struct parser_param *p) { (void)p; }
int main(int argc, char **argv)
{
	if (lt_dlinit() != 0) return 2;
	for (int i = 1; i < argc; i++) {
		lt_dlhandle h = lt_dlopen(argv[i]);
		void *f = h ? lt_dlsym(h, "parser") : NULL;
		const char *e = lt_dlerror();
		printf("%s %s %s\n", argv[i], f == (void *)universal_ctags_parser ? "found" : "missing", e ? e : "-");
		if (h && (lt_dlsym(h, "other") || !lt_dlerror() || lt_dlclose(h))) return 3;
	}
	return lt_dlexit();
}
`, "-I"+include, "-Wall", "-Werror")
	names := []string{
		"universal-ctags", "universal-ctags.so", "/usr/lib/gtags/universal-ctags.la", // the same parser
		"pygments-parser.la", "universal", "universal-ctags-2", "", "/", ".so",
	}
	out, err := exec.CommandContext(t.Context(), program, names...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		want := names[i] + " missing no parser of that name is linked in"
		if i < 3 {
			want = names[i] + " found -"
		}
		if line != want {
			t.Errorf("got %q, want %q", line, want)
		}
	}
}
