package upgrade

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"aead.dev/minisign"

	"github.com/gtagsmcp/gtagsmcp/bootstrap/release"
	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch"
	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch/releasetest"
)

var archiveName = release.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}.Archive()

// world is a server of releases, the key that signs them, and a program to
// replace, which is v1.0.0.
type world struct {
	*testing.T
	server  *releasetest.Server
	public  minisign.PublicKey
	private minisign.PrivateKey
	dir     string
	target  string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	public, private, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	w := &world{t, releasetest.New(t), public, private, dir, filepath.Join(dir, "gtagsmcp")}
	w.write(w.target, script("v1.0.0"), 0o755)
	return w
}

// script is a program that knows its version, which is all that is asked of it.
func script(tag string) string { return "#!/bin/sh\necho gtagsmcp " + tag + " os/arch go1.26\n" }

func (w *world) write(path, text string, mode os.FileMode) {
	w.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		w.Fatal(err)
	}
}

func packed(t testing.TB, files map[string]string) []byte {
	t.Helper()
	archive, err := pack(files)
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

func pack(files map[string]string) ([]byte, error) {
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	tw := tar.NewWriter(gz)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		err := tw.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(files[name])), Typeflag: tar.TypeReg})
		if err == nil {
			_, err = tw.Write([]byte(files[name]))
		}
		if err != nil {
			return nil, err
		}
	}
	err := errors.Join(tw.Close(), gz.Close())
	return out.Bytes(), err
}

// assets are those of a good release with this program.
func (w *world) assets(tag, program string) map[string][]byte {
	w.Helper()
	a := map[string][]byte{archiveName: packed(w, map[string]string{release.Program: program, "LICENSE": "MIT", "README.md": "#"})}
	w.sign(a, tag)
	return a
}

func (w *world) sign(a map[string][]byte, tag string) {
	w.Helper()
	text := release.Sums{archiveName: releasetest.Digest(a[archiveName])}.Text()
	signature, err := release.Sign(w.private, tag, text)
	if err != nil {
		w.Fatal(err)
	}
	a[release.SumsFile], a[release.SignatureFile] = text, signature
}

func (w *world) publish(tag string, assets map[string][]byte) {
	w.server.Add(releasetest.Release{Repo: repo.String(), Tag: tag, Prerelease: strings.Contains(tag, "-"), Assets: assets})
}

func (w *world) good(tags ...string) {
	w.Helper()
	for _, tag := range tags {
		w.publish(tag, w.assets(tag, script(tag)))
	}
}

func (w *world) options() Options {
	w.Helper()
	client, err := fetch.New(fetch.Options{API: w.server.API, Web: w.server.URL, Attempts: 2, Backoff: time.Millisecond, Stall: 10 * time.Second})
	if err != nil {
		w.Fatal(err)
	}
	return Options{Target: w.target, Version: "v1.0.0", Key: w.public.String(), Client: client}
}

// wantProgram holds the program's file against a version's, starts it, and
// looks for leftovers.
func (w *world) wantProgram(tag string) {
	w.Helper()
	content, err := os.ReadFile(w.target)
	if err != nil || string(content) != script(tag) {
		w.Errorf("the program is %q, %v; want that of %s", content, err, tag)
	}
	if got, err := started(w.Context(), w.target); err != nil || got != tag {
		w.Errorf("started: %q, %v, want %s", got, err, tag)
	}
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		w.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); name != "gtagsmcp" && name != ".gtagsmcp.previous" {
			w.Errorf("left behind: %s", name)
		}
	}
}

func TestUp(t *testing.T) {
	for name, fault := range map[string]releasetest.Middleware{
		"by the list":                  nil,
		"by the page of a rate limit":  releasetest.When("/api/", releasetest.RateLimited()),
		"by the page of a broken API":  releasetest.When("/api/", releasetest.Answer(500, "")),
		"though the connection breaks": releasetest.When("/objects/", releasetest.CutAfter(100)),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.good("v0.9.0", "v1.10.0-rc.1")
			w.publish("toolchain-6.6.14-1", nil)
			w.server.Add(releasetest.Release{Repo: repo.String(), Tag: "v9.0.0", Draft: true})
			w.good("v1.9.0", "v1.10.0")
			if fault != nil {
				w.server.Use(fault)
			}
			done, err := Run(t.Context(), w.options())
			if err != nil {
				t.Fatal(err)
			}
			w.wantProgram("v1.10.0")
			want := Result{From: "v1.0.0", To: "v1.10.0", Previous: filepath.Join(w.dir, ".gtagsmcp.previous")}
			if done != want {
				t.Errorf("Run = %+v, want %+v", done, want)
			}
			if got, err := started(t.Context(), done.Previous); got != "v1.0.0" {
				t.Errorf("the program before: %q, %v", got, err)
			}
		})
	}
}

// TestNewestIsTheGreatest: a repair of an old series, made last, is not newest.
func TestNewestIsTheGreatest(t *testing.T) {
	w := newWorld(t)
	w.good("v2.0.0", "v2.1.0-rc.1", "v1.0.1")
	for _, c := range []struct {
		pre  bool
		want string
	}{{false, "v2.0.0"}, {true, "v2.1.0-rc.1"}} {
		o := w.options()
		o.Pre = c.pre
		if got, err := Check(t.Context(), o); err != nil || got != (Choice{Tag: c.want, Newer: true}) {
			t.Errorf("Check with Pre %v = %+v, %v, want %s", c.pre, got, err, c.want)
		}
	}
}

func TestMirrorHasOnlyTheLatest(t *testing.T) {
	w := newWorld(t)
	w.good("v1.1.0")
	client, err := fetch.New(fetch.Options{API: "http://127.0.0.1:1/", Mirror: w.server.URL})
	if err != nil {
		t.Fatal(err)
	}
	o := w.options()
	o.Client, o.Pre = client, true
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "--version") {
		t.Errorf("prereleases of a mirror: %v", err)
	}
	o.Pre = false
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	w.wantProgram("v1.1.0")
}

func TestDownAndBack(t *testing.T) {
	w := newWorld(t)
	w.good("v0.8.0", "v1.1.0")
	o := w.options()
	o.Want = "0.8.0"
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	w.wantProgram("v0.8.0")
	for _, want := range []string{"v1.0.0", "v0.8.0", "v1.0.0"} {
		if done, err := Rollback(t.Context(), o); err != nil || done.To != want {
			t.Fatalf("Rollback = %+v, %v, want %s", done, err, want)
		}
		w.wantProgram(want)
	}
}

func TestNothingToDo(t *testing.T) {
	w := newWorld(t)
	w.good("v1.0.0")
	for version, want := range map[string]string{
		"v1.0.0": "up to date: v1.0.0", "v1.1.0": "newer than the newest release", "v1.0.1-rc.1": "newer than the newest release",
		"devel-0123456789ab": "built from source", "v1.0.1-0.20250102030405-0123456789ab": "built from source", "v1.0.0+dirty": "built from source", "": "built from source",
	} {
		o := w.options()
		o.Version = version
		_, err := Run(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, ErrUpToDate) == (want == "built from source") {
			t.Errorf("from %q: %v, want %q", version, err, want)
		}
	}
	o := w.options()
	o.Want = "v7.7.7"
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "no release v7.7.7") {
		t.Errorf("a version that does not exist: %v", err)
	}
	if _, err := Rollback(t.Context(), o); err == nil || !strings.Contains(err.Error(), "no program before") {
		t.Errorf("Rollback of nothing: %v", err)
	}
	w.wantProgram("v1.0.0")
	if _, err := os.Lstat(filepath.Join(w.dir, ".gtagsmcp.previous")); !os.IsNotExist(err) {
		t.Errorf("a program before, of nothing: %v", err)
	}
}

// TestDamage: whatever a server sends, the program stays as it was.
func TestDamage(t *testing.T) {
	const tag = "v1.1.0"
	for name, c := range map[string]struct {
		damage func(w *world, a map[string][]byte)
		want   string
	}{
		"tampered file":  {func(_ *world, a map[string][]byte) { a[archiveName][len(a[archiveName])/2] ^= 1 }, "wrong SHA-256"},
		"cut file":       {func(_ *world, a map[string][]byte) { a[archiveName] = a[archiveName][:99] }, "wrong SHA-256"},
		"no file":        {func(_ *world, a map[string][]byte) { delete(a, archiveName) }, "404"},
		"tampered sums":  {func(_ *world, a map[string][]byte) { a[release.SumsFile][0] ^= 1 }, "was changed"},
		"no sums":        {func(_ *world, a map[string][]byte) { delete(a, release.SumsFile) }, "404"},
		"endless sums":   {func(_ *world, a map[string][]byte) { a[release.SumsFile] = make([]byte, 1<<20) }, "wrong size"},
		"no signature":   {func(_ *world, a map[string][]byte) { delete(a, release.SignatureFile) }, "404"},
		"cut signature":  {func(_ *world, a map[string][]byte) { a[release.SignatureFile] = a[release.SignatureFile][:120] }, "signature is not valid"},
		"HTML signature": {func(_ *world, a map[string][]byte) { a[release.SignatureFile] = []byte("<html>log in") }, "HTML"},
		"wrong key":      {func(w *world, a map[string][]byte) { newWorld(w.T).sign(a, tag) }, "this program trusts"},
		"replayed":       {func(w *world, a map[string][]byte) { maps.Copy(a, w.assets("v0.9.0", script("v0.9.0"))) }, "an old release under a new name?"},
		"other platform": {func(w *world, a map[string][]byte) {
			w.signSums(a, tag, release.Sums{"x.tar.gz": releasetest.Digest(nil)})
		}, "no program for this platform"},
		"sums without form": {func(w *world, a map[string][]byte) { w.signText(a, tag, []byte("sums\n")) }, "is not a SHA-256"},
		"no archive":        {func(w *world, a map[string][]byte) { a[archiveName] = []byte("PK"); w.sign(a, tag) }, "archive refused"},
		"signed and cut":    {func(w *world, a map[string][]byte) { a[archiveName] = a[archiveName][:99]; w.sign(a, tag) }, "archive refused"},
		"no program": {func(w *world, a map[string][]byte) {
			a[archiveName] = packed(w, map[string]string{"README.md": "#"})
			w.sign(a, tag)
		}, "holds no program"},
		"path leads out": {func(w *world, a map[string][]byte) {
			a[archiveName] = packed(w, map[string]string{"../gtagsmcp": "x"})
			w.sign(a, tag)
		}, "archive refused"},
		"does not start": {func(w *world, a map[string][]byte) { maps.Copy(a, w.assets(tag, "\x7fELF nonsense")) }, "does not start"},
		"ends with an error": {func(w *world, a map[string][]byte) {
			maps.Copy(a, w.assets(tag, "#!/bin/sh\necho too old >&2; exit 1\n"))
		}, "too old"},
		"dies":               {func(w *world, a map[string][]byte) { maps.Copy(a, w.assets(tag, "#!/bin/sh\nkill -ILL $$\n")) }, "illegal instruction"},
		"says nothing":       {func(w *world, a map[string][]byte) { maps.Copy(a, w.assets(tag, "#!/bin/sh\n")) }, "instead of its version"},
		"says too much":      {func(w *world, a map[string][]byte) { maps.Copy(a, w.assets(tag, "#!/bin/sh\nyes | head -c 9000000\n")) }, "instead of its version"},
		"is another version": {func(w *world, a map[string][]byte) { maps.Copy(a, w.assets(tag, script("v1.0.5"))) }, `"v1.0.5"`},
		"fails in its place": {func(w *world, a map[string][]byte) {
			maps.Copy(a, w.assets(tag, "#!/bin/sh\ncase $0 in *upgrade*) echo gtagsmcp "+tag+" x;; *) exit 9;; esac\n"))
		}, "the program before is back in its place"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			a := w.assets(tag, script(tag))
			c.damage(w, a)
			w.publish(tag, a)
			_, err := Run(t.Context(), w.options())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Run = %v, want %q", err, c.want)
			}
			w.wantProgram("v1.0.0")
		})
	}
}

func (w *world) signSums(a map[string][]byte, tag string, sums release.Sums) {
	w.signText(a, tag, sums.Text())
}

func (w *world) signText(a map[string][]byte, tag string, text []byte) {
	signature, err := release.Sign(w.private, tag, text)
	if err != nil {
		w.Fatal(err)
	}
	a[release.SumsFile], a[release.SignatureFile] = text, signature
}

func TestWithoutKey(t *testing.T) {
	w := newWorld(t)
	w.good("v1.1.0")
	o := w.options()
	o.Key = "untrusted comment: none yet\n"
	if _, err := Run(t.Context(), o); !errors.Is(err, release.ErrNoKey) {
		t.Errorf("Run = %v, want ErrNoKey", err)
	}
	if n := len(w.server.Requests()); n != 0 {
		t.Errorf("%d requests without a key", n)
	}
	w.wantProgram("v1.0.0")
}

// TestRunning replaces a program that runs, and goes on running.
func TestRunning(t *testing.T) {
	w := newWorld(t)
	w.good("v1.1.0")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(w.target), linkOrCopy(self, w.target)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), w.target, "wait-for-end")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), w.options()); err != nil {
		t.Fatal(err)
	}
	w.wantProgram("v1.1.0")
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the program that ran: %v", err)
	}
}

func TestOneAtATime(t *testing.T) {
	w := newWorld(t)
	w.good("v1.1.0")
	other, err := newWorkplace(w.target)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), w.options()); !errors.Is(err, ErrBusy) {
		t.Errorf("Run beside another = %v, want ErrBusy", err)
	}
	if _, err := Rollback(t.Context(), w.options()); !errors.Is(err, ErrBusy) {
		t.Errorf("Rollback beside another = %v, want ErrBusy", err)
	}
	if _, err := os.Stat(other.dir); err != nil {
		t.Errorf("the other's folder: %v", err)
	}
	other.lock.Close() // as if it was killed: its folder stays
	if _, err := Run(t.Context(), w.options()); err != nil {
		t.Fatal(err)
	}
	w.wantProgram("v1.1.0")
}

// TestKilledBeforeTheRename: the present program has two names already.
func TestKilledBeforeTheRename(t *testing.T) {
	w := newWorld(t)
	w.good("v1.1.0")
	if err := os.Link(w.target, filepath.Join(w.dir, ".gtagsmcp.previous")); err != nil {
		t.Fatal(err)
	}
	if done, err := Rollback(t.Context(), w.options()); err != nil || done.To != "v1.0.0" {
		t.Errorf("Rollback = %+v, %v", done, err)
	}
	w.wantProgram("v1.0.0")
	if _, err := Run(t.Context(), w.options()); err != nil {
		t.Fatal(err)
	}
	w.wantProgram("v1.1.0")
	if got, err := started(t.Context(), filepath.Join(w.dir, ".gtagsmcp.previous")); got != "v1.0.0" {
		t.Errorf("the program before: %q, %v", got, err)
	}
}

func TestModeIsKept(t *testing.T) {
	w := newWorld(t)
	w.good("v1.1.0")
	if err := os.Chmod(w.target, 0o711); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), w.options()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(w.target); err != nil || info.Mode().Perm() != 0o711 {
		t.Errorf("mode %v, %v, want 0711", info.Mode(), err)
	}
}

func TestCanceled(t *testing.T) {
	w := newWorld(t)
	w.good("v1.1.0")
	w.server.Use(releasetest.When("/objects/", releasetest.Trickle(10, 50*time.Millisecond)))
	o := w.options()
	ctx, cancel := contextAfter(t, 200*time.Millisecond)
	defer cancel()
	if _, err := Run(ctx, o); err == nil {
		t.Error("an upgrade that was called off was made")
	}
	w.wantProgram("v1.0.0")
}

func ExampleRefusal() {
	fmt.Println(&Refusal{"/usr/bin/gtagsmcp", "was installed by dpkg, as part of the package gtagsmcp", "sudo apt-get install --only-upgrade gtagsmcp"})
	// Output: /usr/bin/gtagsmcp was installed by dpkg, as part of the package gtagsmcp; to upgrade it, type: sudo apt-get install --only-upgrade gtagsmcp
}
