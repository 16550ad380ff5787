package toolchain

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// packed is an archive, in the layout of the released ones, of the installed
// toolchain. Files named in replaced have another content, nil for absent.
func packed(t testing.TB, replaced map[string][]byte) []byte {
	t.Helper()
	root := filepath.Dir(filepath.Dir(installed(t).Gtags.Path))
	var out bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	archive := tar.NewWriter(zip)
	for _, top := range []string{"bin", "lib"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name, _ := filepath.Rel(root, path)
			header := tar.Header{Name: filepath.ToSlash(name), Mode: 0o755, Typeflag: tar.TypeReg}
			if d.Type() == fs.ModeSymlink {
				header.Typeflag = tar.TypeSymlink
				if header.Linkname, err = os.Readlink(path); err != nil {
					return err
				}
				return archive.WriteHeader(&header)
			}
			data, err := os.ReadFile(path)
			if other, ok := replaced[header.Name]; ok {
				data = other
			}
			if err != nil || data == nil {
				return err
			}
			header.Size = int64(len(data))
			if err := archive.WriteHeader(&header); err != nil {
				return err
			}
			_, err = archive.Write(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func TestInstallFromAnArchive(t *testing.T) {
	t.Parallel()
	data := packed(t, nil)
	file := filepath.Join(t.TempDir(), "an archive.tar.gz")
	writeTestFile(t, file, string(data), 0o644)
	home := t.TempDir()
	cfg := Config{Helper: helper(t), Environ: bareEnviron(t, home), From: file, SHA256: strings.ToUpper(sumOf(data))}
	set, report, err := Install(t.Context(), cfg, nil)
	if err != nil || !set.complete() || set.Rung != RungArchive || set.Label != LabelCtags {
		t.Fatalf("got %+v, %v, want a complete set; report:\n%s", set, err, report)
	}
	cfg.From, cfg.SHA256 = "", ""
	found, _ := Locate(t.Context(), cfg)
	if found == nil || found.Gtags.Path != set.Gtags.Path || found.Rung != RungManaged {
		t.Fatalf("Locate: got %+v, want the installed set", found)
	}
	released, _ := filepath.Glob("../build-global/dist/toolchain-linux-*.tar.gz")
	for _, file := range released {
		installReleased(t, file)
	}
	// What cannot be used leaves the one that works.
	cfg.From = file
	tests := []struct {
		name string
		data []byte
		cfg  func(*Config)
		want string
	}{
		{"no digest", data, func(*Config) {}, "--unverified"},
		{"another digest", data, func(c *Config) { c.SHA256 = strings.Repeat("0", 64) }, "get the file again"},
		{"truncated", data[:len(data)/2], func(c *Config) { c.Unverified = true }, "unexpected EOF"},
		{"an HTML page", []byte("<html>not found</html>"), func(c *Config) { c.Unverified = true }, "archive refused"},
		{"empty", nil, func(c *Config) { c.Unverified = true }, "archive refused"},
		{"no gtags", packed(t, map[string][]byte{"bin/gtags": nil}), func(c *Config) { c.Unverified = true }, "no bin/gtags"},
		{"a truncated gtags", packed(t, map[string][]byte{"bin/gtags": mustRead(t, set.Gtags.Path)[:20000]}), func(c *Config) { c.Unverified = true }, string(CauseTruncated)},
		{"a damaged plugin", packed(t, map[string][]byte{"lib/gtags/" + pluginName: []byte("x")}), func(c *Config) { c.Unverified = true }, "lacking: languages beyond"},
		{"another ctags", packed(t, map[string][]byte{"bin/ctags": []byte("#!/bin/sh\necho Exuberant Ctags\n")}), func(c *Config) { c.Unverified = true }, "Exuberant"},
	}
	for _, tt := range tests {
		writeTestFile(t, file, string(tt.data), 0o644)
		bad := cfg
		tt.cfg(&bad)
		_, _, err := Install(t.Context(), bad, nil)
		var failed *InstallError
		if !errors.As(err, &failed) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want an InstallError with %q", tt.name, err, tt.want)
		}
	}
	if now, err := cfg.mustComplete(t).current(); err != nil || now != filepath.Dir(filepath.Dir(set.Gtags.Path)) {
		t.Errorf("after what failed: current is %s, %v, want the set that works", now, err)
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// installReleased installs what `make artifacts` made: an archive for this
// processor is the pinned one and complete, another is refused by name.
func installReleased(t *testing.T, file string) {
	t.Helper()
	set, _, err := Install(t.Context(), Config{Helper: helper(t), Environ: bareEnviron(t, t.TempDir()), From: file}, nil)
	ours := strings.Contains(filepath.Base(file), "-"+runtime.GOARCH+"-")
	switch {
	case ours && (err != nil || !set.complete() || set.Label != LabelCtags || !strings.Contains(set.Gtags.Path, "/6.")):
		t.Errorf("%s: got %+v, %v, want a complete set under the pinned version", file, set, err)
	case !ours && (err == nil || !strings.Contains(err.Error(), string(CauseMachine))):
		t.Errorf("%s: got %v, want the processor named", file, err)
	}
}

func TestSettingsOfFrom(t *testing.T) {
	for _, cfg := range []Config{
		{SHA256: strings.Repeat("a", 64)},
		{Unverified: true},
		{From: "x", Rung: RungDistro},
		{From: "x", SHA256: strings.Repeat("a", 63)},
		{From: "x", SHA256: strings.Repeat("a", 64), Unverified: true},
		{Rung: RungArchive},
	} {
		cfg.Home = t.TempDir()
		_, _, err := Install(t.Context(), cfg, nil)
		var setting *SettingError
		if !errors.As(err, &setting) {
			t.Errorf("%+v: got %v, want a SettingError", cfg, err)
		}
	}
}

func TestLockFile(t *testing.T) {
	p, err := Config{}.readPins()
	if err != nil {
		t.Fatal(err)
	}
	for _, platform := range []string{"linux-amd64-gnu", "linux-amd64-musl", "linux-arm64-gnu", "linux-arm64-musl"} {
		a, ok := p.forPlatform(platform)
		sum, err := hex.DecodeString(a.SHA256)
		if !ok || err != nil || len(sum) != sha256.Size || a.SHA256 != strings.ToLower(a.SHA256) || a.Size <= 0 || a.Name != "toolchain-"+platform+".tar.gz" {
			t.Errorf("%s: got %+v, %v", platform, a, err)
		}
	}
	if owner, name, ok := strings.Cut(p.Repository, "/"); !ok || owner == "" || name == "" || !strings.HasSuffix(p.Tag, p.Version) || p.Version == "" {
		t.Errorf("got repository %q, tag %q, version %q", p.Repository, p.Tag, p.Version)
	}
}
