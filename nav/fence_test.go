package nav

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// fenced makes an allowed folder with a tree in it beside a secret one.
func fenced(t *testing.T) (allowed, secret string, fence *Fence) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	allowed, secret = filepath.Join(top, "allowed"), filepath.Join(top, "secret")
	for _, dir := range []string{filepath.Join(allowed, "tree"), filepath.Join(top, "allowed-not"), secret} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{
		filepath.Join(allowed, "tree", "config"): "CONFIG_X=y\n", filepath.Join(secret, "file"): "secret\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"out": secret, "relative-out": "../secret", "nowhere": filepath.Join(top, "none"), "in": "tree", "absolute-in": filepath.Join(allowed, "tree"),
		"out-file": filepath.Join(secret, "file"), "in-file": "tree/config", "loop": "loop",
	} {
		if err := os.Symlink(target, filepath.Join(allowed, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(allowed, filepath.Join(top, "alias")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(allowed, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	if fence, err = NewFence(allowed); err != nil {
		t.Fatal(err)
	}
	return allowed, secret, fence
}

func TestFenceFolder(t *testing.T) {
	allowed, secret, fence := fenced(t)
	top := filepath.Dir(allowed)
	for _, test := range []struct {
		path, want string // "": outside
	}{
		{allowed, allowed},
		{allowed + "/", allowed},
		{filepath.Join(allowed, "tree"), filepath.Join(allowed, "tree")},
		{filepath.Join(allowed, "in"), filepath.Join(allowed, "tree")},
		{filepath.Join(allowed, "absolute-in"), filepath.Join(allowed, "tree")},
		{filepath.Join(top, "alias", "tree"), filepath.Join(allowed, "tree")},
		{top, ""},
		{"/", ""},
		{secret, ""},
		{allowed + "-not", ""},
		{allowed + "/../secret", ""},
		{allowed + "/tree/../../secret", ""},
		{filepath.Join(allowed, "out"), ""},
		{filepath.Join(allowed, "relative-out"), ""},
		{filepath.Join(allowed, "nowhere"), ""},
		{filepath.Join(top, "none"), ""},
	} {
		real, dir, err := fence.Folder(test.path)
		if err == nil {
			dir.Close()
		}
		var outside *OutsideError
		if real != test.want || (test.want == "") != errors.As(err, &outside) {
			t.Errorf("%s: got %q, %v; want %q", test.path, real, err, test.want)
		}
	}
	if _, _, err := fence.Folder(filepath.Join(allowed, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing inside: got %v, want that it does not exist", err)
	}
	// Whether there is something outside cannot be told from the answer.
	there, none := filepath.Join(allowed, "out"), filepath.Join(allowed, "nowhere")
	_, _, err1 := fence.Folder(there)
	_, _, err2 := fence.Folder(none)
	if strings.Replace(err1.Error(), there, "", 1) != strings.Replace(err2.Error(), none, "", 1) {
		t.Errorf("a link to something says %v, a link to nothing %v", err1, err2)
	}
}

func TestFenceReadFile(t *testing.T) {
	allowed, secret, fence := fenced(t)
	for _, name := range []string{"tree/config", "in/config", "in-file", "absolute-in/config"} {
		if text, err := fence.ReadFile(filepath.Join(allowed, name), 100); err != nil || string(text) != "CONFIG_X=y\n" {
			t.Errorf("%s: got %q, %v", name, text, err)
		}
	}
	for path, want := range map[string]string{
		filepath.Join(secret, "file"):           "outside",
		filepath.Join(allowed, "out", "file"):   "outside",
		filepath.Join(allowed, "out-file"):      "outside",
		allowed + "/../secret/file":             "outside",
		"/dev/zero":                             "outside",
		"/proc/self/environ":                    "outside",
		filepath.Join(allowed, "pipe"):          "not a regular file",
		filepath.Join(allowed, "tree"):          "not a regular file",
		filepath.Join(allowed, "loop"):          "",
		filepath.Join(allowed, "tree", "none"):  "no such file",
		filepath.Join(allowed, "tree", "a\x00"): "",
	} {
		if text, err := fence.ReadFile(path, 100); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %q, %v; want an error with %q", path, text, err, want)
		}
	}
	if _, err := fence.ReadFile(filepath.Join(allowed, "tree", "config"), 3); err == nil || !strings.Contains(err.Error(), "longer than 3 bytes") {
		t.Errorf("over the limit: got %v", err)
	}
	// Without a fence everything can be read, but nothing hangs or fills the memory.
	var open *Fence
	for _, path := range []string{"/dev/zero", filepath.Join(allowed, "pipe")} {
		if _, err := open.ReadFile(path, 100); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s without a fence: got %v", path, err)
		}
	}
}

// TestFenceHoldsWhileLinksAreSwapped opens a folder again and again while it is
// replaced by a link that leads out, and back.
func TestFenceHoldsWhileLinksAreSwapped(t *testing.T) {
	allowed, secret, fence := fenced(t)
	if err := os.WriteFile(filepath.Join(secret, "config"), []byte("secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tree, aside, link := filepath.Join(allowed, "tree"), filepath.Join(allowed, "aside"), filepath.Join(allowed, "link")
	if err := os.Symlink(secret, link); err != nil {
		t.Fatal(err)
	}
	var swaps atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for ; ; swaps.Add(1) {
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Microsecond): // or nobody would ever find the folder in its place
			}
			os.Rename(tree, aside)
			os.Rename(link, tree)
			os.Rename(tree, link)
			os.Rename(aside, tree)
		}
	}()
	inside := 0
	for begun := time.Now(); (swaps.Load() < 300 || inside < 300) && time.Since(begun) < time.Minute; {
		if text, err := fence.ReadFile(filepath.Join(tree, "config"), 100); err == nil && string(text) != "CONFIG_X=y\n" {
			t.Fatalf("read %q", text)
		}
		_, dir, err := fence.Folder(tree)
		if err != nil {
			continue
		}
		inside++
		text, err := ReadIn(dir, "config", 100)
		dir.Close()
		if err != nil || string(text) != "CONFIG_X=y\n" {
			t.Fatalf("opened a folder in which config holds %q, %v", text, err)
		}
	}
	close(stop)
	<-stopped
	if n := swaps.Load(); n < 100 || inside == 0 {
		t.Errorf("%d swaps, %d times inside: too few to show anything", n, inside)
	}
}
