package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"
	"time"
)

// systemd runs the service as a unit of the user's own systemd.
type systemd struct {
	unit string // path of the unit
	env  []string
	user string
}

func newSystemd(o Options) *systemd {
	config := o.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(o.Home, ".config")
	}
	s := &systemd{unit: filepath.Join(config, "systemd", "user", Name+".service"), user: o.User}
	// A shell of su or cron has no address of the user's systemd.
	if runtime := "/run/user/" + strconv.Itoa(o.UID); o.Getenv("XDG_RUNTIME_DIR") == "" && exists(runtime) {
		s.env = append(s.env, "XDG_RUNTIME_DIR="+runtime)
	}
	return s
}

func (s *systemd) Name() string    { return "systemd" }
func (s *systemd) Installed() bool { return exists(s.unit) }

// usable reports whether the user's systemd answers. The program alone is also
// there in containers that run no systemd.
func (s *systemd) usable(ctx context.Context) bool {
	if _, err := exec.LookPath("systemctl"); err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := s.systemctl(ctx, "show", "--property=Version")
	return err == nil
}

func (s *systemd) systemctl(ctx context.Context, args ...string) (string, error) {
	return command(ctx, s.env, "systemctl", append([]string{"--user", "--no-pager"}, args...)...)
}

// unitText restarts a server that died, but not one that cannot start: five times a
// minute are enough to see that.
var unitText = template.Must(template.New("unit").Parse(`[Unit]
Description=gtagsmcp, indexed code navigation for agents
Documentation=https://github.com/gtagsmcp/gtagsmcp
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
ExecStart={{.Start}}
{{range .Env}}Environment={{.}}
{{end}}Restart=on-failure
RestartSec=2
TimeoutStopSec=10
NoNewPrivileges=yes

[Install]
WantedBy=default.target
`))

// unitFile is the text of the unit.
func unitFile(d Definition) ([]byte, error) {
	words := append([]string{"service", "run", "--" + StderrFlag}, d.Flags...)
	for _, word := range append(append([]string{d.Program}, words...), d.Env...) {
		if strings.ContainsAny(word, "\n\r\x00") {
			return nil, fmt.Errorf("%q cannot be written into a unit", word)
		}
	}
	if strings.ContainsAny(d.Program, "\"'\\") {
		return nil, fmt.Errorf("systemd starts no program with a quote or backslash in its path: %s; install it elsewhere", d.Program)
	}
	// systemd expands $ in arguments but not in the program's path.
	start := []string{quoteUnit(d.Program)}
	for _, word := range words {
		start = append(start, strings.ReplaceAll(quoteUnit(word), "$", "$$"))
	}
	env := make([]string, len(d.Env))
	for i, assignment := range d.Env {
		env[i] = quoteUnit(assignment)
	}
	var b bytes.Buffer
	err := unitText.Execute(&b, struct {
		Start string
		Env   []string
	}{strings.Join(start, " "), env})
	return b.Bytes(), err
}

// quoteUnit quotes a word for a unit, in which % begins a specifier.
func quoteUnit(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`).Replace(word) + `"`
}

func (s *systemd) Install(ctx context.Context, d Definition) error {
	text, err := unitFile(d)
	if err != nil {
		return err
	}
	if err := publish(s.unit, text); err != nil {
		return err
	}
	for _, args := range [][]string{{"daemon-reload"}, {"enable", Name}, {"reset-failed", Name}, {"restart", Name}} {
		if _, err := s.systemctl(ctx, args...); err != nil && args[0] != "reset-failed" {
			return err
		}
	}
	return nil
}

func (s *systemd) Start(ctx context.Context) error {
	if !s.Installed() {
		return ErrNotInstalled
	}
	_, err := s.systemctl(ctx, "start", Name)
	return err
}

func (s *systemd) Stop(ctx context.Context) error {
	if !s.Installed() {
		return nil
	}
	_, err := s.systemctl(ctx, "stop", Name)
	return err
}

func (s *systemd) State(ctx context.Context) (State, error) {
	st := State{File: s.unit, Log: "journalctl --user -u " + Name}
	if !s.Installed() {
		return st, nil
	}
	said, err := s.systemctl(ctx, "show", Name, "--property=ActiveState,SubState,MainPID,Result")
	if err != nil {
		return st, err
	}
	property := map[string]string{}
	for line := range strings.Lines(said) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		property[key] = value
	}
	st.Running = property["ActiveState"] == "active"
	st.PID, _ = strconv.Atoi(property["MainPID"])
	st.Detail = property["ActiveState"] + " (" + property["SubState"] + "), " + property["Result"]
	return st, nil
}

func (s *systemd) Uninstall(ctx context.Context) error {
	if !s.Installed() {
		return nil
	}
	_, err := s.systemctl(ctx, "disable", "--now", Name)
	if removed := os.Remove(s.unit); !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	_, reload := s.systemctl(ctx, "daemon-reload")
	return errors.Join(err, reload)
}

func (s *systemd) Advice(ctx context.Context) []string {
	said, err := command(ctx, nil, "loginctl", "show-user", s.user, "--property=Linger", "--value")
	if err == nil && said == "yes" {
		return []string{"It starts with the machine and stays when you log out."}
	}
	return []string{"It starts when you log in and ends with your last session; so that it starts with the machine and stays: loginctl enable-linger " + s.user}
}
