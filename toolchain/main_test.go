package toolchain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/toolchain/ctagscom"
	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch"
)

// The test binary plays every program of the tests: the parser helper by its
// name, a process that installs by an environment variable, and any foreign
// program by a script beside it, since those run with an environment of ours.
const (
	envInstall = "GTAGSMCP_TEST_INSTALL"
	fakeSuffix = ".fake"
)

// shared holds the one real install of this package's tests.
var shared struct {
	sync.Once
	home string
	set  *Set
	err  error
}

func TestMain(m *testing.M) {
	switch script, err := os.ReadFile(os.Args[0] + fakeSuffix); {
	case ctagscom.Invoked(os.Args[0]):
		os.Exit(ctagscom.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	case err == nil:
		os.Exit(playFake(string(script), os.Args[1:]))
	case os.Getenv(envInstall) != "":
		os.Exit(playInstall())
	}
	code := m.Run()
	for _, dir := range []string{shared.home, packages.dir} {
		if dir != "" {
			os.RemoveAll(dir)
		}
	}
	os.Exit(code)
}

// playFake obeys the first line whose word is the last argument, or "*":
//
//	WORD out TEXT | err TEXT | exit N | hang | crash | flood
func playFake(script string, args []string) int {
	last := ""
	if len(args) > 0 {
		last = args[len(args)-1]
	}
	code := 0
	for line := range strings.Lines(script) {
		word, action, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word != "*" && word != last {
			continue
		}
		verb, text, _ := strings.Cut(action, " ")
		switch verb {
		case "out":
			fmt.Println(text)
		case "err":
			fmt.Fprintln(os.Stderr, text)
		case "exit":
			code, _ = strconv.Atoi(text)
		case "hang":
			time.Sleep(time.Hour)
		case "crash":
			syscall.Kill(os.Getpid(), syscall.SIGKILL) // the Go runtime catches the others
			time.Sleep(time.Hour)
		case "flood":
			for {
				io.WriteString(os.Stdout, strings.Repeat("x", 4096))
			}
		}
	}
	return code
}

// fake puts a program at path that obeys script.
func fake(t *testing.T, path, script string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(exe, path); err != nil {
		t.Fatal(err)
	}
	writeTestFile(t, path+fakeSuffix, script, 0o644)
	return path
}

func writeTestFile(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// outcome is what a process that installs prints.
type outcome struct {
	Set *Set   `json:"set"`
	Err string `json:"err"`
}

func playInstall() int {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	if number, err := strconv.Atoi(os.Getenv(envNoFlock)); err == nil {
		if err := refuseFlock(syscall.Errno(number)); err != nil {
			panic(err)
		}
	}
	set, _, err := Install(context.Background(), Config{Helper: exe, Force: os.Getenv(envInstall) == "force"}, nil)
	o := outcome{Set: set}
	if err != nil {
		o.Err = err.Error()
	}
	if err := json.NewEncoder(os.Stdout).Encode(o); err != nil {
		panic(err)
	}
	return 0
}

// bareEnviron is the environment of a machine without our programs: an empty
// HOME and a PATH of links to what the system must give. Releases are looked for
// at an address of this machine where nothing listens.
func bareEnviron(t testing.TB, home string) []string {
	t.Helper()
	bin := t.TempDir()
	for _, tool := range []string{"apt-get", "dpkg", "dpkg-deb", "tar", "sh"} {
		path := (Config{Environ: os.Environ()}).systemTool(tool)
		if path == "" {
			t.Fatalf("these tests need %s", tool)
		}
		if err := os.Symlink(path, filepath.Join(bin, tool)); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"HOME=" + home, "PATH=" + bin, fetch.EnvMirror + "=http://127.0.0.1:9"}
}

func helper(t testing.TB) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// installed returns the toolchain of one real install that all tests share. Its
// home has a blank and a letter beyond ASCII.
func installed(t testing.TB) *Set {
	t.Helper()
	shared.Do(func() {
		dir, err := os.MkdirTemp("", "toolchain-test-*")
		if err != nil {
			shared.err = err
			return
		}
		shared.home = dir
		cfg := Config{Home: filepath.Join(dir, "höme with blank"), Helper: helper(t), Environ: bareEnviron(t, dir)}
		shared.set, _, shared.err = Install(t.Context(), cfg, func(s Step) { t.Logf("%s: %s", s.Rung, s.Text) })
	})
	if shared.err != nil {
		t.Fatalf("installing the toolchain that the tests need: %v", shared.err)
	}
	return shared.set
}

func asExecError(t *testing.T, err error) *ExecError {
	t.Helper()
	var e *ExecError
	if !errors.As(err, &e) {
		t.Fatalf("got error %v, want an ExecError", err)
	}
	return e
}
