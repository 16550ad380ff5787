package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary be the server: "service run MODE".
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "service" && os.Args[2] == "run" {
		os.Exit(serve(os.Getenv("STATE"), os.Args[3]))
	}
	os.Exit(m.Run())
}

func serve(dir, mode string) int {
	if mode == "fail" {
		fmt.Fprintln(os.Stderr, "no good port")
		return 1
	}
	held, err := Hold(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer held.Release()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	if mode == "stubborn" {
		signal.Ignore(syscall.SIGTERM)
	}
	if err := held.Ready("http://127.0.0.1:1/mcp"); err != nil {
		return 1
	}
	select {
	case <-stop:
	case <-time.After(time.Minute):
	}
	return 0
}

// installed returns a plain process service whose server is this test binary.
func installed(t *testing.T, mode string) *process {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{dir: filepath.Join(t.TempDir(), "state")}
	t.Cleanup(func() {
		if r, err := holder(p.dir); err == nil && r != nil {
			_ = p.signal(r, syscall.SIGKILL)
		}
	})
	d := Definition{Program: program, Flags: []string{mode}, Env: []string{"STATE=" + p.dir}}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := publish(p.definition(), text); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestProcessLife(t *testing.T) {
	p, ctx := installed(t, "good"), t.Context()
	if err := p.Start(ctx); err != nil {
		t.Fatal(err)
	}
	first, err := p.State(ctx)
	if err != nil || !first.Running || first.PID == 0 {
		t.Fatalf("after the start: %+v, %v", first, err)
	}
	if url, err := Serving(p.dir); url != "http://127.0.0.1:1/mcp" || err != nil {
		t.Errorf("serves %q, %v", url, err)
	}
	if err := p.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if again, err := p.State(ctx); err != nil || again.PID != first.PID {
		t.Errorf("a second start: %+v, %v; want process %d", again, err, first.PID)
	}
	for range 2 {
		if err := p.Stop(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if st, err := p.State(ctx); err != nil || st.Running {
		t.Errorf("after the stop: %+v, %v", st, err)
	}
	if err := p.Uninstall(ctx); err != nil || p.Installed() {
		t.Errorf("after uninstall: installed %v, %v", p.Installed(), err)
	}
	if err := p.Start(ctx); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("a start without a definition: %v", err)
	}
}

func TestAServerThatDoesNotEndIsKilled(t *testing.T) {
	p := installed(t, "stubborn")
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.end(t.Context(), 200*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if r, err := holder(p.dir); r != nil || err != nil {
		t.Errorf("it lives: %+v, %v", r, err)
	}
}

func TestAServerThatCannotStartSaysWhy(t *testing.T) {
	err := installed(t, "fail").Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "exit status 1") || !strings.Contains(err.Error(), "no good port") {
		t.Errorf("got %v, want exit code and last words", err)
	}
}

// TestANumberUsedAgain: the server was killed and its process number is another
// process's now. That one must not be touched.
func TestANumberUsedAgain(t *testing.T) {
	p := installed(t, "good")
	other := exec.Command("sleep", "60")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = other.Process.Kill(), other.Wait() }()
	host, _ := os.Hostname()
	stale, err := json.Marshal(record{PID: other.Process.Pid, Host: host, URL: "http://127.0.0.1:1/mcp"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, pidName), stale, 0o600); err != nil {
		t.Fatal(err)
	}
	if st, err := p.State(t.Context()); err != nil || st.Running {
		t.Errorf("state %+v, %v; want not running", st, err)
	}
	// Not even when the lock's holder changes under our hands.
	if err := p.signal(&record{PID: other.Process.Pid, Host: host}, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := other.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the other process is gone: %v", err)
	}
}

func TestOneServerAtATime(t *testing.T) {
	p := installed(t, "good")
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var running *RunningError
	if _, err := Hold(p.dir); !errors.As(err, &running) {
		t.Fatalf("got %v, want RunningError", err)
	}
	st, err := p.State(t.Context())
	if err != nil || running.PID != st.PID {
		t.Errorf("the error names process %d, the state %d, %v", running.PID, st.PID, err)
	}
}

func TestElsewhereIsOutOfReach(t *testing.T) {
	p := installed(t, "good")
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(p.dir, pidName), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(fmt.Appendf(nil, "%-1000s\n", `{"pid": 1, "host": "elsewhere"}`), 0); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(t.Context()); err == nil || !strings.Contains(err.Error(), "elsewhere") {
		t.Errorf("got %v, want the other machine's name", err)
	}
}

func TestLogBeginsAnew(t *testing.T) {
	dir := t.TempDir()
	l, err := OpenLog(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.max = 100
	for i := range 60 {
		if _, err := fmt.Fprintf(l, "line %02d ........\n", i); err != nil {
			t.Fatal(err)
		}
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != keptLogs+1 {
		t.Fatalf("%d logs, %v; want %d", len(names), err, keptLogs+1)
	}
	for _, name := range names {
		if info, err := name.Info(); err != nil || info.Size() > 100 {
			t.Errorf("%s has %d bytes", name.Name(), info.Size())
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, logName)); err != nil || !strings.HasSuffix(string(text), "line 59 ........\n") {
		t.Errorf("the log ends %q", text)
	}
}

// manager puts a program in PATH that writes down how it is called and answers
// with a script.
func manager(t *testing.T, name, script string) (calls func() string) {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "calls")
	text := "#!/bin/sh\necho \"$*\" >> '" + log + "'\n" + script
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return func() string {
		text, err := os.ReadFile(log)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		_ = os.Remove(log)
		return string(text)
	}
}

func options(t *testing.T, system string) Options {
	return Options{OS: system, Home: t.TempDir(), UID: 501, User: "jo", Getenv: func(string) string { return "" }}
}

var odd = Definition{
	Program: `/opt/a b/100%/g$x`,
	Flags:   []string{"--allow-root=/src/$HOME/50%", "--port=8400"},
	Env:     []string{`A=b "c" \d <&>`},
}

func TestSystemd(t *testing.T) {
	calls := manager(t, "systemctl", `case "$*" in *MainPID*) printf 'MainPID=42\nResult=success\nActiveState=active\nSubState=running\n';; esac`)
	o, ctx := options(t, "linux"), t.Context()
	m, err := Find(ctx, o, "")
	if err != nil || m.Name() != "systemd" || m.Installed() {
		t.Fatalf("%v, %v", m, err)
	}
	calls()
	if err := m.Install(ctx, odd); err != nil {
		t.Fatal(err)
	}
	want := "--user --no-pager daemon-reload\n--user --no-pager enable gtagsmcp\n--user --no-pager reset-failed gtagsmcp\n--user --no-pager restart gtagsmcp\n"
	if got := calls(); got != want {
		t.Errorf("install calls\n%swant\n%s", got, want)
	}
	unit, err := os.ReadFile(filepath.Join(o.Home, ".config/systemd/user/gtagsmcp.service"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`ExecStart="/opt/a b/100%%/g$x" "service" "run" "--stderr" "--allow-root=/src/$$HOME/50%%" "--port=8400"`,
		`Environment="A=b \"c\" \\d <&>"`,
		"Restart=on-failure",
	} {
		if !strings.Contains(string(unit), "\n"+line+"\n") {
			t.Errorf("the unit lacks\n%s\n%s", line, unit)
		}
	}
	if st, err := m.State(ctx); err != nil || !st.Running || st.PID != 42 || st.Detail != "active (running), success" {
		t.Errorf("state %+v, %v", st, err)
	}
	calls()
	if err := errors.Join(m.Stop(ctx), m.Start(ctx), m.Uninstall(ctx)); err != nil {
		t.Fatal(err)
	}
	want = "--user --no-pager stop gtagsmcp\n--user --no-pager start gtagsmcp\n--user --no-pager disable --now gtagsmcp\n--user --no-pager daemon-reload\n"
	if got := calls(); got != want || m.Installed() {
		t.Errorf("calls\n%swant\n%sinstalled: %v", got, want, m.Installed())
	}
	for _, program := range []string{"/a\nb", `/a"b`, "/a'b", `/a\b`} {
		if err := m.Install(ctx, Definition{Program: program}); err == nil || m.Installed() {
			t.Errorf("%q went into the unit", program)
		}
	}
}

// TestSystemdThatDoesNotAnswer: the program is there, as in containers, but no
// systemd runs.
func TestSystemdThatDoesNotAnswer(t *testing.T) {
	manager(t, "systemctl", "echo 'Failed to connect to bus' >&2; exit 1")
	if m, err := Find(t.Context(), options(t, "linux"), ""); err != nil || m.Name() != "process" {
		t.Errorf("%v, %v; want a plain process", m, err)
	}
	m, err := Find(t.Context(), options(t, "linux"), "systemd")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Install(t.Context(), odd); err == nil || !strings.Contains(err.Error(), "Failed to connect to bus") {
		t.Errorf("got %v, want what systemctl said", err)
	}
}

func TestLinger(t *testing.T) {
	for said, want := range map[string]string{"yes": "stays when you log out", "no": "loginctl enable-linger jo"} {
		manager(t, "loginctl", "echo "+said)
		if got := newSystemd(options(t, "linux")).Advice(t.Context()); !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("linger %s: %q, want …%s…", said, got, want)
		}
	}
}

func TestLaunchd(t *testing.T) {
	calls := manager(t, "launchctl", `
loaded=$(dirname "$0")/loaded
case $1 in
  print) case $2 in gui/*) exit 113;; esac; test -e "$loaded" && printf 'x = {\n\tstate = running\n\tpid = 77\n\tlast exit code = 0\n\tsub = {\n\t\tstate = active\n\t}\n}\n' ;;
  bootstrap) case $2 in gui/*) exit 125;; *) touch "$loaded";; esac ;;
  bootout) rm "$loaded" ;;
esac`)
	o, ctx := options(t, "darwin"), t.Context()
	m, err := Find(ctx, o, "")
	if err != nil || m.Name() != "launchd" || m.Installed() {
		t.Fatalf("%v, %v", m, err)
	}
	if err := m.Install(ctx, odd); err != nil {
		t.Fatal(err)
	}
	if got := calls(); !strings.Contains(got, "bootstrap gui/501 ") || !strings.Contains(got, "bootstrap user/501 ") {
		t.Errorf("without a desktop session the user's domain is tried too; calls\n%s", got)
	}
	if st, err := m.State(ctx); err != nil || !st.Running || st.PID != 77 || st.Detail != "running, last exit code 0" {
		t.Errorf("state %+v, %v", st, err)
	}
	calls()
	if err := m.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if got := calls(); !strings.Contains(got, "kickstart user/501/io.github.gtagsmcp.gtagsmcp") {
		t.Errorf("a loaded agent is started by calls\n%s", got)
	}
	if err := m.Uninstall(ctx); err != nil || m.Installed() {
		t.Errorf("installed %v, %v", m.Installed(), err)
	}
	if got := calls(); !strings.Contains(got, "bootout user/501/io.github.gtagsmcp.gtagsmcp") {
		t.Errorf("uninstall calls\n%s", got)
	}
}

// TestPropertyList reads the list with a parser that knows nothing of its writer.
func TestPropertyList(t *testing.T) {
	l := newLaunchd(options(t, "darwin"))
	text, err := l.plistFile(odd)
	if err != nil {
		t.Fatal(err)
	}
	doc := parsePlist(t, string(text))
	arguments := fmt.Sprint(doc["ProgramArguments"])
	if want := fmt.Sprint(append([]any{odd.Program, "service", "run"}, odd.Flags[0], odd.Flags[1])); arguments != want {
		t.Errorf("arguments %s, want %s", arguments, want)
	}
	if got := doc["EnvironmentVariables"].(map[string]any)["A"]; got != `b "c" \d <&>` {
		t.Errorf("environment %q", got)
	}
	if doc["Label"] != label || doc["RunAtLoad"] != true || doc["KeepAlive"].(map[string]any)["SuccessfulExit"] != false {
		t.Errorf("the list is %v", doc)
	}
}

func TestFindKeepsToWhatIsInstalled(t *testing.T) {
	o := options(t, "linux")
	if err := publish((&process{dir: o.StateDir()}).definition(), []byte("{}")); err != nil {
		t.Fatal(err)
	}
	manager(t, "systemctl", "exit 0")
	if m, err := Find(t.Context(), o, ""); err != nil || m.Name() != "process" {
		t.Errorf("%v, %v; want the installed one", m, err)
	}
	if _, err := Find(t.Context(), o, "launchd"); err == nil || !strings.Contains(err.Error(), "[systemd process]") {
		t.Errorf("got %v, want what there is", err)
	}
	if _, err := Find(context.Background(), Options{OS: "linux", Getenv: o.Getenv}, ""); err == nil {
		t.Error("a service without a home")
	}
}
