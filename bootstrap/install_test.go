package bootstrap_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"aead.dev/minisign"

	"github.com/gtagsmcp/gtagsmcp/bootstrap/release"
	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch/releasetest"
)

const repo = "gtagsmcp/gtagsmcp"

// vendor publishes releases signed with a key of its own.
type vendor struct {
	*releasetest.Server
	t   *testing.T
	key minisign.PrivateKey
}

func newVendor(t *testing.T, s *releasetest.Server) *vendor {
	t.Helper()
	_, key, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &vendor{s, t, key}
}

// script is the installer with this vendor's key in it.
func (v *vendor) script() string {
	v.t.Helper()
	return withKey(installer(v.t), v.key.Public().(minisign.PublicKey).String())
}

var keyLine = regexp.MustCompile(`(?m)^RELEASE_KEY='([^']*)'$`)

func withKey(script, key string) string {
	return keyLine.ReplaceAllLiteralString(script, "RELEASE_KEY='"+key+"'")
}

// TestInstallerKey: the installer and the program trust the same key, or none.
func TestInstallerKey(t *testing.T) {
	lines := keyLine.FindAllStringSubmatch(installer(t), -1)
	if len(lines) != 1 {
		t.Fatalf("install.sh has %d lines with a key, want 1", len(lines))
	}
	want := ""
	key, err := release.ParseKey(read(t, "release.pub"))
	if err == nil {
		want = key.String()
	} else if !errors.Is(err, release.ErrNoKey) {
		t.Fatal(err)
	}
	if got := lines[0][1]; got != want {
		t.Errorf("install.sh has the key %q, release.pub %q", got, want)
	}
}

func installer(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("install.sh")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// publish releases a version, with size bytes of noise in its program. Each of
// change may spoil the assets after they were signed.
func (v *vendor) publish(version string, size int, change ...func(string, map[string][]byte)) {
	v.t.Helper()
	v.publishProgram(version, program(version, size), change...)
}

func (v *vendor) publishProgram(version string, program []byte, change ...func(string, map[string][]byte)) {
	v.t.Helper()
	assets := map[string][]byte{}
	for _, p := range release.Platforms {
		assets[p.Archive()] = archive(v.t, program)
	}
	assets[release.SumsFile] = sums(assets)
	assets[release.SignatureFile] = v.sign(version, assets[release.SumsFile])
	for _, c := range change {
		c(version, assets)
	}
	v.Add(releasetest.Release{Repo: repo, Tag: version, Assets: assets})
}

func (v *vendor) sign(version string, text []byte) []byte {
	v.t.Helper()
	signature, err := release.Sign(v.key, version, text)
	if err != nil {
		v.t.Fatal(err)
	}
	return signature
}

func sums(assets map[string][]byte) []byte {
	var text bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(assets)) {
		fmt.Fprintf(&text, "%s  %s\n", releasetest.Digest(assets[name]), name)
	}
	return text.Bytes()
}

// program is a stand-in that knows its version and keeps a list of how it was
// called. The noise makes the archive as large as a real one.
func program(version string, size int) []byte {
	rng := rand.NewChaCha8(sha256.Sum256([]byte(version)))
	noise := make([]byte, size*3/4)
	_, _ = rng.Read(noise)
	return []byte(`#!/bin/sh
case $1 in
version) echo "gtagsmcp ` + version + ` os/arch go1" ;;
service) echo "unknown command \"service\"" >&2; exit 2 ;;
*) echo "` + version + ` $*" >>"$HOME/ran" ;;
esac
exit
` + base64.StdEncoding.EncodeToString(noise))
}

func archive(t *testing.T, program []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	tw := tar.NewWriter(gz)
	for name, body := range map[string][]byte{"gtagsmcp": program, "LICENSE": []byte("licence"), "README.md": []byte("text")} {
		if err := tw.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(body)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write(body); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(tw.Close(), gz.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// machine is what the installer sees: a home, an environment and a shell that
// reads the script from standard input.
type machine struct {
	t     *testing.T
	home  string
	env   []string
	shell []string
	// enter is put before the command: nothing, or what leads into a root of its own.
	enter []string
}

func newMachine(t *testing.T, env ...string) *machine {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	return &machine{t: t, home: home, shell: []string{"/bin/sh", "-s", "--"},
		env: append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "SHELL=/bin/bash"}, env...)}
}

// result is what a run printed, both streams together, and its exit code.
type result struct {
	text string
	code int
}

func (m *machine) run(script string, args ...string) result {
	m.t.Helper()
	return m.command(script, slices.Concat(m.shell, args)...)
}

func (m *machine) command(stdin string, command ...string) result {
	m.t.Helper()
	line := slices.Concat(m.enter, command)
	cmd := exec.CommandContext(m.t.Context(), line[0], line[1:]...)
	if len(m.enter) == 0 {
		cmd.Env, cmd.Dir = m.env, m.home
	}
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		m.t.Fatalf("%v: %v", line, err)
	}
	return result{string(out), cmd.ProcessState.ExitCode()}
}

// want checks an exit code and that the text has each of parts.
func (r result) want(t *testing.T, code int, parts ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d:\n%s", r.code, code, r.text)
	}
	for _, p := range parts {
		if !strings.Contains(r.text, p) {
			t.Errorf("does not say %q:\n%s", p, r.text)
		}
	}
}

// files lists a folder: every path with its mode and content.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + string(content)
		}
		found[strings.TrimPrefix(path, dir)] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestInstallerCutAtEveryLine: what a broken pipe leaves of the script does
// nothing at all.
func TestInstallerCutAtEveryLine(t *testing.T) {
	v := newVendor(t, releasetest.New(t))
	v.publish("v1.0.0", 100)
	m := newMachine(t, "GTAGS_MCP_MIRROR="+v.URL)
	lines := strings.SplitAfter(v.script(), "\n")
	for n := range len(lines) - 1 { // the last line, behind which stands "", is the closing brace
		cutScript(t, m, strings.Join(lines[:n], ""))
	}
	if n := len(v.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func cutScript(t *testing.T, m *machine, part string) {
	t.Helper()
	r := m.run(part)
	started := strings.Contains(part, "\n{")
	if started && r.code == 0 {
		t.Fatalf("%d bytes of the script exit with 0: %s", len(part), r.text)
	}
	if left := files(t, m.home); len(left) != 1 {
		t.Fatalf("%d bytes of the script leave %v", len(part), left)
	}
}

// TestInstaller is a program's life: it comes, stays, is updated, goes back and
// is removed without a trace.
func TestInstaller(t *testing.T) {
	v := newVendor(t, releasetest.New(t))
	v.publish("v1.0.0", 1000)
	m := newMachine(t, "GTAGS_MCP_MIRROR="+v.URL)
	start := ".bashrc"
	if runtime.GOOS == "darwin" {
		start = ".bash_profile"
	}
	live(t, m, v, start)
}

// pretend puts a uname and a sysctl before the machine's own.
func (m *machine) pretend(kernel, processor, rosetta string) {
	m.t.Helper()
	bin := filepath.Join(filepath.Dir(m.home), "bin")
	for name, text := range map[string]string{
		"uname":  "case $1 in -m) echo " + processor + " ;; -n) echo host ;; *) echo " + kernel + " ;; esac",
		"sysctl": `[ "$2" = hw.optional.arm64 ] && echo ` + rosetta,
	} {
		write(m.t, filepath.Join(bin, name), "#!/bin/sh\n"+text+"\n")
		if err := os.Chmod(filepath.Join(bin, name), 0o755); err != nil {
			m.t.Fatal(err)
		}
	}
	m.env = append(m.env, "PATH="+bin+":"+os.Getenv("PATH"))
}

// TestInstallerOnMacOS goes the ways that only macOS takes, as far as a shell on
// another system can.
func TestInstallerOnMacOS(t *testing.T) {
	v := newVendor(t, releasetest.New(t))
	v.publish("v1.0.0", 1000)
	m := newMachine(t, "GTAGS_MCP_MIRROR="+v.URL)
	m.pretend("Darwin", "x86_64", "1")
	live(t, m, v, ".bash_profile")
	for _, r := range v.Requests() {
		if strings.HasSuffix(r.URL.Path, ".tar.gz") && !strings.HasSuffix(r.URL.Path, "/gtagsmcp-darwin-arm64.tar.gz") {
			t.Errorf("asked for %s", r.URL.Path)
		}
	}
}

// TestInstallerContinues breaks the download where what is missing has 404 as its
// first digits: that number in a message is no answer of the server.
func TestInstallerContinues(t *testing.T) {
	v := newVendor(t, releasetest.New(t))
	v.publish("v1.0.0", 100<<10)
	whole := len(archive(t, program("v1.0.0", 100<<10)))
	v.Use(releasetest.When("objects/gtagsmcp/gtagsmcp/v1.0.0/gtagsmcp-", releasetest.Times(1, releasetest.CutAfter(whole-40450))))
	m := newMachine(t, "GTAGS_MCP_MIRROR="+v.URL)
	m.run(v.script()).want(t, 0, "gtagsmcp v1.0.0: ")
	if got := read(t, filepath.Join(m.home, ".local/bin/gtagsmcp")); got != string(program("v1.0.0", 100<<10)) {
		t.Errorf("the program has %d bytes and is not the one released", len(got))
	}
}

// live goes through it all; start is the start file of bash there.
func live(t *testing.T, m *machine, v *vendor, start string) {
	t.Helper()
	write(t, filepath.Join(m.home, start), "# mine")
	m.give()
	before := files(t, m.home)
	script := v.script()
	target := filepath.Join(m.home, ".local/bin/gtagsmcp")

	m.run(script, "--dry-run").want(t, 0, "would download", "would add a PATH line")
	if after := files(t, m.home); !maps.Equal(before, after) {
		t.Errorf("--dry-run left %v", slices.Sorted(maps.Keys(after)))
	}
	m.run(script).want(t, 0, "gtagsmcp v1.0.0: ", "PATH is set in ")
	if got, want := read(t, target), string(program("v1.0.0", 1000)); got != want {
		t.Errorf("installed %d bytes, want %d", len(got), len(want))
	}
	m.run(script).want(t, 0, "gtagsmcp v1.0.0 is up to date")
	v.publish("v1.10.0", 1000)
	m.run(script, "--no-setup").want(t, 0, "gtagsmcp v1.0.0 -> v1.10.0")
	m.run(script, "--version", "1.0.0").want(t, 0, "gtagsmcp v1.10.0 -> v1.0.0")
	if got := read(t, target); got != string(program("v1.0.0", 1000)) {
		t.Errorf("after going back it is not v1.0.0")
	}
	if got := read(t, filepath.Join(filepath.Dir(target), ".gtagsmcp.previous")); got != string(program("v1.10.0", 1000)) {
		t.Errorf("what is kept for upgrade --rollback is not v1.10.0")
	}
	if got, want := read(t, filepath.Join(m.home, "ran")), strings.Repeat("v1.0.0 setup\n", 3); got != want {
		t.Errorf("the program was called as %q, want %q", got, want)
	}
	if n := strings.Count(read(t, filepath.Join(m.home, start)), "gtagsmcp installer"); n != 1 {
		t.Errorf("%d lines in %s, want 1", n, start)
	}
	m.run(script, "--uninstall", "--purge").want(t, 0, "removed ", "removed the PATH line")
	if got := read(t, filepath.Join(m.home, "ran")); !strings.HasSuffix(got, "v1.0.0 setup --uninstall\n") {
		t.Errorf("--purge called the program as %q", got)
	}
	for _, left := range []string{"ran", ".local/bin", ".local"} {
		if err := os.Remove(filepath.Join(m.home, left)); err != nil {
			t.Errorf("after --uninstall: %v", err)
		}
	}
	if after := files(t, m.home); !maps.Equal(before, after) {
		t.Errorf("--uninstall left %q, before %q", after, before)
	}
	m.run(script, "--uninstall").want(t, 0, "there is no ")
}

// give hands the home to the user who runs the installer.
func (m *machine) give() {
	m.t.Helper()
	if len(m.enter) == 0 || os.Getuid() != 0 {
		return
	}
	if out, err := exec.Command("chown", "-R", "65534:65534", m.home).CombinedOutput(); err != nil {
		m.t.Fatalf("chown: %s", out)
	}
}

func TestInstallerPlatforms(t *testing.T) {
	for _, c := range []struct{ kernel, processor, rosetta, want string }{
		{"Linux", "x86_64", "", "gtagsmcp-linux-amd64.tar.gz"},
		{"Linux", "aarch64", "", "gtagsmcp-linux-arm64.tar.gz"},
		{"Darwin", "arm64", "1", "gtagsmcp-darwin-arm64.tar.gz"},
		{"Darwin", "x86_64", "1", "gtagsmcp-darwin-arm64.tar.gz"},
		{"Darwin", "x86_64", "0", "gtagsmcp-darwin-amd64.tar.gz"},
		{"Darwin", "x86_64", "", "gtagsmcp-darwin-amd64.tar.gz"},
		{"Linux", "i686", "", "the processor i686 is not supported"},
		{"FreeBSD", "amd64", "", "FreeBSD is not supported"},
		{"MINGW64_NT", "x86_64", "", "WSL"},
	} {
		m := newMachine(t)
		m.pretend(c.kernel, c.processor, c.rosetta)
		r := m.run(installer(t), "--dry-run", "--version", "1.2.3")
		code := 1
		if strings.HasPrefix(c.want, "gtagsmcp-") {
			code = 0
		}
		r.want(t, code, c.want)
	}
}

func TestInstallerCommandLine(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--frobnicate"}, "unknown option --frobnicate"},
		{[]string{"--version"}, "--version takes a value"},
		{[]string{"--dir", ""}, "--dir takes a value"},
		{[]string{"--version", "../1.0.0"}, "not ../1.0.0"},
		{[]string{"--version", "newest"}, "--version takes a version"},
		{[]string{"--purge"}, "go with --uninstall"},
	} {
		m := newMachine(t)
		m.run(installer(t), c.args...).want(t, 2, c.want, "--help")
		if left := files(t, m.home); len(left) != 1 {
			t.Errorf("%q left %v", c.args, left)
		}
	}
	newMachine(t).run(installer(t), "--help").want(t, 0, "--require-signature", "GTAGS_MCP_MIRROR")
	m := newMachine(t, "GTAGS_MCP_MIRROR=ftp://example.com")
	m.run(installer(t), "--dry-run").want(t, 1, "GTAGS_MCP_MIRROR must be an http or https URL")
}

// TestInstallerRefuses: a release that is not what it says leaves no file.
func TestInstallerRefuses(t *testing.T) {
	other := newVendor(t, releasetest.New(t))
	asset := fmt.Sprintf("gtagsmcp-%s-%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	v := newVendor(t, releasetest.New(t))
	old := v.sign("v0.9.0", []byte("old"))
	for n, c := range []struct {
		name   string
		change func(string, map[string][]byte)
		want   string
	}{
		{"wrong digest", func(version string, a map[string][]byte) { a[asset] = archive(t, program("v6.6.6", 1000)) }, "not " /* the wanted digest */},
		{"changed list", func(version string, a map[string][]byte) { a[release.SumsFile] = append(a[release.SumsFile], '\n') }, "the signature of checksums.txt is WRONG"},
		{"another's key", func(version string, a map[string][]byte) {
			a[release.SignatureFile] = other.sign(version, a[release.SumsFile])
		}, "the signature of checksums.txt is WRONG"},
		{"replayed", func(version string, a map[string][]byte) {
			a[release.SumsFile], a[release.SignatureFile] = []byte("old"), old
		}, "checksums.txt is signed for 'gtagsmcp v0.9.0', not for "},
		{"no signature", func(version string, a map[string][]byte) { delete(a, release.SignatureFile) }, "cannot download"},
		{"HTML", func(version string, a map[string][]byte) {
			a[release.SignatureFile] = []byte("<!DOCTYPE html><p>log in")
		}, "(an HTML page: the login page of a proxy?)"},
		{"no such asset", func(version string, a map[string][]byte) {
			a[release.SumsFile] = []byte(strings.ReplaceAll(string(a[release.SumsFile]), asset, "other.tar.gz"))
			a[release.SignatureFile] = v.sign(version, a[release.SumsFile])
		}, "has no " + asset},
		{"another version inside", func(version string, a map[string][]byte) {
			a[asset] = archive(t, program("v1.0.0", 10))
			a[release.SumsFile] = sums(map[string][]byte{asset: a[asset]})
			a[release.SignatureFile] = v.sign(version, a[release.SumsFile])
		}, "the new program says it is 'gtagsmcp v1.0.0"},
	} {
		version := fmt.Sprintf("v2.%d.0", n)
		v.publish(version, 1000, c.change)
		m := newMachine(t, "GTAGS_MCP_MIRROR="+v.URL)
		m.run(v.script(), "--version", version).want(t, 1, c.want)
		if left := files(t, filepath.Join(m.home, ".local/bin")); len(left) != 1 {
			t.Errorf("%s: left %v", c.name, slices.Sorted(maps.Keys(left)))
		}
	}
}
