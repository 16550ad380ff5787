package upgrade

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch/releasetest"
)

func TestNotice(t *testing.T) {
	w := newWorld(t)
	w.good("v1.1.0")
	now := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	n := Notice{Home: t.TempDir(), Version: "v1.0.0", Now: func() time.Time { return now }}
	if tag := n.Take(); tag != "" {
		t.Errorf("told of %q before anybody looked", tag)
	}
	if !n.Due() || n.Due() {
		t.Error("not due exactly once a day")
	}
	if err := n.Look(t.Context(), w.options()); err != nil {
		t.Fatal(err)
	}
	if tag := n.Take(); tag != "v1.1.0" {
		t.Errorf("told of %q, want v1.1.0", tag)
	}
	now = now.Add(noticePause - time.Second)
	if tag := n.Take(); tag != "" || n.Due() {
		t.Errorf("told of %q again the same day, or due", tag)
	}
	now = now.Add(time.Second)
	if tag := n.Take(); tag != "v1.1.0" || !n.Due() {
		t.Errorf("told of %q the next day, or not due", tag)
	}
	now = now.Add(-100 * noticePause) // a clock put right
	if tag := n.Take(); tag != "v1.1.0" || !n.Due() {
		t.Errorf("told of %q after the clock went back, or not due", tag)
	}
	now = now.Add(noticePause)
	n.Version = "v1.1.0"
	if tag := n.Take(); tag != "" {
		t.Errorf("told of %q after the upgrade", tag)
	}
}

// TestNoticeWithoutNetwork: a look that fails is not repeated with every command.
func TestNoticeWithoutNetwork(t *testing.T) {
	w := newWorld(t)
	w.server.Use(releasetest.Answer(500, ""))
	n := Notice{Home: t.TempDir(), Version: "v1.0.0"}
	if !n.Due() {
		t.Fatal("not due")
	}
	if err := n.Look(t.Context(), w.options()); err == nil {
		t.Error("a look at a broken server succeeded")
	}
	if n.Due() || n.Take() != "" {
		t.Error("due again at once, or something to tell")
	}
}

// TestNoticeLeavesNoTrace: without a managed folder, with a damaged file, or in
// a program built from source there is no notice.
func TestNoticeLeavesNoTrace(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	n := Notice{Home: home, Version: "v1.0.0"}
	if n.Due() || n.Take() != "" {
		t.Error("a notice without a folder")
	}
	if _, err := os.Stat(home); !os.IsNotExist(err) {
		t.Errorf("the folder was made: %v", err)
	}
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	if (Notice{Home: home, Version: "devel-0123456789ab"}).Due() {
		t.Error("due for a program built from source")
	}
	for _, bad := range []string{"", "{", `{"newest":"v9.9.9; rm -rf"}`, `{"newest":"v9.9.9+x"}`, `{"newest":3}`} {
		if err := os.WriteFile(filepath.Join(home, "upgrade.json"), []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if tag := n.Take(); tag != "" {
			t.Errorf("%s tells of %q", bad, tag)
		}
	}
	if !n.Due() {
		t.Error("a damaged file is not replaced")
	}
	entries, err := os.ReadDir(home)
	if err != nil || len(entries) != 1 {
		t.Errorf("in the folder: %v, %v", entries, err)
	}
}

func FuzzNotice(f *testing.F) {
	f.Add([]byte(`{"looked":"2025-01-02T03:04:05Z","told":"2025-01-02T03:04:05Z","newest":"v1.1.0"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		home := t.TempDir()
		if err := os.WriteFile(filepath.Join(home, "upgrade.json"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		n := Notice{Home: home, Version: "v1.0.0"}
		if tag := n.Take(); tag != "" {
			if _, ok := released(tag); !ok {
				t.Errorf("%q tells of %q", data, tag)
			}
		}
	})
}
