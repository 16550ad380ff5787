package upgrade

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Refusal is a program that is not ours to replace, and what to type instead.
type Refusal struct {
	Target string
	Why    string
	Type   string
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("%s %s; to upgrade it, type: %s", r.Target, r.Why, r.Type)
}

// quoted is a path as one word of a shell.
func quoted(path string) string {
	if strings.ContainsAny(path, " \t\n'\"\\$`*?[](){}<>|&;!#~") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// InstallCommand installs a release for one user, without this program.
const InstallCommand = "curl -fsSL https://github.com/gtagsmcp/gtagsmcp/releases/latest/download/install.sh | bash"

// checkTarget returns a Refusal when the file is not to be replaced by us.
func checkTarget(ctx context.Context, target string) error {
	real, err := filepath.EvalSymlinks(target)
	if err != nil {
		return err
	}
	if r := packaged(ctx, target, real); r != nil {
		return r
	}
	var stat unix.Stat_t
	if err := unix.Lstat(target, &stat); err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFLNK:
		return &Refusal{target, "is a symbolic link to " + real + ", and whoever made it may count on that file", quoted(real) + " upgrade"}
	default:
		return fmt.Errorf("%s is no regular file", target)
	}
	if r := foreign(target, int(stat.Uid), os.Geteuid()); r != nil {
		return r
	}
	return writable(target)
}

// foreign refuses the file of another user. Root may replace any, and keeps its owner.
func foreign(target string, owner, self int) error {
	switch {
	case owner == self || self == 0:
		return nil
	case owner == 0:
		return &Refusal{target, "belongs to root", "sudo " + quoted(target) + " upgrade"}
	}
	name := strconv.Itoa(owner)
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
	}
	return &Refusal{target, "belongs to the user " + name, "sudo -u " + name + " " + quoted(target) + " upgrade"}
}

func writable(target string) error {
	dir := filepath.Dir(target)
	err := unix.Access(dir, unix.W_OK|unix.X_OK)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EROFS):
		return &Refusal{target, "lies on a read-only file system", InstallCommand + "   (installs into ~/.local/bin)"}
	}
	return &Refusal{target, fmt.Sprintf("lies in a folder that you may not write to (%v)", err), "sudo " + quoted(target) + " upgrade"}
}

// queryLimit bounds a question to a package manager.
const queryLimit = 10 * time.Second

// manager is a package manager that knows the owner of a file.
type manager struct {
	name string
	ask  []string // the file's path is appended
	// owner reads the answer; empty: nobody owns it.
	owner   func(answer, path string) string
	upgrade string // with the package's name as %s
}

var managers = []manager{
	{"dpkg", []string{"dpkg", "-S"}, dpkgOwner, "sudo apt-get install --only-upgrade %s"},
	{"rpm", []string{"rpm", "-qf", "--queryformat", "%{NAME}\n"}, firstLine, "sudo dnf upgrade %s"},
	{"pacman", []string{"pacman", "-Qqo"}, firstLine, "sudo pacman -Syu %s"},
}

func firstLine(answer, _ string) string {
	line, _, _ := strings.Cut(answer, "\n")
	return strings.TrimSpace(line)
}

// dpkgOwner reads "package: path" or "one, other: path". A path with * or ? in
// it is a pattern to dpkg, so the answer has to name it.
func dpkgOwner(answer, path string) string {
	for line := range strings.Lines(answer) {
		if names, ok := strings.CutSuffix(strings.TrimSpace(line), ": "+path); ok && !strings.HasPrefix(names, "diversion by ") {
			name, _, _ := strings.Cut(names, ",")
			return name
		}
	}
	return ""
}

// packaged refuses what a package manager installed.
func packaged(ctx context.Context, target, real string) error {
	for _, place := range []struct {
		part, name, upgrade string
		anywhere            bool
	}{
		{"/nix/store/", "Nix", "nix profile upgrade gtagsmcp", false},
		{"/gnu/store/", "Guix", "guix upgrade gtagsmcp", false},
		{"/snap/", "Snap", "sudo snap refresh gtagsmcp", false},
		{"/Cellar/", "Homebrew", "brew upgrade gtagsmcp", true}, // its prefix differs
	} {
		if strings.HasPrefix(real, place.part) || place.anywhere && strings.Contains(real, place.part) {
			return &Refusal{target, "was installed by " + place.name, place.upgrade}
		}
	}
	// Where /bin is a link to /usr/bin, packages may have either name.
	paths := []string{real}
	if short, ok := strings.CutPrefix(real, "/usr"); ok {
		paths = append(paths, short)
	}
	for _, m := range managers {
		if _, err := exec.LookPath(m.ask[0]); err != nil {
			continue
		}
		for _, path := range paths {
			answer, err := output(ctx, queryLimit, m.ask[0], append(m.ask[1:], path)...)
			if owner := m.owner(answer, path); err == nil && owner != "" {
				return &Refusal{target, fmt.Sprintf("was installed by %s, as part of the package %s", m.name, owner), fmt.Sprintf(m.upgrade, owner)}
			}
		}
	}
	return nil
}
