//go:build servicetools

package service

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// These tests hold the files against the programs of their managers; "make
// test-service" fetches those.

func TestUnitByItsOwnTool(t *testing.T) {
	d := odd
	d.Program = filepath.Join(t.TempDir(), "a b", "100%", "g$x") // must exist to pass
	if err := publish(d.Program, []byte("#!/bin/sh\n")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(d.Program, 0o755); err != nil {
		t.Fatal(err)
	}
	unit := filepath.Join(t.TempDir(), Name+".service")
	verify := func(text string) string {
		t.Helper()
		if err := os.WriteFile(unit, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("systemd-analyze", "--user", "verify", unit)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if err != nil {
			return err.Error() + ": " + string(out)
		}
		return string(out)
	}
	text, err := unitFile(d)
	if err != nil {
		t.Fatal(err)
	}
	if said := verify(string(text)); said != "" {
		t.Errorf("systemd-analyze says %s about\n%s", said, text)
	}
	if said := verify(strings.Replace(string(text), "RestartSec", "RestartSecs", 1)); !strings.Contains(said, "Unknown key") {
		t.Errorf("a mistake in the unit is not found: %s", said)
	}
}

func TestPropertyListByAnotherTool(t *testing.T) {
	text, err := newLaunchd(options(t, "darwin")).plistFile(odd)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "a.plist")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "b.plist")
	if out, err := exec.Command("plistutil", "-i", file, "-o", binary, "-f", "bin").CombinedOutput(); err != nil {
		t.Fatalf("plistutil: %v: %s", err, out)
	}
	out, err := exec.Command("plistutil", "-i", binary, "-f", "xml").Output()
	if err != nil {
		t.Fatalf("plistutil: %v", err)
	}
	want, got := parsePlist(t, string(text)), parsePlist(t, string(out))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("plistutil understands\n%v\nwant\n%v", got, want)
	}
}
