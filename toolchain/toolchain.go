package toolchain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Set is a proved toolchain and all that is needed to run it.
type Set struct {
	Gtags, Global Program
	Ctags         *Program // nil: none, see Missing
	// Rung says where gtags came from.
	Rung string
	// Env is the complete environment for gtags and global: add nothing of the
	// process's own to it.
	Env []string
	// CtagsEnv is the complete environment for ctags. Pass --options=NONE first,
	// or ctags reads the project's .ctags.d.
	CtagsEnv []string
	// Label is the record of gtags.conf that was proved.
	Label string
	// Languages are parsed through ctags, beside the native ones.
	Languages []string
	// Fingerprint changes when an index built by this set is stale.
	Fingerprint string
	// Missing says what this set cannot do and why; empty for a complete one.
	Missing []string
	// Home is the managed folder.
	Home string

	uses []*os.File // keep the generations of the programs; see generation.go
}

// Report is what was looked at and tried, for people.
type Report struct {
	Home     string       `json:"home"`
	Rungs    []RungReport `json:"rungs"`
	Findings []Finding    `json:"findings"`
	// Hint is the one thing to do when nothing was found.
	Hint string `json:"hint,omitempty"`
}

// RungReport is the outcome of one rung.
type RungReport struct {
	Rung   string `json:"rung"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

func (r *Report) rung(name string, ok bool, format string, args ...any) {
	r.Rungs = append(r.Rungs, RungReport{Rung: name, OK: ok, Detail: fmt.Sprintf(format, args...)})
}

// String gives one line a rung.
func (r Report) String() string {
	var b strings.Builder
	for _, line := range r.Rungs {
		mark := "failed"
		if line.OK {
			mark = "ok"
		}
		fmt.Fprintf(&b, "%-8s  %-6s  %s\n", line.Rung, mark, line.Detail)
	}
	return b.String()
}

// Locate looks for a toolchain without installing one: first a complete one, else
// the best incomplete one, else nil. What was proved before is not run again.
func Locate(ctx context.Context, cfg Config) (*Set, Report) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, Report{Home: cfg.Home, Hint: err.Error()}
	}
	return cfg.locate(ctx, RungBinDir, RungManaged, RungSystem)
}

// locate looks at the named rungs only.
func (c Config) locate(ctx context.Context, rungs ...string) (*Set, Report) {
	report := Report{Home: c.Home}
	s := &scout{cfg: c, cache: openProofCache(c.Home), report: &report}
	defer func() {
		if err := s.cache.save(); err != nil {
			c.Log.Debug("proofs are not kept", "error", err)
		}
	}()
	var best *Set
	for _, rung := range rungs {
		set, reason := s.lookAt(ctx, rung)
		if set == nil {
			if rung != RungBinDir || c.BinDir != "" {
				report.rung(rung, false, "%s", reason)
			}
			continue
		}
		report.rung(rung, true, "%s", set.describe())
		if len(set.Missing) == 0 {
			return set, report
		}
		if best == nil {
			best = set
		}
	}
	return best, report
}

// lookAt tries every folder of one rung.
func (s *scout) lookAt(ctx context.Context, rung string) (*Set, string) {
	reason := "no gtags found"
	if rung == RungManaged {
		if root, err := s.cfg.current(); err != nil {
			reason = "nothing installed yet in " + s.cfg.Home
		} else {
			reason = "no gtags in " + root
		}
	}
	for _, p := range s.cfg.places() {
		if p.rung != rung {
			continue
		}
		gtags, global := s.findGlobal(ctx, p)
		if gtags == nil {
			if path := filepath.Join(p.dir, "gtags"); exists(path) {
				reason = s.report.reasonFor(path)
			}
			continue
		}
		set, err := s.assemble(ctx, p, gtags, global)
		if err == nil {
			return set, ""
		}
		reason = err.Error()
	}
	return nil, reason
}

func (r *Report) reasonFor(path string) string {
	for i := len(r.Findings) - 1; i >= 0; i-- {
		if f := r.Findings[i]; filepath.Dir(f.Path) == filepath.Dir(path) && f.Reason != "" && f.Program != "ctags" {
			return f.Path + ": " + f.Reason
		}
	}
	return path + " cannot be used"
}

func (set *Set) describe() string {
	text := fmt.Sprintf("GNU Global %s in %s", set.Gtags.Version, filepath.Dir(set.Gtags.Path))
	if set.Ctags != nil {
		text += fmt.Sprintf(", Universal Ctags %s", set.Ctags.Version)
	}
	if len(set.Missing) > 0 {
		text += "; lacking: " + strings.Join(set.Missing, "; ")
	}
	return text
}

// parts are what a set is assembled from.
type parts struct {
	gtags, global, ctags *Program
	plugins              []string // folders that may hold GNU Global's plugins
	helper               string   // the helper under its own name; empty: none
	conf                 string   // path of the gtags.conf
	label                string
}

// assemble adds ctags, plugin, helper and configuration to a pair of gtags and
// global, and proves the whole. What ctags brings is given up, with the reason,
// before the set is.
func (s *scout) assemble(ctx context.Context, p place, gtags, global *Program) (*Set, error) {
	pt := parts{gtags: gtags, global: global, label: LabelNative}
	var missing []string
	pt.ctags = s.findCtags(ctx, p)
	if pt.ctags == nil && !s.cfg.NoCtags {
		missing = append(missing, "Universal Ctags (no kinds, signatures or extents; native languages only): "+s.report.whyNoCtags())
	}
	var langs []language
	if pt.ctags != nil && s.cfg.Helper != "" && s.cfg.Label != LabelNative {
		langs = chooseLanguages(pt.ctags.langs)
		if err := s.addHelper(ctx, &pt); err != nil {
			missing = append(missing, fmt.Sprintf("languages beyond the native ones: %v", err))
		} else {
			pt.label = LabelCtags
		}
	}
	conf := gtagsConf(langs)
	var err error
	if pt.conf, err = writeConf(s.cfg.Home, conf); err != nil {
		return nil, err
	}
	proof := s.prove(ctx, pt, conf)
	if proof != nil && pt.label == LabelCtags && ctx.Err() == nil {
		missing = append(missing, fmt.Sprintf("languages beyond the native ones: %v", proof))
		pt.label, pt.helper = LabelNative, ""
		proof = s.prove(ctx, pt, conf)
	}
	if proof != nil {
		return nil, fmt.Errorf("%s: %w", gtags.Path, proof)
	}
	if s.cfg.Label == LabelCtags && pt.label != LabelCtags {
		return nil, fmt.Errorf("%s: label %s cannot be used: %s", gtags.Path, LabelCtags, strings.Join(missing, "; "))
	}
	return s.set(p, pt, langs, conf, missing), nil
}

func (s *scout) set(p place, pt parts, langs []language, conf string, missing []string) *Set {
	set := &Set{
		Gtags: *pt.gtags, Global: *pt.global, Ctags: pt.ctags,
		Rung: p.rung, Label: pt.label, Missing: missing, Home: s.cfg.Home,
		Env: gtagsEnv(s.cfg, pt), uses: []*os.File{s.cfg.use(pt.gtags), s.cfg.use(pt.ctags)},
	}
	ctagsVersion := ""
	if pt.ctags != nil {
		ctagsVersion = pt.ctags.Version
		set.CtagsEnv = baseEnv(s.cfg, pt.ctags.libs)
	}
	if pt.label == LabelCtags {
		for _, l := range langs {
			set.Languages = append(set.Languages, l.Name)
		}
	}
	set.Fingerprint = digest(pt.gtags.Version, ctagsVersion, digest(conf), pt.label, helperRevision)
	return set
}

func (r *Report) whyNoCtags() string {
	for _, f := range r.Findings {
		if f.Program == "ctags" && f.Reason != "" {
			return f.Path + ": " + f.Reason
		}
	}
	return "no ctags found"
}

// addHelper publishes the helper and finds GNU Global's plugin folders.
func (s *scout) addHelper(ctx context.Context, pt *parts) error {
	var err error
	if pt.helper, err = publishHelper(ctx, s.cfg.Home, s.cfg.Helper); err != nil {
		return err
	}
	pt.plugins = pluginDirs(pt.gtags.Path)
	return nil
}

// pluginDirs guesses from the place of gtags where its plugins are. A build with
// linked-in plugins has none and needs none.
func pluginDirs(gtags string) []string {
	real, err := filepath.EvalSymlinks(gtags)
	if err != nil {
		real = gtags
	}
	var dirs []string
	for _, base := range []string{gtags, real} {
		prefix := filepath.Dir(filepath.Dir(base))
		for _, glob := range []string{"lib/gtags", "lib64/gtags", "lib/*/gtags"} {
			found, _ := filepath.Glob(filepath.Join(globEscape(prefix), glob, pluginName))
			for _, f := range found {
				if dir := filepath.Dir(f); !slices.Contains(dirs, dir) {
					dirs = append(dirs, dir)
				}
			}
		}
	}
	return dirs
}

// globEscape makes a folder's name literal in a glob.
func globEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

// writeConf keeps each configuration under a name made from its content, so that
// two versions of this program never change it under each other.
func writeConf(home, conf string) (string, error) {
	path := filepath.Join(home, "conf", digest(conf)+".conf")
	if have, err := os.ReadFile(path); err == nil && string(have) == conf {
		return path, nil
	}
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = writeFile(path, []byte(conf))
	}
	if err != nil {
		return "", fmt.Errorf("our gtags.conf cannot be written: %w; set GTAGS_MCP_HOME to a folder that you may write to", err)
	}
	return path, nil
}

// digest is a short name for content.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}
