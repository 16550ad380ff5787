package toolchain

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// packageManager is one way to get the programs from the distribution. Only
// apt's packages are unpacked without root here; for the others the command to
// type is all we give.
type packageManager struct {
	program string
	command string
}

var packageManagers = []packageManager{
	{"apt-get", "apt-get install global universal-ctags python3-pygments"},
	{"dnf", "dnf install global ctags python3-pygments"},
	{"yum", "yum install global ctags python3-pygments"},
	{"zypper", "zypper install global universal-ctags python3-Pygments"},
	{"pacman", "pacman -S global ctags python-pygments"},
	{"apk", "apk add global universal-ctags py3-pygments"},
	{"brew", "brew install global universal-ctags"},
}

// systemDirs are searched for system tools after PATH: a server started from a
// desktop has a short one.
var systemDirs = []string{"/usr/bin", "/bin", "/usr/sbin", "/sbin", "/opt/homebrew/bin", "/usr/local/bin"}

// systemTool returns the path of a tool of the system, empty when it is not there.
func (c Config) systemTool(name string) string {
	for _, dir := range c.toolDirs() {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	return ""
}

// toolDirs are searched for system tools: the folders of PATH that do not depend on
// where we run, then systemDirs.
func (c Config) toolDirs() []string {
	return slices.DeleteFunc(append(filepath.SplitList(c.getenv("PATH")), systemDirs...), func(dir string) bool {
		return !filepath.IsAbs(dir)
	})
}

// packageManager returns the first one that this system has.
func (c Config) packageManager() (packageManager, bool) {
	for _, m := range packageManagers {
		if c.systemTool(m.program) != "" {
			return m, true
		}
	}
	return packageManager{}, false
}

// packageCommand is what an administrator would type.
func (c Config) packageCommand() string {
	if m, ok := c.packageManager(); ok {
		return m.command
	}
	return "your package manager's install of GNU Global and Universal Ctags"
}

// unpackable returns the package manager when its packages can be unpacked here.
func (c Config) unpackable() (packageManager, error) {
	m, ok := c.packageManager()
	switch {
	case !ok:
		var names []string
		for _, m := range packageManagers {
			names = append(names, m.program)
		}
		return m, fmt.Errorf("no package manager found (looked for %s)", strings.Join(names, ", "))
	case m.program != "apt-get":
		return m, fmt.Errorf("%s was found, but this version unpacks packages of apt only; type: %s", m.program, m.command)
	}
	return m, nil
}

// installDistro is the rung of the distribution's packages.
func installDistro(ctx context.Context, c Config, staged string, step stepper) (string, error) {
	if _, err := c.unpackable(); err != nil {
		return "", err
	}
	return newApt(c, staged, step).install(ctx)
}
