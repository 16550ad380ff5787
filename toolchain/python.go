package toolchain

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Python is an interpreter that can import Pygments.
type Python struct {
	Path     string // the real interpreter, not a shim
	Version  string
	Pygments string // version of Pygments
	// PygmentsPath is the folder to put into PYTHONPATH; empty when the
	// interpreter finds Pygments by itself.
	PygmentsPath string
}

// pythonProbe prints the interpreter that really runs, its version, and the
// version of Pygments, or no third line.
const pythonProbe = "import sys\nprint(sys.executable)\nprint('%d.%d.%d' % sys.version_info[:3])\n" +
	"try:\n import pygments, pygments.lexers\n print(pygments.__version__)\nexcept ImportError:\n pass\n"

// FindPython returns the first python3 that can import Pygments, its own or the
// one that was unpacked into the managed home, or an error that says what was
// wrong with each.
func FindPython(ctx context.Context, cfg Config) (*Python, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	managed := ""
	if root, err := cfg.current(); err == nil {
		if dir := filepath.Join(root, "share", "python"); exists(filepath.Join(dir, "pygments", "__init__.py")) {
			managed = dir
		}
	}
	var reasons []string
	for _, dir := range cfg.toolDirs() {
		path := filepath.Join(dir, "python3")
		if !exists(path) {
			continue
		}
		py, err := probePython(ctx, cfg, path, managed)
		if err == nil {
			return py, nil
		}
		if reason := err.Error(); len(reasons) == 0 || reasons[len(reasons)-1] != reason {
			reasons = append(reasons, reason)
		}
	}
	if reasons == nil {
		return nil, fmt.Errorf("no python3 found")
	}
	return nil, fmt.Errorf("no python3 that can import pygments: %s", strings.Join(reasons, "; "))
}

// probePython resolves a shim once, with the user's environment, which a shim
// needs, and then asks the real interpreter in a clean one.
func probePython(ctx context.Context, cfg Config, path, managed string) (*Python, error) {
	real, err := askPython(ctx, path, withoutPython(cfg.Environ))
	if err != nil {
		return nil, err
	}
	own, err := askPython(ctx, real.Path, baseEnv(cfg, ""))
	if err != nil {
		return nil, err
	}
	if own.Pygments != "" {
		return own, nil
	}
	if managed != "" {
		with, err := askPython(ctx, real.Path, append(baseEnv(cfg, ""), "PYTHONPATH="+managed))
		if err == nil && with.Pygments != "" {
			with.PygmentsPath = managed
			return with, nil
		}
	}
	return nil, fmt.Errorf("%s (Python %s) has no pygments", real.Path, real.Version)
}

func askPython(ctx context.Context, path string, env []string) (*Python, error) {
	out, err := output(ctx, command{path: path, args: []string{"-c", pythonProbe}, env: env, dir: os.TempDir()})
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) < 2 || !filepath.IsAbs(lines[0]) {
		return nil, &ExecError{Path: path, Cause: CauseWrong, Detail: fmt.Sprintf("it says %q", firstLine([]byte(out)))}
	}
	py := &Python{Path: lines[0], Version: lines[1]}
	if len(lines) > 2 {
		py.Pygments = lines[2]
	}
	return py, nil
}

func withoutPython(environ []string) []string {
	var keep []string
	for _, kv := range environ {
		if !strings.HasPrefix(kv, "PYTHON") && !strings.HasPrefix(kv, "LD_") {
			keep = append(keep, kv)
		}
	}
	return keep
}
