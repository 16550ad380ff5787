package toolchain

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch"
)

// EnvMirror is the variable with the address of a server that stands for
// https://github.com/: the archives are fetched from
// MIRROR/OWNER/NAME/releases/download/TAG/FILE. The lock file decides what is
// used, so a mirror need not be trusted.
const EnvMirror = "GTAGS_MCP_MIRROR"

const (
	minGlibc    = "2.28" // what the set with glibc is built for
	dialLimit   = 4 * time.Second
	stallLimit  = 15 * time.Second
	maxPause    = 5 * time.Second // a server that asks for a longer wait is given up
	fetchTrials = 3
)

// prebuilt is the rung of the released archives: the set that uses the system's
// glibc, then the static one.
type prebuilt struct {
	// unreachable is why no connection came about for the first set: the second
	// does not wait for the same.
	unreachable error
}

// installers returns one for each set of this platform.
func (p *prebuilt) installers() []installer {
	platform := runtime.GOOS + "-" + runtime.GOARCH
	sets := []string{platform}
	if runtime.GOOS == "linux" {
		sets = []string{platform + "-gnu", platform + "-musl"}
	}
	var all []installer
	for _, set := range sets {
		all = append(all, installer{RungPrebuilt,
			func(c Config) (string, error) {
				text, err := planPrebuilt(c, set)
				return text, prefixed(set, err)
			},
			func(ctx context.Context, c Config, staged string, step func(string)) (string, error) {
				id, err := p.install(ctx, c, set, staged, step)
				return id, prefixed(set, err)
			}})
	}
	return all
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

func (p *prebuilt) install(ctx context.Context, c Config, set, staged string, step func(string)) (string, error) {
	locked, asset, err := c.lockedSet(set)
	if err != nil {
		return "", err
	}
	archive, err := p.fetch(ctx, c, locked, asset, staged, step)
	if err != nil {
		return "", err
	}
	return locked.generation(asset), unpackArchive(ctx, archive, staged, step)
}

// fetch downloads an asset. The first connection decides: where none comes about,
// the rungs below are better than trying on.
func (p *prebuilt) fetch(ctx context.Context, c Config, locked pins, asset pin, dir string, step func(string)) (string, error) {
	if p.unreachable != nil {
		return "", fmt.Errorf("not tried: %w", p.unreachable)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	client, err := fetch.New(fetch.Options{
		Mirror: c.getenv(EnvMirror), Stall: stallLimit, Attempts: fetchTrials, MaxWait: maxPause, Log: c.Log,
		Progress: secondly(asset.Name, step), Transport: transport(cancel),
	})
	if err != nil {
		return "", fmt.Errorf("%s: %w", EnvMirror, err)
	}
	owner, name, _ := strings.Cut(locked.Repository, "/")
	url := client.AssetURL(fetch.Repo{Owner: owner, Name: name}, locked.Tag, asset.Name)
	step(fmt.Sprintf("downloading %s, %.1f MB", asset.Name, float64(asset.Size)/1e6))
	path, err := client.Fetch(ctx, fetch.Asset{Name: asset.Name, URLs: []string{url}, Size: asset.Size, SHA256: asset.SHA256}, dir)
	var noConnection *unreachableError
	if errors.As(err, &noConnection) {
		p.unreachable = noConnection
	}
	return path, err
}

// secondly makes at most one step a second of a download's progress.
func secondly(name string, step func(string)) func(done, total int64) {
	last := time.Now()
	return func(done, total int64) {
		if now := time.Now(); now.Sub(last) >= time.Second {
			last = now
			step(fmt.Sprintf("downloading %s, %.1f of %.1f MB", name, float64(done)/1e6, float64(total)/1e6))
		}
	}
}

// unreachableError is a server, or a proxy before it, to which no connection
// came about.
type unreachableError struct {
	address string
	err     error
}

func (e *unreachableError) Error() string {
	return fmt.Sprintf("%s cannot be reached: %v", e.address, e.err)
}

func (e *unreachableError) Unwrap() error { return e.err }

// transport calls unreachable when not even the first connection comes about.
// Later failures are the download's own to retry.
func transport(unreachable func(error)) http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	dialer := net.Dialer{Timeout: dialLimit} // finding the address included
	var connected atomic.Bool
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err == nil {
			connected.Store(true)
		} else if !connected.Load() {
			err = &unreachableError{address, err}
			unreachable(err)
		}
		return conn, err
	}
	t.TLSHandshakeTimeout, t.ResponseHeaderTimeout = dialLimit, stallLimit
	return t
}
