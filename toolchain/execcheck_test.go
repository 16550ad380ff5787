package toolchain

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestExplainNamesTheCause(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	file := func(name, text string, mode os.FileMode) string {
		writeTestFile(t, at(name), text, mode)
		return at(name)
	}
	truncated := func(name string, size int) string {
		program, err := os.ReadFile("/bin/true")
		if err != nil {
			t.Fatal(err)
		}
		return file(name, string(program[:size]), 0o755)
	}
	program := string(mustRead(t, "/bin/true"))
	foreign := program[:18] + "\xf3\x00" + program[20:] // RISC-V
	loaderless := strings.Replace(program, "/ld-linux-", "/ld-absent", 1)
	if err := os.Mkdir(at("folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		path   string
		cause  Cause
		detail string
	}{
		{"absent", at("nothing"), CauseAbsent, ""},
		{"no x bit", file("plain", "#!/bin/sh\n", 0o644), CausePermission, "-rw-r--r--"},
		{"folder", at("folder"), CausePermission, "folder"},
		{"empty file", file("empty", "", 0o755), CauseFormat, ""},
		{"HTML page", file("page", "<html>404</html>", 0o755), CauseFormat, ""},
		{"cut within the ELF header", truncated("header", 40), CauseTruncated, "40 bytes"},
		{"cut after the ELF header", truncated("half", 6000), CauseTruncated, "6000"},
		{"another processor", file("foreign", foreign, 0o755), CauseMachine, "it is for EM_RISCV"},
		{"loader missing", file("loaderless", loaderless, 0o755), CauseInterpreter, "/ld-absent"},
		{"interpreter missing", file("script", "#!/no/such/interpreter -x\n", 0o755), CauseInterpreter, "/no/such/interpreter"},
		{"crash", fake(t, at("crash"), "* crash"), CauseCrash, "killed"},
		{"hang", fake(t, at("hang"), "* hang"), CauseTimeout, ""},
		{"flood", fake(t, at("flood"), "* flood"), CauseOutput, ""},
		{"exit code", fake(t, at("three"), "* err bad mood\n* exit 3"), CauseExit, "exit status 3: bad mood"},
		{"glibc", fake(t, at("glibc"), "* err ./x: /lib/libc.so.6: version `GLIBC_2.9' not found (required by ./x)\n"+
			"* err ./x: /lib/libc.so.6: version `GLIBC_2.38' not found (required by ./x)\n* exit 1"), CauseGlibc, "it needs glibc 2.38, this system has " + glibcPresent()},
		{"library", fake(t, at("lib"), "* err x: error while loading shared libraries: libjansson.so.4: cannot open shared object file: No such file or directory\n* exit 127"), CauseLibrary, "libjansson.so.4"},
		{"noexec through the loader", fake(t, at("map"), "* err x: error while loading shared libraries: libz.so: failed to map segment from shared object\n* exit 127"), CauseNoexec, ""},
		{"musl loader", fake(t, at("musl"), "* err Error relocating ./x: __snprintf_chk: symbol not found\n* exit 127"), CauseLibc, "__snprintf_chk"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			limit := 10 * time.Second
			if tt.cause == CauseTimeout {
				limit = 300 * time.Millisecond
			}
			r := command{path: tt.path, args: []string{"--version"}, timeout: limit, limit: 1 << 16}.run(t.Context())
			e := asExecError(t, explain(tt.path, r))
			if e.Cause != tt.cause || !strings.Contains(e.Detail, tt.detail) || !strings.Contains(e.Error(), tt.path) {
				t.Errorf("got %q with cause %q, want cause %q and detail %q", e, e.Cause, tt.cause, tt.detail)
			}
		})
	}
}

// What a test cannot provoke everywhere is given as the error of the start.
func TestExplainStart(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	writeTestFile(t, program, "x", 0o755)
	for _, tt := range []struct {
		err   error
		cause Cause
	}{
		{syscall.EPERM, CauseAccessControl},
		{syscall.EACCES, CauseAccessControl}, // the mode allows it
		{syscall.EIO, CauseExit},
	} {
		e := asExecError(t, explain(program, result{startErr: &os.PathError{Op: "fork/exec", Path: program, Err: tt.err}}))
		if e.Cause != tt.cause {
			t.Errorf("%v: got cause %q, want %q", tt.err, e.Cause, tt.cause)
		}
	}
	illegal := asExecError(t, explain(program, result{exit: -1, signal: syscall.SIGILL}))
	if illegal.Cause != CauseCPU {
		t.Errorf("SIGILL: got cause %q, want %q", illegal.Cause, CauseCPU)
	}
}

func TestTextFileBusy(t *testing.T) {
	program, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "busy")
	writeTestFile(t, path, string(program), 0o755)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	run := func() error { return explain(path, command{path: path}.run(t.Context())) }
	if e := asExecError(t, run()); e.Cause != CauseBusy {
		t.Errorf("open for writing: got cause %q, want %q", e.Cause, CauseBusy)
	}
	time.AfterFunc(100*time.Millisecond, func() { f.Close() })
	if err := run(); err != nil {
		t.Errorf("closed after a moment: got %v, want a retry that succeeds", err)
	}
}

// TestMountedNoexec compares with the kernel's own list of mounts.
func TestMountedNoexec(t *testing.T) {
	f, err := os.Open("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := make(map[string]bool) // the last mount on a folder hides those before
	for sc := bufio.NewScanner(f); sc.Scan(); {
		fields := strings.Fields(sc.Text())
		if info, err := os.Stat(fields[1]); err == nil && info.IsDir() {
			want[fields[1]] = strings.Contains(","+fields[3]+",", ",noexec,")
		}
	}
	for dir, noexec := range want {
		if got := mountedNoexec(dir); got != noexec {
			t.Errorf("mountedNoexec(%s): got %v, want %v", dir, got, noexec)
		}
	}
	if len(want) == 0 {
		t.Fatal("no mount was compared")
	}
}

func TestCompareVersions(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"6.6.9", "6.6.14", -1}, {"6.6.14", "6.6.9", 1}, {"6.6", "6.6.0", 0}, {"2.38", "2.9", 1}, {"", "1", -1}} {
		got := compareVersions(tt.a, tt.b)
		if (got > 0) != (tt.want > 0) || (got < 0) != (tt.want < 0) {
			t.Errorf("compareVersions(%q, %q): got %d, want the sign of %d", tt.a, tt.b, got, tt.want)
		}
	}
}
