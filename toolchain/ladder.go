package toolchain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Step is how far an install is.
type Step struct {
	Rung string    `json:"rung,omitempty"`
	Text string    `json:"text"`
	At   time.Time `json:"at"`
	// Done of Total bytes or files; zero where the step has no such measure.
	Done  int64 `json:"done,omitempty"`
	Total int64 `json:"total,omitempty"`
}

// stepper takes what an install is at and, where the step has a measure, how far.
type stepper func(text string, done, total int64)

func (s stepper) say(text string) { s(text, 0, 0) }

// stepsOf passes the steps of one rung on.
func stepsOf(rung string, progress func(Step)) stepper {
	return func(text string, done, total int64) { progress(Step{rung, text, time.Now(), done, total}) }
}

// InstallError is an install on which every rung failed.
type InstallError struct{ Report Report }

func (e *InstallError) Error() string {
	var b strings.Builder
	b.WriteString("no toolchain could be installed:")
	for _, r := range e.Report.Rungs {
		if !r.OK {
			fmt.Fprintf(&b, "\n  %s: %s", r.Rung, r.Detail)
		}
	}
	if e.Report.Hint != "" {
		b.WriteString("\n" + e.Report.Hint)
	}
	return b.String()
}

// installer stages a toolchain in a folder of the layout of a generation and
// returns the name under which to publish it. The ladder proves and publishes.
type installer struct {
	rung    string
	plan    func(Config) (string, error)
	install func(ctx context.Context, c Config, staged string, step stepper) (id string, err error)
}

// ladder lists the rungs that install, in the order in which they are climbed.
func (c Config) ladder() []installer {
	if c.From != "" {
		return []installer{{RungArchive, planArchive, installArchive}}
	}
	net := &network{}
	return append(prebuilt{net}.installers(), sourceBuild{net}.installer(),
		installer{RungDistro, planDistro, installDistro})
}

// Install returns the toolchain of Locate when it is complete, else climbs the
// ladder until a rung gives a complete one. It never removes what worked: a rung
// is proved in its staging folder and then published by rename. When no rung
// succeeds an incomplete toolchain that was located is still returned.
//
// One process installs at a time. The others wait, pass on the steps of the one
// that works, and take over its outcome.
func Install(ctx context.Context, cfg Config, progress func(Step)) (*Set, Report, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, Report{Home: cfg.Home, Hint: err.Error()}, err
	}
	if progress == nil {
		progress = func(Step) {}
	}
	onlyLook := cfg.Rung == RungManaged || cfg.Rung == RungSystem
	set, report := cfg.lookFirst(ctx)
	switch {
	case set != nil && (set.complete() || onlyLook):
		return set, report, nil
	case onlyLook:
		report.Hint = cfg.hint()
		return nil, report, &InstallError{report}
	}
	if err := cfg.prepareHome(); err != nil {
		return nil, Report{Home: cfg.Home}, err
	}
	began := time.Now()
	release, err := acquire(ctx, cfg.Home, cfg.LockTimeout, progress)
	if err != nil {
		return nil, Report{Home: cfg.Home}, err
	}
	defer release()
	return cfg.installLocked(ctx, began, progress)
}

// prepareHome refuses a home that can never hold a toolchain, before anything
// is downloaded to it.
func (c Config) prepareHome() error {
	err := os.MkdirAll(c.Home, 0o700)
	if err == nil {
		err = unix.Access(c.Home, unix.W_OK|unix.X_OK)
	}
	if err == nil && mountedNoexec(c.Home) {
		err = errors.New("it lies on a file system mounted noexec")
	}
	if err != nil {
		return fmt.Errorf("managed folder %s cannot be used: %w; set GTAGS_MCP_HOME to a folder that you may write to and run programs from", c.Home, err)
	}
	return nil
}

func (set *Set) complete() bool { return len(set.Missing) == 0 }

// lookFirst looks at what the rung selection and Force leave to look at.
func (c Config) lookFirst(ctx context.Context) (*Set, Report) {
	switch {
	case c.Force, c.Rung == RungPrebuilt, c.Rung == RungSource, c.Rung == RungDistro:
		return nil, Report{Home: c.Home}
	case c.Rung != "":
		return c.locate(ctx, c.Rung)
	}
	return c.locate(ctx, RungBinDir, RungManaged, RungSystem)
}

// installLocked decides anew from disk, since the process that held the lock
// before may have installed, or failed, meanwhile.
func (c Config) installLocked(ctx context.Context, began time.Time, progress func(Step)) (*Set, Report, error) {
	fallback, report := c.lookFirst(ctx)
	if fallback != nil && fallback.complete() {
		return fallback, report, nil
	}
	if failed := readState(c.Home).failedSince(began); failed != nil && !c.Force {
		if fallback != nil {
			return fallback, *failed, nil
		}
		return nil, *failed, &InstallError{*failed}
	}
	if err := c.sweep(); err != nil {
		return nil, report, fmt.Errorf("leftovers of an earlier install: %w", err)
	}
	defer c.sweep() //nolint:errcheck // the next install sweeps again
	state := &installState{PID: os.Getpid(), Started: time.Now()}
	set, err := c.climbAll(ctx, fallback, &report, state.recording(c, progress))
	if err != nil {
		return fallback, report, err
	}
	state.Finished = time.Now()
	if set == nil {
		report.Hint = c.hint()
		if c.From == "" { // who waits meanwhile can still climb the ladder
			state.Failed = &report
		}
		err = &InstallError{report}
	}
	state.write(c.Home, c.Log)
	return set, report, err
}

// climbAll climbs until a rung gives a complete toolchain, and returns that, else
// the fallback, else the first incomplete one. An error means that ctx has ended.
func (c Config) climbAll(ctx context.Context, fallback *Set, report *Report, progress func(Step)) (*Set, error) {
	for _, rung := range c.ladder() {
		if c.Rung != "" && c.Rung != rung.rung {
			continue
		}
		set, err := c.climb(ctx, rung, fallback != nil, stepsOf(rung.rung, progress))
		if ctx.Err() != nil {
			return nil, fmt.Errorf("install interrupted: %w", context.Cause(ctx))
		}
		if err != nil {
			report.rung(rung.rung, false, "%v", err)
			continue
		}
		report.rung(rung.rung, true, "%s", set.describe())
		if fallback = set; set.complete() {
			break
		}
	}
	return fallback, nil
}

// climb runs one rung in its staging folder, proves the result there, publishes
// it and proves it once more at its place. An incomplete toolchain is not
// published over another.
func (c Config) climb(ctx context.Context, rung installer, haveOther bool, step stepper) (*Set, error) {
	staged, err := c.stage(rung.rung)
	if err != nil {
		return nil, err
	}
	id, err := rung.install(ctx, c, staged, step)
	if err != nil {
		return nil, err
	}
	chosen := c.From != "" || c.Rung == RungSource || c.Rung == RungDistro
	if err := (origin{Rung: rung.rung, Chosen: chosen}).write(staged); err != nil {
		return nil, err
	}
	step.say("proving the programs by running them")
	set, err := c.proveTree(ctx, staged, rung.rung)
	if err != nil {
		return nil, err
	}
	if !set.complete() && (haveOther || c.Force) {
		return nil, fmt.Errorf("not published, since it is lacking: %s", strings.Join(set.Missing, "; "))
	}
	if err := syncTree(staged); err != nil {
		return nil, err
	}
	root, undo, err := c.publish(staged, id)
	if err != nil {
		return nil, fmt.Errorf("publishing: %w", err)
	}
	if set, err = c.proveTree(ctx, root, rung.rung); err != nil {
		return nil, errors.Join(err, undo())
	}
	return set, c.accept()
}

// proveTree looks at a folder of the layout of a generation.
func (c Config) proveTree(ctx context.Context, root, rung string) (*Set, error) {
	report := Report{Home: c.Home}
	s := &scout{cfg: c, cache: openProofCache(c.Home), report: &report, alone: true}
	p := managedPlace(root, rung)
	gtags, global := s.findGlobal(ctx, p)
	if gtags == nil {
		return nil, errors.New(report.reasonFor(filepath.Join(p.dir, "gtags")))
	}
	set, err := s.assemble(ctx, p, gtags, global)
	if err != nil {
		return nil, err
	}
	return set, s.cache.save()
}

// hint is the one thing to do when all rungs failed.
func (c Config) hint() string {
	if c.From != "" {
		return "What was installed before is unchanged. Without --from, the network and this machine's packages are tried."
	}
	return "Type: " + c.packageCommand() + " (as root), or put gtags, global and Universal Ctags into a folder and name it with GTAGS_MCP_BIN_DIR."
}
