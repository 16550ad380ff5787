//go:build matrix

package upgrade

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"aead.dev/minisign"

	"github.com/gtagsmcp/gtagsmcp/bootstrap/release"
	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch/releasetest"
)

// The tests of this file run real programs as a user does, who sees exit codes
// and what is printed, and take minutes: make test-upgrade.

// matrix is a world whose releases are real programs.
type matrix struct {
	*world
	programs map[string][]byte // by version
	archives map[string][]byte
	home     string
}

const oldTag, newTag = "v1.0.0", "v1.1.0"

func newMatrix(t *testing.T) *matrix {
	t.Helper()
	b, err := built()
	if err != nil {
		t.Fatal(err)
	}
	m := &matrix{world: newWorld(t), programs: b.programs, archives: b.archives, home: t.TempDir()}
	m.public, m.private = b.public, b.private
	for _, tag := range []string{oldTag, newTag} {
		m.world.publish(tag, m.release(tag))
	}
	m.put(oldTag)
	return m
}

type build struct {
	public   minisign.PublicKey
	private  minisign.PrivateKey
	programs map[string][]byte
	archives map[string][]byte
}

// built links the programs once for all tests, as cmd/release does.
var built = sync.OnceValues(func() (b build, err error) {
	if b.public, b.private, err = minisign.GenerateKey(nil); err != nil {
		return b, err
	}
	dir, err := os.MkdirTemp("", "gtagsmcp-matrix-")
	if err != nil {
		return b, err
	}
	defer os.RemoveAll(dir)
	b.programs, b.archives = map[string][]byte{}, map[string][]byte{}
	for _, tag := range []string{oldTag, newTag} {
		const module = "github.com/gtagsmcp/gtagsmcp"
		path := filepath.Join(dir, tag)
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags",
			"-s -w -buildid= -X main.released="+tag+" -X "+module+"/bootstrap.trialKey="+b.public.String(), "-o", path, module+"/cmd/gtagsmcp")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return b, fmt.Errorf("go build: %w\n%s", err, out)
		}
		if b.programs[tag], err = os.ReadFile(path); err != nil {
			return b, err
		}
		if b.archives[tag], err = pack(map[string]string{release.Program: string(b.programs[tag]), "LICENSE": "MIT", "README.md": "#"}); err != nil {
			return b, err
		}
	}
	return b, nil
})

// release is a good one.
func (m *matrix) release(tag string) map[string][]byte {
	m.Helper()
	a := map[string][]byte{archiveName: bytes.Clone(m.archives[tag])}
	m.sign(a, tag)
	return a
}

// put makes a version the program, without a trace of upgrades.
func (m *matrix) put(tag string) {
	m.Helper()
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		m.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(m.dir, e.Name())); err != nil {
			m.Fatal(err)
		}
	}
	if err := os.WriteFile(m.target, m.programs[tag], 0o755); err != nil {
		m.Fatal(err)
	}
}

func (m *matrix) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(m.Context(), m.target, args...)
	cmd.Env = append(os.Environ(), "GTAGS_MCP_MIRROR="+m.server.URL, "GTAGS_MCP_HOME="+m.home, "CI=")
	return cmd
}

// upgrade runs the program's own upgrade.
func (m *matrix) upgrade(args ...string) (exit int, printed string) {
	m.Helper()
	return m.run(m.command(append([]string{"upgrade"}, args...)...))
}

func (m *matrix) run(cmd *exec.Cmd) (exit int, printed string) {
	m.Helper()
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		m.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// whole returns which version the program's file is, and fails when it is not
// byte by byte one of the two, or does not start.
func (m *matrix) whole() string {
	m.Helper()
	content, err := os.ReadFile(m.target)
	if err != nil {
		m.Fatal(err)
	}
	for tag, program := range m.programs {
		if bytes.Equal(content, program) {
			if got, err := started(m.Context(), m.target); err != nil || got != tag {
				m.Fatalf("%s started: %q, %v", tag, got, err)
			}
			return tag
		}
	}
	m.Fatalf("%s is neither the old nor the new program: %d bytes, %x", m.target, len(content), sha256.Sum256(content))
	return ""
}

// want holds the program against a version and looks for leftovers.
func (m *matrix) want(tag string) {
	m.Helper()
	if got := m.whole(); got != tag {
		m.Errorf("the program is %s, want %s", got, tag)
	}
	m.noLeftovers()
}

func (m *matrix) noLeftovers() {
	m.Helper()
	if left := m.workplaces(); len(left) > 0 {
		m.Errorf("left behind: %v", left)
	}
}

func TestMatrixUpDownBack(t *testing.T) {
	m := newMatrix(t)
	m.step("check", []string{"--check"}, 5, newTag+" is out, this is "+oldTag, oldTag)
	m.step("up", nil, 0, oldTag+" -> "+newTag, newTag)
	m.step("check again", []string{"--check"}, 0, "the newest release is "+newTag, newTag)
	m.step("up again", nil, 0, "up to date: "+newTag, newTag)
	m.step("down", []string{"--version", oldTag}, 0, newTag+" -> "+oldTag, oldTag)
	m.step("back", []string{"--rollback"}, 0, oldTag+" -> "+newTag, newTag)
	m.step("forth", []string{"--rollback"}, 0, newTag+" -> "+oldTag, oldTag)
	m.step("nowhere", []string{"--version", "v9.9.9"}, 1, "404", oldTag)
	m.step("misuse", []string{"--version", "latest"}, 2, `"latest" is no version`, oldTag)
	m.put(newTag)
	m.step("no way back", []string{"--rollback"}, 1, "there is no program before this one", newTag)
}

func (m *matrix) step(name string, args []string, exit int, want, tag string) {
	m.Helper()
	began := time.Now()
	got, printed := m.upgrade(args...)
	if got != exit || !strings.Contains(printed, want) {
		m.Errorf("%s: exit %d, want %d; printed %q, want %q", name, got, exit, printed, want)
	}
	m.want(tag)
	m.Logf("%-14s exit %d in %v: %s", name, got, time.Since(began).Round(time.Millisecond), lastLine(printed))
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if i := len(lines) - 1; strings.HasPrefix(lines[i], "to go back") && i > 0 {
		return lines[i-1]
	}
	return lines[len(lines)-1]
}

func TestMatrixDamage(t *testing.T) {
	m := newMatrix(t)
	other := newWorld(t)
	good := m.release(newTag)
	for _, c := range []struct {
		name   string
		damage func(a map[string][]byte)
		want   string
	}{
		{"tampered file", func(a map[string][]byte) { a[archiveName][len(a[archiveName])/2] ^= 1 }, "wrong SHA-256"},
		{"tampered sums", func(a map[string][]byte) { a[release.SumsFile][3] ^= 1 }, "was changed"},
		{"wrong key", func(a map[string][]byte) { other.signText(a, newTag, a[release.SumsFile]) }, "this program trusts"},
		{"replayed", func(a map[string][]byte) { maps.Copy(a, m.release(oldTag)) }, "an old release under a new name?"},
		{"cut file", func(a map[string][]byte) { a[archiveName] = a[archiveName][:len(a[archiveName])/2] }, "wrong SHA-256"},
		{"cut and signed", func(a map[string][]byte) {
			a[archiveName] = a[archiveName][:len(a[archiveName])/2]
			m.sign(a, newTag)
		}, "archive refused"},
		{"flipped, signed", func(a map[string][]byte) {
			program := bytes.Clone(m.programs[newTag])
			for i := range 64 { // in the code of the start
				program[4096+i] ^= 0xff
			}
			copy(program, "not ELF")
			maps.Copy(a, m.assets(newTag, string(program)))
		}, "does not start"},
	} {
		damaged := map[string][]byte{}
		for name, content := range good {
			damaged[name] = bytes.Clone(content)
		}
		c.damage(damaged)
		m.world.publish(newTag, damaged) // newer than the good one of this tag
		m.step(c.name, nil, 1, c.want, oldTag)
	}
	m.world.publish(newTag, good)
	for cut := 64 << 10; cut < len(good[archiveName]); cut += 1 << 20 {
		m.put(oldTag)
		m.server.Use(releasetest.When(archiveName, releasetest.Times(1, releasetest.CutAfter(cut))))
		m.step(fmt.Sprintf("cut at %d kB", cut>>10), nil, 0, oldTag+" -> "+newTag, newTag)
	}
}

// TestMatrixRunning upgrades the program while it serves, and asks it again.
func TestMatrixRunning(t *testing.T) {
	m := newMatrix(t)
	cmd := m.command("serve", "--no-auto-setup")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	m.step("while serving", nil, 0, oldTag+" -> "+newTag, newTag)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	in.Close()
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), `"version":"`+oldTag+`"`) {
		t.Errorf("the server that ran: %v, %s%s", err, out.String(), errOut.String())
	}
}

func TestMatrixSymlink(t *testing.T) {
	m := newMatrix(t)
	link := filepath.Join(t.TempDir(), "gtagsmcp")
	if err := os.Symlink(m.target, link); err != nil {
		t.Fatal(err)
	}
	cmd := m.command("upgrade")
	cmd.Path, cmd.Args[0] = link, link
	exit, printed := m.run(cmd)
	if exit != 1 || !strings.Contains(printed, link+" is a symbolic link to "+m.target) || !strings.Contains(printed, "type: "+m.target+" upgrade") {
		t.Errorf("exit %d: %s", exit, printed)
	}
	cmd = m.command("upgrade")
	cmd.Path, cmd.Args[0] = link, "gtagsmcp" // as a shell finds it
	cmd.Env = append(cmd.Env, "PATH="+filepath.Dir(link)+":"+os.Getenv("PATH"))
	if exit, printed = m.run(cmd); exit != 1 || !strings.Contains(printed, "symbolic link") {
		t.Errorf("by PATH: exit %d: %s", exit, printed)
	}
	m.want(oldTag)
	t.Logf("%s", lastLine(printed))
}

// TestMatrixOneAtATime starts ten upgrades at once.
func TestMatrixOneAtATime(t *testing.T) {
	m := newMatrix(t)
	exits := map[int]int{}
	var all [10]*exec.Cmd
	for i := range all {
		all[i] = m.command("upgrade")
		if err := all[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, cmd := range all {
		cmd.Wait() //nolint:errcheck // the exit codes are counted
		exits[cmd.ProcessState.ExitCode()]++
	}
	if exits[0] == 0 || exits[0]+exits[4] != len(all) {
		t.Errorf("exit codes %v, want at least one 0 and else 4", exits)
	}
	m.want(newTag)
	t.Logf("exit codes: %v", exits)
}

// TestMatrixKills kills upgrades, up and down in turn: 20 at random moments, and
// some at those where the folder of the program just changed.
func TestMatrixKills(t *testing.T) {
	m := newMatrix(t)
	began := time.Now()
	m.step("undisturbed", nil, 0, oldTag+" -> "+newTag, newTag)
	took := time.Since(began)
	moments := map[string]int{}
	for range 20 {
		moments[m.kill(func(<-chan struct{}) { time.Sleep(time.Duration(rand.Float64() * 1.5 * float64(took))) })]++
	}
	t.Logf("20 kills at random moments: %v", moments)
	if moments["in the workplace"] == 0 {
		t.Error("no kill met an upgrade at work")
	}
	for _, name := range []string{stagingPrefix + "*/" + archiveName, stagingPrefix + "*/unpacked", ".gtagsmcp.previous", "gtagsmcp"} {
		moments = map[string]int{}
		for range 3 {
			moments[m.kill(func(ended <-chan struct{}) { m.awaitChange(name, ended) })]++
		}
		t.Logf("3 kills when %s changed: %v", name, moments)
		if name == "gtagsmcp" && moments["after the rename"]+moments["after the end"] != 3 {
			t.Error("the file changed, and the program did not")
		}
	}
	to := map[string]string{oldTag: newTag, newTag: oldTag}[m.whole()]
	m.step("and then", []string{"--version", to}, 0, " -> "+to, to)
}

// kill starts an upgrade, kills it when wait returns, checks what is there, and
// says when the kill came.
func (m *matrix) kill(wait func(ended <-chan struct{})) (moment string) {
	m.Helper()
	from := m.whole()
	args := []string{"upgrade"}
	if from == newTag {
		args = append(args, "--version", oldTag)
	}
	before := m.workplaces()
	cmd := m.command(args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		m.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait() //nolint:errcheck // killed
		close(ended)
	}()
	wait(ended)
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // it may have ended
	<-ended
	left := m.workplaces()
	switch after := m.whole(); {
	case !cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled():
		return "after the end"
	case after != from:
		return "after the rename"
	case len(left) > 0 && !slices.Equal(left, before):
		return "in the workplace"
	}
	return "before the workplace"
}

func (m *matrix) workplaces() []string {
	found, err := filepath.Glob(filepath.Join(m.dir, stagingPrefix+"*"))
	if err != nil {
		m.Fatal(err)
	}
	return found
}

// awaitChange returns as soon as a pattern in the program's folder matches
// something else than now, or when the upgrade has ended: where the present
// program has the name of the one before already, nothing changes.
func (m *matrix) awaitChange(pattern string, ended <-chan struct{}) {
	identity := func() (all []string) {
		found, _ := filepath.Glob(filepath.Join(m.dir, pattern))
		for _, path := range found {
			if info, err := os.Lstat(path); err == nil { // the number of an inode is used again
				all = append(all, fmt.Sprint(path, info.Sys().(*syscall.Stat_t).Ino, info.ModTime()))
			}
		}
		return all
	}
	before := identity()
	for now := before; len(now) == 0 || slices.Equal(now, before); now = identity() {
		select {
		case <-ended:
			return
		default:
		}
	}
}

// inNamespace runs a shell script with a mount table of its own.
func (m *matrix) inNamespace(script string, args ...string) (exit int, printed string) {
	m.Helper()
	cmd := m.command()
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", script, "sh"}, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	return m.run(cmd)
}

// TestMatrixDiskFull upgrades on file systems that are too small by more and less.
func TestMatrixDiskFull(t *testing.T) {
	m := newMatrix(t)
	small, digest := t.TempDir(), releasetest.Digest(m.programs[oldTag])
	const script = `mount -t tmpfs -o size=$1 none "$2" && cp "$3" "$2/gtagsmcp" || exit 99
"$2/gtagsmcp" upgrade; code=$?
sha256sum <"$2/gtagsmcp"; "$2/gtagsmcp" version; echo "left: $(ls -A "$2")."; exit $code`
	whole := len(m.programs[oldTag])
	archive := len(m.archives[newTag])
	for name, size := range map[string]int{
		"no room at all":           whole + 64<<10,
		"half the archive":         whole + archive/2,
		"the archive alone":        whole + archive + 64<<10,
		"half the program":         whole + archive + whole/2,
		"all but the last 200 kB ": whole + archive + whole - 200<<10,
	} {
		exit, printed := m.inNamespace(script, fmt.Sprint(size), small, m.target)
		for _, want := range []string{digest, "gtagsmcp " + oldTag, "left: gtagsmcp.", "no space left on device"} {
			if !strings.Contains(printed, want) {
				t.Errorf("%s: %q is not in %s", name, want, printed)
			}
		}
		if exit != 1 {
			t.Errorf("%s: exit %d", name, exit)
		}
		t.Logf("%-26s %s", name, strings.SplitN(printed[strings.Index(printed, "gtagsmcp:"):], "\n", 2)[0])
	}
	exit, printed := m.inNamespace(script, fmt.Sprint(2*whole+archive+1<<20), small, m.target)
	if exit != 0 || !strings.Contains(printed, "gtagsmcp "+newTag) {
		t.Errorf("with room: exit %d: %s", exit, printed)
	}
}

func TestMatrixReadOnly(t *testing.T) {
	m := newMatrix(t)
	exit, printed := m.inNamespace(`mount -t tmpfs none "$1" && cp "$2" "$1/gtagsmcp" && mount -o remount,ro "$1" || exit 99
"$1/gtagsmcp" upgrade; code=$?; "$1/gtagsmcp" version; exit $code`, t.TempDir(), m.target)
	if exit != 1 || !strings.Contains(printed, "lies on a read-only file system; to upgrade it, type: curl") || !strings.Contains(printed, "gtagsmcp "+oldTag) {
		t.Errorf("exit %d: %s", exit, printed)
	}
	t.Logf("%s", printed)
}

// TestMatrixDpkg asks the real dpkg about a file that it installed.
func TestMatrixDpkg(t *testing.T) {
	err := checkTarget(t.Context(), "/usr/bin/env")
	wantRefusal(t, err, "/usr/bin/env", "installed by dpkg, as part of the package coreutils", "apt-get install --only-upgrade coreutils")
	err = checkTarget(t.Context(), "/bin/cat")
	wantRefusal(t, err, "/bin/cat", "package coreutils", "coreutils")
}

// TestMatrixToolchainFollows: the new program looks for the archive it goes with
// after the upgrade has ended.
func TestMatrixToolchainFollows(t *testing.T) {
	m := newMatrix(t)
	generation := filepath.Join("toolchains", "6.6.0-1-0123456789abcdef")
	if err := errors.Join(os.MkdirAll(filepath.Join(m.home, generation), 0o755), os.Symlink(generation, filepath.Join(m.home, "current"))); err != nil {
		t.Fatal(err)
	}
	m.step("up", nil, 0, oldTag+" -> "+newTag, newTag)
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		for _, r := range m.server.Requests() {
			if strings.Contains(r.URL.Path, "/download/toolchain-") {
				t.Logf("asked for %s", r.URL.Path)
				return
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Error("nobody asked for the toolchain of the new program")
}

// TestMatrixServiceRestarts: the service that ran before the upgrade runs the new
// program after it.
func TestMatrixServiceRestarts(t *testing.T) {
	m := newMatrix(t)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("GTAGS_MCP_AUTO_SETUP", "0")
	port := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return port
	}()
	if exit, printed := m.run(m.command("service", "install", "--manager", "process", "--port", port, "--root", t.TempDir())); exit != 0 {
		t.Fatalf("install: exit %d: %s", exit, printed)
	}
	t.Cleanup(func() { exec.Command(m.target, "service", "uninstall").Run() }) //nolint:errcheck // it may be gone already
	running := func() string {
		exit, printed := m.run(m.command("service", "status"))
		found := regexp.MustCompile(`running, process (\d+)`).FindStringSubmatch(printed)
		if exit != 0 || found == nil {
			t.Fatalf("status: exit %d: %s", exit, printed)
		}
		content, err := os.ReadFile("/proc/" + found[1] + "/exe")
		if err != nil {
			t.Fatal(err)
		}
		for tag, program := range m.programs {
			if bytes.Equal(content, program) {
				return tag
			}
		}
		return "none of the two"
	}
	if got := running(); got != oldTag {
		t.Fatalf("the service runs %s before the upgrade", got)
	}
	m.step("up", nil, 0, "process: restarted, serves http://127.0.0.1:"+port, newTag)
	if got := running(); got != newTag {
		t.Errorf("the service runs %s after the upgrade", got)
	}
	m.step("back", []string{"--rollback"}, 0, "process: restarted", oldTag)
	if got := running(); got != oldTag {
		t.Errorf("the service runs %s after going back", got)
	}
}

// TestMatrixNotice runs commands on a terminal that script(1) makes.
func TestMatrixNotice(t *testing.T) {
	m := newMatrix(t)
	onTerminal := func(env ...string) (string, time.Duration) {
		cmd := m.command()
		cmd.Env = append(cmd.Env, env...)
		path, err := exec.LookPath("script")
		if err != nil {
			t.Fatal(err)
		}
		cmd.Path, cmd.Args = path, []string{"script", "-qec", m.target + " config json", "/dev/null"}
		began := time.Now()
		exit, printed := m.run(cmd)
		if exit != 0 {
			t.Errorf("exit %d: %s", exit, printed)
		}
		return printed, time.Since(began)
	}
	told := newTag + " is out, this is " + oldTag
	m.server.Use(releasetest.Trickle(1, time.Second)) // a look takes long, and no command waits for it
	if printed, _ := onTerminal("GTAGS_MCP_NO_UPDATE_CHECK=1"); strings.Contains(printed, "is out") {
		t.Errorf("told although it is turned off: %s", printed)
	}
	if n := len(m.server.Requests()); n != 0 {
		t.Errorf("%d requests although it is turned off", n)
	}
	printed, took := onTerminal()
	if strings.Contains(printed, "is out") {
		t.Errorf("told before anybody looked: %s", printed)
	}
	state := filepath.Join(m.home, "upgrade.json")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if text, err := os.ReadFile(state); err == nil && bytes.Contains(text, []byte(newTag)) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the look in the background brought nothing")
		}
	}
	if exit, printed := m.run(m.command("config", "json")); exit != 0 || strings.Contains(printed, "is out") {
		t.Errorf("told without a terminal: %s", printed)
	}
	printed, _ = onTerminal()
	if strings.Count(printed, told) != 1 {
		t.Errorf("not told on a terminal: %s", printed)
	}
	if printed, _ := onTerminal(); strings.Contains(printed, "is out") {
		t.Errorf("told again the same day: %s", printed)
	}
	t.Logf("the command that started the look took %v; told: %s", took.Round(time.Millisecond), strings.SplitN(printed, "\n", 2)[0])
}
