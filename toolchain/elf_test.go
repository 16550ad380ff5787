package toolchain

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPreflight changes one thing of a program that runs.
func TestPreflight(t *testing.T) {
	set := installed(t)
	libs := filepath.Join(filepath.Dir(filepath.Dir(set.Gtags.Path)), "lib")
	program := mustRead(t, set.Gtags.Path)
	path := filepath.Join(t.TempDir(), "gtags")
	fault := func(data []byte) error {
		t.Helper()
		if err := os.WriteFile(path, data, 0o755); err != nil {
			t.Fatal(err)
		}
		return preflight(path, libs)
	}
	if err := fault(program); err != nil {
		t.Fatalf("unchanged: %v", err)
	}
	with := func(old, new string) []byte {
		t.Helper()
		if len(old) != len(new) || !bytes.Contains(program, []byte(old)) {
			t.Fatalf("gtags does not hold %q", old)
		}
		return bytes.ReplaceAll(program, []byte(old), []byte(new))
	}
	foreign := bytes.Clone(program)
	foreign[18], foreign[19] = 0xf3, 0 // RISC-V
	tests := []struct {
		name   string
		data   []byte
		cause  Cause
		detail string
	}{
		{"another processor", foreign, CauseMachine, "EM_RISCV"},
		{"no loader", with("/ld-linux-", "/ld-absent"), CauseInterpreter, "/ld-absent"},
		{"no library", with("libc.so.6", "libz.so.9"), CauseLibrary, "libz.so.9"},
		{"a newer glibc", with("GLIBC_2.34", "GLIBC_2.99"), CauseGlibc, "needs glibc 2.99, this system has " + glibcPresent()},
		{"no ELF file", []byte("<html>"), CauseFormat, "<htm"},
		{"half a header", program[:40], CauseTruncated, "40 bytes"},
	}
	for _, tt := range tests {
		e := asExecError(t, fault(tt.data))
		if e.Cause != tt.cause || !strings.Contains(e.Detail, tt.detail) {
			t.Errorf("%s: got %v, want cause %q and detail %q", tt.name, e, tt.cause, tt.detail)
		}
	}
	for i := 1; i < 20; i++ {
		if e := asExecError(t, fault(program[:len(program)*i/20])); e.Cause != CauseTruncated {
			t.Errorf("%d/20 of it: got %v, want %q", i, e, CauseTruncated)
		}
	}
	if err := fault([]byte("#!/bin/sh\n")); err != nil {
		t.Errorf("a script: %v", err)
	}
}

// The headers tell what the C library says of itself, where that is glibc.
func TestGlibcPresent(t *testing.T) {
	getconf := Config{Environ: os.Environ()}.systemTool("getconf")
	out, err := output(t.Context(), command{path: getconf, args: []string{"GNU_LIBC_VERSION"}})
	if want := strings.TrimSpace(out); err == nil && libc() != want {
		t.Errorf("got %q, want %q", libc(), want)
	}
	if err != nil && libc() != "no glibc" {
		t.Errorf("got %q where getconf says %v", libc(), err)
	}
}

// FuzzPreflight: no file makes it panic, and every refusal has a cause.
func FuzzPreflight(f *testing.F) {
	program, err := os.ReadFile("/bin/true")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(program)
	f.Add(program[:len(program)/2])
	f.Add([]byte("\x7fELF"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(path, data, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := preflight(path, ""); err != nil && !strings.HasPrefix(err.Error(), fmt.Sprintf("%s: %s", path, asExecError(t, err).Cause)) {
			t.Errorf("got %v", err)
		}
	})
}
