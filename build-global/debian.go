package buildglobal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// debianSuites are searched for the pinned archives, newest last.
var debianSuites = []string{"trixie", "forky", "sid"}

// debianKeyring signs all of them.
const debianKeyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// fromDebian downloads s's archive from Debian's source packages into dir.
func (s Source) fromDebian(ctx context.Context, apt *apt, dir string) error {
	records, err := apt.run(ctx, "apt-cache", "showsrc", s.Debian)
	if err != nil {
		return fmt.Errorf("source package %s of Debian: %w", s.Debian, err)
	}
	for _, a := range s.Archives {
		if path := debianPath(records, a.SHA256); path != "" {
			_, err := apt.run(ctx, "/usr/lib/apt/apt-helper", "download-file",
				apt.server+path, filepath.Join(dir, a.File), "SHA256:"+a.SHA256)
			return err
		}
	}
	return fmt.Errorf("%w in Debian's %s (%s)", errNoSource, s.Debian, strings.Join(debianSuites, ", "))
}

// debianPath finds the file with that digest in the output of apt-cache showsrc:
// records with a Directory line and one line "DIGEST SIZE NAME" for each file.
func debianPath(records, sha256 string) string {
	for record := range strings.SplitSeq(records, "\n\n") {
		var dir, name string
		for line := range strings.SplitSeq(record, "\n") {
			fields := strings.Fields(line)
			switch {
			case len(fields) == 2 && fields[0] == "Directory:":
				dir = fields[1]
			case len(fields) == 3 && fields[0] == sha256:
				name = fields[2]
			}
		}
		if dir != "" && name != "" {
			return dir + "/" + name
		}
	}
	return ""
}

// apt is the system's apt with lists of its own in a folder, so the system's
// stay as they are. The server is the one the system is set up with, and the
// suites' signatures are checked.
type apt struct {
	server  string // base URL, ending in a slash
	options []string
}

func newApt(ctx context.Context, state string) (*apt, error) {
	server, err := debianServer(ctx)
	if err != nil {
		return nil, fmt.Errorf("source packages of Debian: %w", err)
	}
	a := &apt{server: server, options: []string{
		"-o", "Dir::State=" + state, "-o", "Dir::State::lists=" + filepath.Join(state, "lists"),
		"-o", "Dir::Cache=" + state, "-o", "Dir::Etc::SourceList=" + filepath.Join(state, "sources.list"),
		"-o", "Dir::Etc::SourceParts=/dev/null",
	}}
	for _, d := range []string{"lists/partial", "archives/partial"} {
		if err := os.MkdirAll(filepath.Join(state, d), 0o755); err != nil {
			return nil, err
		}
	}
	list := filepath.Join(state, "sources.list")
	if _, err := os.Stat(list); err == nil {
		return a, nil // the lists are there from an earlier source
	}
	var b strings.Builder
	for _, suite := range debianSuites {
		fmt.Fprintf(&b, "deb-src [signed-by=%s] %s %s main\n", debianKeyring, server, suite)
	}
	if err := os.WriteFile(list, []byte(b.String()), 0o644); err != nil {
		return nil, err
	}
	if _, err := a.run(ctx, "apt-get", "update"); err != nil {
		return nil, errors.Join(fmt.Errorf("source packages of Debian: %w", err), os.Remove(list))
	}
	return a, nil
}

// debianServer is where this system gets Debian's own packages from.
func debianServer(ctx context.Context) (string, error) {
	out, err := runOutput(ctx, []string{"apt-get", "indextargets", "--format", "$(REPO_URI)", "Label: Debian"}, nil)
	if err != nil {
		return "", fmt.Errorf("apt: %w", err)
	}
	servers := strings.Fields(out)
	if len(servers) == 0 {
		return "", errors.New("apt has no list of Debian's packages yet: run apt-get update once")
	}
	slices.Sort(servers)
	return strings.TrimSuffix(servers[0], "/") + "/", nil
}

func (a *apt) run(ctx context.Context, program string, args ...string) (string, error) {
	return runOutput(ctx, slices.Concat([]string{program}, a.options, args), nil)
}
