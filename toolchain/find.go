package toolchain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// place is a folder that may hold the programs.
type place struct {
	dir  string
	rung string
	libs string // the folder of shared libraries that came with them, if any
}

// places lists where to look, best first. Relative entries of PATH are left out:
// a server runs inside repositories it does not trust.
func (c Config) places() []place {
	var all []place
	add := func(p place) {
		if filepath.IsAbs(p.dir) && !slices.ContainsFunc(all, func(q place) bool { return q.dir == p.dir }) {
			all = append(all, p)
		}
	}
	if c.BinDir != "" {
		if abs, err := filepath.Abs(c.BinDir); err == nil {
			add(place{dir: abs, rung: RungBinDir})
		}
	}
	if root, err := c.current(); err == nil {
		add(managedPlace(root, RungManaged))
	}
	for _, dir := range filepath.SplitList(c.getenv("PATH")) {
		add(place{dir: filepath.Clean(dir), rung: RungSystem})
	}
	if home := c.userHome(); home != "" {
		add(place{dir: filepath.Join(home, ".local", "bin"), rung: RungSystem})
	}
	return all
}

// managedPlace is the place of a folder in the layout of a generation.
func managedPlace(root, rung string) place {
	return place{dir: filepath.Join(root, "bin"), rung: rung, libs: filepath.Join(root, "lib")}
}

// Program is one proved executable.
type Program struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	libs    string
	langs   []language // ctags only
}

// Finding is one candidate that was looked at. Reason is empty when it was taken.
type Finding struct {
	Program string `json:"program"`
	Path    string `json:"path"`
	Version string `json:"version,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

var (
	gtagsVersion  = regexp.MustCompile(`(?i)^gtags \((?:GNU )?Global\) ([0-9]+(?:\.[0-9]+)+)`)
	globalVersion = regexp.MustCompile(`(?i)^global \((?:GNU )?Global\) ([0-9]+(?:\.[0-9]+)+)`)
	ctagsVersion  = regexp.MustCompile(`^Universal Ctags ([0-9][^ ,(]*)`)
)

// minGlobal is the oldest GNU Global whose databases and plugins are understood.
const minGlobal = "6.5"

// ctagsNames are tried in every folder in this order: a distribution that ships
// several ctags gives Universal Ctags a name of its own.
var ctagsNames = []string{"ctags-universal", "universal-ctags", "uctags", "ctags"}

// scout probes candidates and notes each in its report.
type scout struct {
	cfg    Config
	cache  *proofCache
	report *Report
	alone  bool // a tree that is being installed must stand without the one before it
}

// findGlobal returns the gtags and the global of one folder: they must be of the
// same version, since one writes what the other reads.
func (s *scout) findGlobal(ctx context.Context, p place) (gtags, global *Program) {
	gtagsPath, globalPath := filepath.Join(p.dir, "gtags"), filepath.Join(p.dir, "global")
	if !exists(gtagsPath) {
		return nil, nil
	}
	gtags = s.probe(ctx, p, "gtags", gtagsPath)
	if gtags == nil {
		return nil, nil
	}
	if !exists(globalPath) {
		s.note("gtags", gtagsPath, gtags.Version, "there is no global beside it")
		return nil, nil
	}
	global = s.probe(ctx, p, "global", globalPath)
	if global == nil {
		return nil, nil
	}
	reason := ""
	switch {
	case gtags.Version != global.Version:
		reason = fmt.Sprintf("global beside it has version %s", global.Version)
	case compareVersions(gtags.Version, minGlobal) < 0:
		reason = fmt.Sprintf("older than GNU Global %s", minGlobal)
	}
	s.note("gtags", gtagsPath, gtags.Version, reason)
	if reason != "" {
		return nil, nil
	}
	s.note("global", globalPath, global.Version, "")
	return gtags, global
}

// findCtags returns the first usable Universal Ctags, the folder first first.
func (s *scout) findCtags(ctx context.Context, first place) *Program {
	if s.cfg.NoCtags {
		return nil
	}
	for _, p := range append([]place{first}, s.cfg.places()...) {
		if s.alone && p.rung == RungManaged && p != first {
			continue
		}
		for _, name := range ctagsNames {
			path := filepath.Join(p.dir, name)
			if !exists(path) {
				continue
			}
			if ctags := s.probe(ctx, p, "ctags", path); ctags != nil {
				s.note("ctags", path, ctags.Version, "")
				return ctags
			}
		}
	}
	return nil
}

// probed is what the cache remembers of one probe.
type probed struct {
	Version   string     `json:"version,omitempty"`
	Languages []language `json:"languages,omitempty"`
	Reason    string     `json:"reason,omitempty"`
}

// probe runs a candidate, or recalls an earlier run of the very same file.
// A rejected one is noted.
func (s *scout) probe(ctx context.Context, p place, program, path string) *Program {
	key := cacheKey("probe", program, identity(path), identity(p.libs))
	var got probed
	if !s.cache.get(key, &got) {
		var err error
		if got, err = s.probeFresh(ctx, p, program, path); err != nil {
			got.Reason = strings.TrimPrefix(err.Error(), path+": ")
		}
		if lasting(err) && !isScript(path) {
			s.cache.put(key, got)
		}
	}
	if got.Reason != "" {
		s.note(program, path, got.Version, got.Reason)
		return nil
	}
	return &Program{Path: path, Version: got.Version, libs: p.libs, langs: got.Languages}
}

// lasting tells outcomes that the same file will have again from those of the
// moment: a busy machine, a full memory, a library that is missing today.
func lasting(err error) bool {
	var e *ExecError
	return err == nil || errors.As(err, &e) && e.Cause == CauseWrong
}

func (s *scout) probeFresh(ctx context.Context, p place, program, path string) (got probed, err error) {
	env := baseEnv(s.cfg, p.libs, p.dir)
	switch program {
	case "gtags":
		got.Version, err = checkVersion(ctx, path, env, []string{"--version"}, gtagsVersion)
	case "global":
		got.Version, err = checkVersion(ctx, path, env, []string{"--version"}, globalVersion)
	case "ctags":
		got.Version, got.Languages, err = probeCtags(ctx, path, env)
	}
	return got, err
}

func (s *scout) note(program, path, version, reason string) {
	f := Finding{Program: program, Path: path, Version: version, Reason: reason}
	if !slices.Contains(s.report.Findings, f) {
		s.report.Findings = append(s.report.Findings, f)
	}
}

func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// isScript tells wrappers and shims: what one starts can change although the
// script itself does not, so its probe is never remembered.
func isScript(path string) bool {
	head := readHead(path, 2)
	return len(head) < 2 || string(head) == "#!"
}

// readHead returns the first bytes of a file, fewer when it has fewer.
func readHead(path string, length int) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, length)
	n, _ := io.ReadFull(f, head)
	return head[:n]
}
