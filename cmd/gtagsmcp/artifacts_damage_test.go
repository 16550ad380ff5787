//go:build artifacts && linux

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch/releasetest"
)

// edited is an archive with one file changed.
func edited(t *testing.T, archive []byte, name string, edit func([]byte) []byte) []byte {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	again, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	in, to := tar.NewReader(zip), tar.NewWriter(again)
	found := false
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		data, readErr := io.ReadAll(in)
		if err = errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		if h.Name == name {
			found = true
			data = edit(data)
			h.Size = int64(len(data))
		}
		if err := to.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := to.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(to.Close(), again.Close()); err != nil || !found {
		t.Fatalf("%s found: %v, %v", name, found, err)
	}
	return out.Bytes()
}

// swapped replaces a text in a program by another of the same length.
func swapped(t *testing.T, old, new string) func([]byte) []byte {
	return func(data []byte) []byte {
		if len(old) != len(new) || !bytes.Contains(data, []byte(old)) {
			t.Fatalf("the program has no %q to replace by %q", old, new)
		}
		return bytes.ReplaceAll(data, []byte(old), []byte(new))
	}
}

// from installs from an archive that nothing vouches for and returns the reason
// of its failure.
func (m machine) from(t *testing.T, archive []byte) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), "archive.tar.gz")
	if err := os.WriteFile(path, archive, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := m.run(t, "setup", "--from", path, "--unverified")
	return err
}

// binDir lays an archive's programs out in a folder, one of them changed, and
// returns what doctor says of it: the reasons without a look at the archive.
func (m machine) binDir(t *testing.T, archive []byte) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "archive.tar.gz")
	if err := os.WriteFile(path, archive, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("tar", "-xzf", path, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, _ := m.run(t, "--bin-dir", filepath.Join(dir, "bin"), "doctor")
	return out
}

// Every failure to execute, provoked with the released programs, is named as
// what it is, before the program runs and when it is run.
func TestArtifactCannotRun(t *testing.T) {
	gnu := setArchive(t, "gnu")
	loader := "/lib64/ld-linux-x86-64.so.2"
	if f, err := elf.NewFile(bytes.NewReader(fileIn(t, gnu, "bin/gtags"))); err != nil || f.Machine != elf.EM_X86_64 {
		t.Fatalf("these patches are for x86-64: %v", err)
	}
	tests := []struct {
		name          string
		archive       []byte
		before, start string // what is said without running it, and by running it; empty: nothing is said there
	}{
		{"built for a newer glibc", edited(t, gnu, "bin/gtags", swapped(t, "GLIBC_2.14", "GLIBC_2.99")),
			"built for a newer C library than this system has: it needs glibc 2.99, this system has 2.", "it needs glibc 2.99"},
		{"another processor", artifact(t, "toolchain-linux-arm64-gnu.tar.gz"),
			"built for another kind of processor: it is for EM_AARCH64, this is EM_X86_64", "another kind of processor"},
		{"patched loader", edited(t, gnu, "bin/gtags", swapped(t, loader, "/lib64/ld-linux-x86-64.so.9")),
			"its interpreter or loader is missing: /lib64/ld-linux-x86-64.so.9", "its interpreter or loader is missing: /lib64/ld-linux-x86-64.so.9"},
		{"missing library", edited(t, gnu, "bin/gtags", swapped(t, "libpthread.so.0", "libpthread.so.7")),
			"a shared library is missing: libpthread.so.7", "libpthread.so.7"},
		{"empty program", edited(t, gnu, "bin/gtags", func([]byte) []byte { return nil }), "", "not a program for this machine"},
		{"an HTML page as program", edited(t, gnu, "bin/gtags", func([]byte) []byte { return []byte("<html>log in</html>\n") }),
			"not a program for this machine", "not a program for this machine"},
		{"a script without interpreter", edited(t, gnu, "bin/gtags", func([]byte) []byte { return []byte("#!/no/such/shell\n") }),
			"its interpreter or loader is missing: /no/such/shell", "its interpreter or loader is missing: /no/such/shell"},
		{"illegal instruction", edited(t, setArchive(t, "musl"), "bin/gtags", atEntry([]byte{0x0f, 0x0b})),
			"it uses instructions that this processor lacks", "it uses instructions that this processor lacks"},
		{"endless program", edited(t, setArchive(t, "musl"), "bin/gtags", atEntry([]byte{0xeb, 0xfe})), "it does not answer", "it does not answer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, "http://127.0.0.1:9")
			err := m.from(t, tt.archive)
			if err == nil || !strings.Contains(err.Error(), tt.before) {
				t.Errorf("install: got %v, want %q", err, tt.before)
			}
			t.Logf("install: %s", line(err.Error(), "archive: "))
			doctor := m.binDir(t, tt.archive)
			if !strings.Contains(doctor, tt.start) {
				t.Errorf("doctor said\n%s\nwant %q", doctor, tt.start)
			}
			t.Logf("doctor:  %s", line(doctor, "rejected"))
		})
	}
}

// atEntry puts machine code where a program begins.
func atEntry(code []byte) func([]byte) []byte {
	return func(data []byte) []byte {
		data = bytes.Clone(data)
		f, err := elf.NewFile(bytes.NewReader(data))
		if err != nil {
			panic(err)
		}
		for _, p := range f.Progs {
			if p.Type == elf.PT_LOAD && f.Entry >= p.Vaddr && f.Entry < p.Vaddr+p.Filesz {
				copy(data[p.Off+f.Entry-p.Vaddr:], code)
			}
		}
		return data
	}
}

// line returns the line that has a word, from there.
func line(text, word string) string {
	for l := range strings.Lines(text) {
		if _, rest, ok := strings.Cut(l, word); ok {
			return strings.TrimSpace(rest)
		}
	}
	return strings.TrimSpace(text)
}

func fileIn(t *testing.T, archive []byte, name string) (content []byte) {
	edited(t, archive, name, func(b []byte) []byte { content = bytes.Clone(b); return b })
	return content
}

// A program cut anywhere is refused as truncated or no program, without being run.
func TestArtifactTruncatedProgram(t *testing.T) {
	gnu := setArchive(t, "gnu")
	size := len(fileIn(t, gnu, "bin/gtags"))
	m := newMachine(t, "http://127.0.0.1:9")
	for i := range 20 {
		at := size * (2*i + 1) / 40
		if i == 0 {
			at = 40 // within the first header
		}
		err := m.from(t, edited(t, gnu, "bin/gtags", func(b []byte) []byte { return b[:at] }))
		if err == nil || !strings.Contains(err.Error(), "truncated") && !strings.Contains(err.Error(), "damaged") {
			t.Errorf("cut at %d of %d: %v", at, size, err)
			continue
		}
		if i%6 == 0 {
			t.Logf("cut at %d of %d: %s", at, size, line(err.Error(), "archive: "))
		}
	}
}

// An archive that is cut or changed anywhere is never unpacked: its digest is not
// the pinned one. With the digest waived, its own checksums refuse most.
func TestArtifactDamagedArchive(t *testing.T) {
	gnu := setArchive(t, "gnu")
	m := newMachine(t, "http://127.0.0.1:9")
	refused := func(data []byte) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "toolchain.tar.gz")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := m.run(t, "setup", "--from", path); err == nil || !strings.Contains(err.Error(), "has the SHA-256 "+sum(data)) {
			t.Errorf("got %v, want the wrong digest", err)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	waived := 0
	for i := range 20 {
		cut := gnu[:len(gnu)*(2*i+1)/40]
		refused(cut)
		if m.from(t, cut) == nil {
			t.Errorf("an archive cut at %d was installed", len(cut))
		}
		flipped := bytes.Clone(gnu)
		at := random.IntN(len(flipped) - 8)
		for j := range 8 {
			flipped[at+j] ^= byte(1 + random.IntN(255))
		}
		refused(flipped)
		if m.from(t, flipped) != nil {
			waived++
		}
	}
	t.Logf("20 cuts and 20 flips of 8 bytes refused by their digest; with --unverified, %d of the flips by the archive's own checksum", waived)
	if waived != 20 {
		t.Errorf("%d of 20 flipped archives were installed with --unverified", 20-waived)
	}
}

// Eight bytes flipped in a program that starts all the same: only the digest, or
// the proof, can tell.
func TestArtifactFlippedProgram(t *testing.T) {
	gnu := setArchive(t, "gnu")
	size := len(fileIn(t, gnu, "bin/gtags"))
	random := rand.New(rand.NewPCG(3, 4))
	m := newMachine(t, "http://127.0.0.1:9")
	installed := 0
	for range 20 {
		at := random.IntN(size - 8)
		err := m.from(t, edited(t, gnu, "bin/gtags", func(b []byte) []byte {
			b = bytes.Clone(b)
			for j := range 8 {
				b[at+j] ^= 0xff
			}
			return b
		}))
		if err == nil {
			installed++
			continue
		}
		t.Logf("8 bytes at %d: %s", at, line(err.Error(), "archive: "))
	}
	t.Logf("%d of 20 programs with 8 flipped bytes pass the proof: they were taken with --unverified only", installed)
	if installed == 20 {
		t.Error("the proof noticed nothing")
	}
}

// Homes on file systems that cannot hold a toolchain.
func TestArtifactHomes(t *testing.T) {
	server := releaseServer(t, releasetest.New)
	for _, tt := range []struct{ name, options, want string }{
		{"noexec", "noexec,size=64m", "mounted noexec; set GTAGS_MCP_HOME to a folder"},
		{"1 MB", "size=1m", "MB free, "},
		{"read-only", "ro,size=64m", "read-only file system"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, mount := newMachine(t, server.URL), t.TempDir()
			script := `mount -t tmpfs -o "$1" none "$2" && GTAGS_MCP_HOME="$2/home" exec "$3" setup --rung prebuilt`
			cmd := exec.Command("unshare", "-rm", "sh", "-c", script, "sh", tt.options, mount, builtProgram(t))
			cmd.Env = append(m.env, "PATH="+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), tt.want) {
				t.Errorf("got %v, %s\nwant %q", err, out, tt.want)
			}
			t.Log(strings.TrimSpace(lastLines(string(out), 3)))
		})
	}
}
