package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	spdxjson "github.com/spdx/tools-golang/json"

	"github.com/gtagsmcp/gtagsmcp/bootstrap/release"
)

// TestMain runs the tests where the command runs, in the root of the repository.
func TestMain(m *testing.M) {
	if err := os.Chdir(filepath.Join("..", "..")); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// trial makes a key pair and a folder with one file for each asset.
func trial(t *testing.T) (dist string, flags []string) {
	t.Helper()
	dir := t.TempDir()
	key, public := filepath.Join(dir, "key"), filepath.Join(dir, "pub")
	if err := run(t.Context(), []string{"key", "-key", key, "-public", public}, io.Discard); err != nil {
		t.Fatal(err)
	}
	dist = filepath.Join(dir, "dist")
	if err := emptied(dist); err != nil {
		t.Fatal(err)
	}
	for _, name := range release.Assets() {
		write(t, filepath.Join(dist, name), name)
	}
	return dist, []string{"-version", "v1.2.3", "-key", key, "-public", public, "-dist", dist}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestSignAndVerify(t *testing.T) {
	dist, flags := trial(t)
	command := func(name string) error {
		return run(t.Context(), append([]string{name}, flags...), io.Discard)
	}
	if err := command("sign"); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(filepath.Join(dist, release.SignatureFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := command("sign"); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(filepath.Join(dist, release.SignatureFile)); err != nil || !bytes.Equal(first, again) {
		t.Errorf("signed twice: %s and %s, %v", first, again, err)
	}
	for what, damage := range map[string]func() (mend func()){
		"is no file of a release": func() func() {
			write(t, filepath.Join(dist, "core"), "x")
			return func() { os.Remove(filepath.Join(dist, "core")) }
		},
		"not complete": func() func() {
			os.Remove(filepath.Join(dist, release.BundleFile))
			return func() { write(t, filepath.Join(dist, release.BundleFile), release.BundleFile) }
		},
		"does not fit the files": func() func() {
			write(t, filepath.Join(dist, release.BillFile), "{}")
			return func() { write(t, filepath.Join(dist, release.BillFile), release.BillFile) }
		},
	} {
		mend := damage()
		if err := command("verify"); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("verify = %v, want %q", err, what)
		}
		mend()
	}
	if err := command("verify"); err != nil {
		t.Error(err)
	}
	flags[1] = "v1.2.4"
	if err := command("verify"); !errors.Is(err, release.ErrSignature) {
		t.Errorf("verify as another version: %v", err)
	}
}

func TestOnlyTheTrustedKeySigns(t *testing.T) {
	_, flags := trial(t)
	_, others := trial(t)
	flags[3] = others[3]
	err := run(t.Context(), append([]string{"sign"}, flags...), io.Discard)
	if err == nil || !strings.Contains(err.Error(), "no program would take this release") {
		t.Errorf("signed with a key that the programs do not trust: %v", err)
	}
}

func TestKeyIsNeverOverwritten(t *testing.T) {
	_, flags := trial(t)
	before, err := os.ReadFile(flags[3])
	if err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), []string{"key", "-key", flags[3], "-public", flags[5]}, io.Discard); !errors.Is(err, os.ErrExist) {
		t.Errorf("key = %v, want os.ErrExist", err)
	}
	if after, err := os.ReadFile(flags[3]); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the key was overwritten: %v", err)
	}
	if info, err := os.Stat(flags[3]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the private key: %v, %v", info.Mode(), err)
	}
}

func TestEmptiedSparesOtherFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "thesis.tex"), "x")
	if err := emptied(dir); err == nil {
		t.Error("a folder with other files was emptied")
	}
	if _, err := os.Stat(filepath.Join(dir, "thesis.tex")); err != nil {
		t.Error(err)
	}
}

func TestWithKey(t *testing.T) {
	got, err := withKey([]byte("a\nRELEASE_KEY=''\nb\n"), "RW/x+")
	if want := "a\nRELEASE_KEY='RW/x+'\nb\n"; string(got) != want || err != nil {
		t.Errorf("withKey = %q, %v", got, err)
	}
	for _, bad := range []string{"", "RELEASE_KEY=''\nRELEASE_KEY=''\n", "# RELEASE_KEY=''\n"} {
		if got, err := withKey([]byte(bad), "x"); err == nil {
			t.Errorf("withKey(%q) = %q", bad, got)
		}
	}
}

// TestPack: an archive holds three files, and the same bytes each time.
func TestPack(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	write(t, program, "#!/bin/sh\n")
	date := time.Unix(1700000000, 0).UTC()
	var archives [2][]byte
	for i := range archives {
		path := filepath.Join(dir, "archive.tar.gz")
		if err := pack(path, program, date); err != nil {
			t.Fatal(err)
		}
		var err error
		if archives[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("two archives of the same files differ")
	}
	gz, err := gzip.NewReader(bytes.NewReader(archives[0]))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"gtagsmcp": 0o755, "LICENSE": 0o644, "README.md": 0o644}
	for r := tar.NewReader(gz); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if mode, ok := want[h.Name]; !ok || mode != h.Mode || h.Uid != 0 || h.Uname != "" || !h.ModTime.Equal(date) {
			t.Errorf("entry %+v", h)
		}
		delete(want, h.Name)
	}
	if len(want) > 0 {
		t.Errorf("not in the archive: %v", want)
	}
}

// TestBill reads the bill of this test's own binary back.
func TestBill(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), release.BillFile)
	if err := writeBill(path, "v1.2.3", time.Unix(1700000000, 0).UTC(), []string{self, self}); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := spdxjson.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, p := range doc.Packages {
		if _, twice := names[p.PackageName]; twice {
			t.Errorf("%s is listed twice", p.PackageName)
		}
		names[p.PackageName] = p.PackageVersion
	}
	for _, want := range []string{module, "stdlib", "aead.dev/minisign", "github.com/hashicorp/go-version"} {
		if names[want] == "" {
			t.Errorf("%s is not in the bill: %v", want, names)
		}
	}
	if len(doc.Relationships) != len(doc.Packages) {
		t.Errorf("%d relationships of %d packages", len(doc.Relationships), len(doc.Packages))
	}
}
