package toolchain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// followedName has the time of the last Follow that failed.
const followedName = "cache/followed"

// Behind says how the managed toolchain differs from the archive that this version
// of the program pins, and when Follow last tried in vain (zero: never). It is ""
// when nothing is to be followed: there is no managed toolchain or no archive that
// fits, the user chose the rung or the archive, or went back from that archive.
func Behind(cfg Config) (why string, tried time.Time) {
	cfg, err := cfg.complete()
	if err != nil {
		return "", tried
	}
	if info, err := os.Stat(filepath.Join(cfg.Home, followedName)); err == nil {
		tried = info.ModTime()
	}
	return cfg.behind(), tried
}

func (c Config) behind() string {
	root, err := c.current()
	if err != nil || readOrigin(root).Chosen {
		return ""
	}
	refused, _ := os.ReadFile(filepath.Join(c.Home, refusedName))
	have, wanted := filepath.Base(root), ""
	for _, set := range sets() {
		locked, asset, err := c.lockedSet(set)
		if err != nil {
			continue
		}
		id := locked.generation(asset)
		if isGeneration(have, id) || isGeneration(string(refused), id) {
			return ""
		}
		if wanted == "" {
			wanted = asset.Name + " of release " + locked.Tag
		}
	}
	if wanted == "" {
		return ""
	}
	return fmt.Sprintf("%s is in use, this version of the program goes with %s", have, wanted)
}

// isGeneration reports whether name is what publish makes of id.
func isGeneration(name, id string) bool { return name == id || strings.HasPrefix(name, id+".") }

// Follow installs the archive that this version of the program pins beside a
// managed toolchain that is Behind: an older version's, the distribution's
// packages, a build from source. It returns nil without an error when nothing is
// to be followed. Nothing that works is replaced by something incomplete.
func Follow(ctx context.Context, cfg Config, progress func(Step)) (*Set, Report, error) {
	cfg, err := cfg.complete()
	report := Report{Home: cfg.Home}
	if err != nil || cfg.behind() == "" {
		return nil, report, err
	}
	if progress == nil {
		progress = func(Step) {}
	}
	release, err := acquire(ctx, cfg.Home, cfg.LockTimeout, progress)
	if err != nil {
		return nil, report, err
	}
	defer release()
	if cfg.behind() == "" { // another process was faster
		return nil, report, nil
	}
	if err := cfg.sweep(); err != nil {
		return nil, report, fmt.Errorf("leftovers of an earlier install: %w", err)
	}
	defer cfg.sweep() //nolint:errcheck // the next install sweeps again
	state := &installState{PID: os.Getpid(), Started: time.Now()}
	defer func() {
		state.Finished = time.Now()
		state.write(cfg.Home, cfg.Log)
	}()
	for _, rung := range (prebuilt{&network{}}).installers() {
		set, err := cfg.climb(ctx, rung, true, stepsOf(rung.rung, state.recording(cfg, progress)))
		if err == nil {
			report.rung(rung.rung, true, "%s", set.describe())
			return set, report, nil
		}
		report.rung(rung.rung, false, "%v", err)
	}
	err = &InstallError{report}
	if mkErr := os.MkdirAll(filepath.Join(cfg.Home, "cache"), 0o700); mkErr != nil {
		return nil, report, errors.Join(err, mkErr)
	}
	return nil, report, errors.Join(err, writeFile(filepath.Join(cfg.Home, followedName), nil))
}

// accept forgets what Rollback refused: the user, or the ladder, decided anew.
func (c Config) accept() error {
	if err := os.Remove(filepath.Join(c.Home, refusedName)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Rollback makes the generation before the present one present again, after it
// was proved, and the present one previous: a second Rollback goes forth again.
func Rollback(ctx context.Context, cfg Config, progress func(Step)) (*Set, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	if progress == nil {
		progress = func(Step) {}
	}
	if _, err := cfg.linked(previousName); err != nil {
		return nil, fmt.Errorf("%s keeps no toolchain before the present one", cfg.Home)
	}
	release, err := acquire(ctx, cfg.Home, cfg.LockTimeout, progress)
	if err != nil {
		return nil, err
	}
	defer release()
	root, err := cfg.linked(previousName)
	if err != nil {
		return nil, fmt.Errorf("the toolchain before the present one: %w", err)
	}
	set, err := cfg.proveTree(ctx, root, RungManaged)
	if err != nil {
		return nil, fmt.Errorf("the toolchain before the present one cannot be used any more: %w", err)
	}
	before, _ := os.Readlink(filepath.Join(cfg.Home, currentName))
	refused := writeFile(filepath.Join(cfg.Home, refusedName), []byte(filepath.Base(before)))
	if err := errors.Join(refused, cfg.point(currentName, filepath.Join(generationsDir, filepath.Base(root))), cfg.point(previousName, before)); err != nil {
		return nil, err
	}
	return set, nil
}
