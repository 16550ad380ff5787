package buildglobal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckPinned(t *testing.T) {
	dir := t.TempDir()
	archive := filepath.Join(dir, "toolchain-linux-amd64-gnu.tar.gz")
	lockFile := filepath.Join(dir, "lock.json")
	put := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(archive, "abc")
	const entry = `{"platform":"linux-amd64-gnu","name":"toolchain-linux-amd64-gnu.tar.gz","size":3,"sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}`
	locked := func(version, assets string) string {
		return fmt.Sprintf(`{"version":%q,"tag":"toolchain-%s","assets":[%s]}`, version, version, assets)
	}
	for name, c := range map[string]struct{ lock, want string }{
		"pinned":        {locked(Version, entry), ""},
		"not there":     {locked(Version, ""), "not pinned: " + entry},
		"other digest":  {locked(Version, strings.Replace(entry, "ba78", "ba79", 1)), "not pinned: " + entry},
		"other size":    {locked(Version, strings.Replace(entry, ":3", ":4", 1)), "not pinned: " + entry},
		"other version": {locked("0.0.1-1", entry), "this recipe makes " + Version},
		"no lock file":  {"", "unexpected end"},
	} {
		put(lockFile, c.lock)
		err := CheckPinned(lockFile, []string{archive})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if err := CheckPinned(lockFile, nil); err == nil {
		t.Error("nothing to compare, and no error")
	}
}
