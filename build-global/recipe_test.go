package buildglobal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/toolchain/unpack"
)

func TestMakeVars(t *testing.T) {
	v := parseMakefile(`# A = comment
A = a.c b.c	\
	c.c # not d.c
INPUT = x.ps $(NULL)
GEN = $(INPUT:.ps=.c)
ALL = $(A) $(GEN) \
	h.h \
	$(NULL)
A += conditional.c
LOOP = $(LOOP)
OPEN = $(NOWHERE)
NONE = a.h
`)
	got, err := v.files("ALL")
	if want := "a.c b.c c.c x.c"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	for _, name := range []string{"LOOP", "OPEN", "NONE", "UNSET"} {
		if got, err := v.files(name); err == nil {
			t.Errorf("%s: got %q, want an error", name, got)
		}
	}
}

func TestDebianPath(t *testing.T) {
	records := `Package: x
Files:
 aaaa 12 x_1.orig.tar.gz
Checksums-Sha256:
 1111 12 x_1.orig.tar.gz
 2222 34 x_1.dsc
Directory: pool/main/x/x

Package: x
Directory: pool/main/x/newer
Checksums-Sha256:
 3333 12 x_2.orig.tar.gz
`
	for digest, want := range map[string]string{
		"1111": "pool/main/x/x/x_1.orig.tar.gz", "3333": "pool/main/x/newer/x_2.orig.tar.gz", "4444": "", "Package:": "",
	} {
		if got := debianPath(records, digest); got != want {
			t.Errorf("%s: got %q, want %q", digest, got, want)
		}
	}
}

func TestFindSource(t *testing.T) {
	dir := t.TempDir()
	good := []byte("the archive")
	for name, b := range map[string][]byte{"any-name": good, "x.tar.gz": []byte("THE ARCHIVE"), "other": []byte("x")} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := Source{Name: "x", Version: "1", Archives: []Archive{
		{File: "home.tar.gz", Size: int64(len(good)), SHA256: strings.Repeat("0", 64)},
		{File: "x.tar.gz", Size: int64(len(good)), SHA256: digestOf(t, filepath.Join(dir, "any-name"))},
	}}
	got, err := s.findIn(dir)
	if err != nil || got.Path != filepath.Join(dir, "any-name") || got.File != "x.tar.gz" {
		t.Errorf("got %+v, %v", got, err)
	}
	s.Archives = s.Archives[:1]
	if _, err := s.findIn(dir); !errors.Is(err, errNoSource) || !strings.Contains(err.Error(), "x 1") {
		t.Errorf("wrong digest: error %v", err)
	}
}

func digestOf(t *testing.T, path string) string {
	t.Helper()
	sum, err := fileDigest(path)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestPins(t *testing.T) {
	for _, s := range Sources {
		for i, a := range s.Archives {
			if len(a.SHA256) != 64 || a.Size == 0 || i == 0 && !strings.HasPrefix(a.URL, "https://") {
				t.Errorf("%s: incomplete pin %+v", s.Name, a)
			}
		}
		if len(s.LicenceFiles) == 0 || s.Licence == "" || s.Debian == "" {
			t.Errorf("%s: no licence or no package", s.Name)
		}
	}
}

func TestSelect(t *testing.T) {
	host := runtime.GOOS + "-" + runtime.GOARCH
	tests := []struct {
		names string
		cc    bool
		want  string // "" is an error
	}{
		{"", false, "linux-amd64-gnu linux-amd64-musl linux-arm64-gnu linux-arm64-musl"},
		{"linux-arm64-musl,linux-amd64-gnu", false, "linux-arm64-musl linux-amd64-gnu"},
		{"linux-riscv64-gnu", false, ""},
		{"darwin-arm64", false, ""},
		{"linux-s390x-gnu", true, ""},
	}
	for _, tt := range tests {
		got, err := Select(tt.names, tt.cc)
		var names []string
		for _, p := range got {
			names = append(names, p.Name)
		}
		if strings.Join(names, " ") != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%q, cc %v: got %q, %v; want %q", tt.names, tt.cc, names, err, tt.want)
		}
	}
	if got, err := Select("", true); err != nil || len(got) != 1 || !strings.HasPrefix(got[0].Name, host) {
		t.Errorf("cc: got %+v, %v; want the one of %s", got, err, host)
	}
}

// TestBuildSaysWhatIsMissing: sources first, all of them at once, then the compiler.
func TestBuildSaysWhatIsMissing(t *testing.T) {
	o := Options{Cache: t.TempDir(), Out: t.TempDir(), Sources: t.TempDir(), CC: []string{"no-such-compiler"}}
	err := Build(t.Context(), o)
	for _, s := range Sources {
		if err == nil || !strings.Contains(err.Error(), s.Archives[0].SHA256) {
			t.Errorf("error %v does not name the pin of %s", err, s.Name)
		}
	}
	b := &builder{Options: o}
	if err := b.prepare(t.Context()); err == nil || !strings.Contains(err.Error(), "no-such-compiler") {
		t.Errorf("missing compiler: error %v", err)
	}
	o = Options{Cache: t.TempDir(), ZigPackage: "doc.go"}
	if _, err := Zig(t.Context(), o); runtime.GOARCH == "amd64" && runtime.GOOS == "linux" && !errors.Is(err, errPin) {
		t.Errorf("another file as the compiler: error %v, want %v", err, errPin)
	}
}

func TestArchiveIsReproducible(t *testing.T) {
	make := func(reverse bool) []byte {
		var t1 tree
		names := []string{"bin/a", "z", "licences/b"}
		for i := range names {
			if reverse {
				i = len(names) - 1 - i
			}
			mode := 0o644
			if names[i] == "bin/a" {
				mode = 0o755
			}
			t1.add(names[i], os.FileMode(mode), []byte(names[i]+" content"))
		}
		t1.sort()
		var b bytes.Buffer
		if err := t1.write(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	first := make(false)
	if !bytes.Equal(first, make(true)) {
		t.Error("the order of adding changes the bytes")
	}
	dir := t.TempDir()
	archive := filepath.Join(dir, "a.tar.gz")
	if err := os.WriteFile(archive, first, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := unpack.Unpack(t.Context(), archive, filepath.Join(dir, "x"), unpack.Limits{}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "x/bin/a"))
	if err != nil || info.Mode() != 0o755 || info.Size() != int64(len("bin/a content")) {
		t.Errorf("bin/a: %v, %v", info, err)
	}
}

func TestRecipeHoldsItsFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "r.tar.gz")
	if err := saveRecipe(file); err != nil {
		t.Fatal(err)
	}
	if err := unpack.Unpack(t.Context(), file, filepath.Join(dir, "x"), unpack.Limits{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"compile.go", "c/global/linked-parsers.c", "c/ctags/config.h", "c/jansson/jansson_config.h"} {
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "x/build-global", name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// fake is an archive whose programs are shell scripts.
func fake(t *testing.T, scripts map[string]string) string {
	t.Helper()
	var files tree
	for _, name := range Programs {
		files.add("bin/"+name, 0o755, []byte("#!/bin/sh\n"+scripts[name]+"\n"))
	}
	path := filepath.Join(t.TempDir(), "toolchain-fake.tar.gz")
	if err := files.save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestProveDemands: a toolchain that answers wrongly at any one point fails
// there, whatever its exit codes.
func TestProveDemands(t *testing.T) {
	good := map[string]string{
		"gtags": `case $1 in --version) echo "gtags (GNU Global) ` + source("global").Version + `";; esac`,
		"global": `case $1$3 in
--version*) echo "global (GNU Global) ` + source("global").Version + `";;
*add) if [ "$2" = -r ]; then echo "one file.c:8:x"; else echo "one file.c:1:x"; fi;;
*main) echo "one file.c:6:x";; *Kind) echo "字.py:1:x";; *method) echo "字.py:2:x";; *helper) echo "字.py:6:x";;
esac`,
		"ctags": `case $1 in
--version) echo "Universal Ctags ` + source("ctags").Version + `, x";;
*) echo '"name": "add" "end": 4 "signature": "(int a,int b)" "_type": "completed"';;
esac`,
	}
	if err := Prove(t.Context(), fake(t, good), nil); err != nil {
		t.Fatalf("the good one: %v", err)
	}
	if err := Prove(t.Context(), fake(t, good), []string{"/bin/sh"}); err != nil {
		t.Fatalf("the good one by a runner: %v", err)
	}
	for _, tt := range []struct{ program, from, to, want string }{
		{"gtags", source("global").Version, "6.0", "gtags --version"},
		{"ctags", source("ctags").Version, "5.9", "ctags --version"},
		{"gtags", "case", "exit 3; case", "exit status 3"},
		{"global", "字.py:2", "字.py:3", "global -d method"},
		{"global", "one file.c:8:x", "", "global -r add"},
		{"global", `one file.c:6:x"`, `one file.c:6:x"; echo twice`, "global -d main"},
		{"ctags", `"end": 4`, "", `no "end": 4`},
	} {
		bad := map[string]string{}
		for k, v := range good {
			bad[k] = v
		}
		bad[tt.program] = strings.ReplaceAll(bad[tt.program], tt.from, tt.to)
		if err := Prove(t.Context(), fake(t, bad), nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s with %q for %q: error %v, want %q", tt.program, tt.to, tt.from, err, tt.want)
		}
	}
}

// TestProcessGroupDies: a child of the program that holds its output open would
// otherwise keep us waiting.
func TestProcessGroupDies(t *testing.T) {
	cause := errors.New("the limit")
	ctx, cancel := context.WithCancelCause(t.Context())
	pidFile := filepath.Join(t.TempDir(), "pid")
	go func() {
		for {
			if b, _ := os.ReadFile(pidFile); bytes.HasSuffix(b, []byte("\n")) {
				cancel(cause)
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	start := time.Now()
	_, err := runOutput(ctx, []string{"sh", "-c", `sleep 600 & echo $! >"$0"; wait`, pidFile}, nil)
	if !errors.Is(err, cause) || time.Since(start) > time.Minute {
		t.Errorf("after %s: %v", time.Since(start), err)
	}
	pid, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("kill", "-0", strings.TrimSpace(string(pid))).Run(); err == nil {
		// A killed process is there until its new parent reaps it.
		if stat, _ := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat"); !bytes.Contains(stat, []byte(") Z ")) && stat != nil {
			t.Errorf("the grandchild still runs: %s", stat)
		}
	}
}

func TestOutputIsBounded(t *testing.T) {
	out, err := runOutput(t.Context(), []string{"sh", "-c", "head -c 3000000 /dev/zero"}, nil)
	if err != nil || len(out) != maxOutput {
		t.Errorf("%d bytes, %v; want %d", len(out), err, maxOutput)
	}
}

func TestManifestIsComplete(t *testing.T) {
	var files tree
	files.add("bin/gtags", 0o755, []byte("x"))
	text, err := marshal(Manifest{Version: Version, Platform: "linux-amd64-gnu", Files: files})
	if err != nil {
		t.Fatal(err)
	}
	var got Manifest
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if f := got.Files[0]; f.Path != "bin/gtags" || f.Mode != "0755" || f.Size != 1 || len(f.SHA256) != 64 {
		t.Errorf("got %+v", f)
	}
}
