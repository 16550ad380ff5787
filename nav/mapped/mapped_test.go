package mapped

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestMapping(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(path, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, mapping := range map[string]func(*os.File, error) ([]byte, error){"random": Random, "whole": Whole} {
		data, err := mapping(os.OpenFile(path, Flags, 0))
		if err != nil || string(data) != "content" {
			t.Errorf("%s: got %q, %v; want the content", name, data, err)
		}
		if err := Unmap(data); err != nil {
			t.Errorf("%s: unmap: %v", name, err)
		}
	}
}

func TestWhatCannotBeMapped(t *testing.T) {
	dir := t.TempDir()
	empty, fifo := filepath.Join(dir, "empty"), filepath.Join(dir, "fifo")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := Random(os.OpenFile(empty, Flags, 0)); data != nil || err != nil {
		t.Errorf("an empty file: got %q, %v; want nothing", data, err)
	}
	if err := Unmap(nil); err != nil {
		t.Errorf("unmap nothing: %v", err)
	}
	if _, err := Random(os.OpenFile(fifo, Flags, 0)); err == nil {
		t.Error("a fifo is mapped")
	}
	if _, err := Whole(os.OpenFile(dir, Flags, 0)); err == nil {
		t.Error("a folder is mapped")
	}
	if _, err := Whole(os.OpenFile(filepath.Join(dir, "none"), Flags, 0)); !os.IsNotExist(err) {
		t.Errorf("a missing file: got %v, want %v", err, fs.ErrNotExist)
	}
}
