package toolchain

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch"
)

const minGlibc = "2.28" // what the set with glibc is built for

// prebuilt is the rung of the released archives: the set that uses the system's
// glibc, then the static one.
type prebuilt struct{ net *network }

// installers returns one for each set of this platform.
func (p prebuilt) installers() []installer {
	var all []installer
	for _, set := range sets() {
		all = append(all, installer{RungPrebuilt,
			func(c Config) (string, error) {
				text, err := planPrebuilt(c, set)
				return text, prefixed(set, err)
			},
			func(ctx context.Context, c Config, staged string, step stepper) (string, error) {
				id, err := p.install(ctx, c, set, staged, step)
				return id, prefixed(set, err)
			}})
	}
	return all
}

// sets are the archives for this platform, best first.
func sets() []string {
	platform := runtime.GOOS + "-" + runtime.GOARCH
	if runtime.GOOS == "linux" {
		return []string{platform + "-gnu", platform + "-musl"}
	}
	return []string{platform}
}

// prefixed names the set in an error, since both report under one rung.
func prefixed(set string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", set, err)
}

// lockedSet returns the archive of a set, or, without using the network, why the
// set cannot be installed here.
func (c Config) lockedSet(set string) (pins, pin, error) {
	locked, err := c.readPins()
	if err != nil {
		return pins{}, pin{}, err
	}
	asset, ok := locked.forPlatform(set)
	if !ok {
		return pins{}, pin{}, errors.New("no archive was built for this platform")
	}
	if err := fitsGlibc(set, glibcPresent()); err != nil {
		return pins{}, pin{}, err
	}
	return locked, asset, needSpace(c.Home, archiveSpace)
}

func planPrebuilt(c Config, set string) (string, error) {
	locked, asset, err := c.lockedSet(set)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("download %s of release %s, %.1f MB, and unpack it below %s", asset.Name, locked.Tag, float64(asset.Size)/1e6, c.Home), nil
}

// fitsGlibc refuses a set for glibc where the system's is missing or too old.
func fitsGlibc(set, present string) error {
	switch {
	case !strings.HasSuffix(set, "-gnu"):
		return nil
	case present == "":
		return fmt.Errorf("it needs glibc %s, and this system has none", minGlibc)
	case compareVersions(present, minGlibc) < 0:
		return fmt.Errorf("it needs glibc %s, and this system has %s", minGlibc, present)
	}
	return nil
}

func (p prebuilt) install(ctx context.Context, c Config, set, staged string, step stepper) (string, error) {
	locked, asset, err := c.lockedSet(set)
	if err != nil {
		return "", err
	}
	wanted := fetch.Asset{Name: asset.Name, Size: asset.Size, SHA256: asset.SHA256}
	archive, err := p.net.fetch(ctx, c, wanted, func(client *fetch.Client) []string {
		return []string{locked.url(client, asset.Name)}
	}, staged, step)
	if err != nil {
		return "", err
	}
	return locked.generation(asset), unpackArchive(ctx, archive, staged, step)
}
