package toolchain

import (
	"context"
	"errors"
	"fmt"
)

// Plan says, rung by rung, what Install would do, and does nothing: OK is a rung
// that is ready or that would be tried. Hint is set when no rung is left.
func Plan(ctx context.Context, cfg Config) (Report, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return Report{}, err
	}
	set, report := cfg.lookFirst(ctx)
	if set != nil && set.complete() {
		return report, nil
	}
	possible := set != nil
	for _, rung := range cfg.ladder() {
		if cfg.Rung != "" && cfg.Rung != rung.rung {
			continue
		}
		text, err := rung.plan(cfg)
		if err != nil {
			report.rung(rung.rung, false, "%v", err)
			continue
		}
		possible = true
		report.rung(rung.rung, true, "would try: %s", text)
	}
	if !possible {
		report.Hint = cfg.hint()
	}
	return report, nil
}

// planDistro looks for the tools and the space, not at the network.
func planDistro(c Config) (string, error) {
	m, err := c.unpackable()
	if err != nil {
		return "", err
	}
	if c.systemTool("dpkg-deb") == "" {
		return "", errNoDpkgDeb
	}
	if err := needSpace(c.Home, aptDownloadSpace); err != nil {
		return "", err
	}
	return fmt.Sprintf("download the packages of %q as an ordinary user and unpack them below %s", m.command, c.Home), nil
}

var errNoDpkgDeb = errors.New("apt-get was found, but dpkg-deb was not")
