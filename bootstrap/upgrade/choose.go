package upgrade

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	goversion "github.com/hashicorp/go-version"

	"github.com/gtagsmcp/gtagsmcp/bootstrap/release"
	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch"
)

// Choice is a release that the program could become.
type Choice struct {
	Tag string

	// Newer says that it is newer than the program. One built from source is
	// neither older nor newer than a release.
	Newer bool

	// FromSource says that the program is no release.
	FromSource bool
}

// Check looks which release Run would take, and changes nothing.
func Check(ctx context.Context, o Options) (Choice, error) {
	if _, err := release.ParseKey(o.Key); err != nil {
		return Choice{}, err
	}
	return o.choose(ctx)
}

func (o Options) choose(ctx context.Context) (Choice, error) {
	var found *goversion.Version
	var tag string
	var err error
	if o.Want != "" {
		found, tag, err = o.named(ctx)
	} else {
		found, tag, err = o.newest(ctx)
	}
	if err != nil {
		return Choice{}, err
	}
	have, ok := released(o.Version)
	return Choice{Tag: tag, Newer: ok && found.GreaterThan(have), FromSource: !ok}, nil
}

// worthwhile says why there is nothing to do, if so.
func (c Choice) worthwhile(o Options) error {
	switch {
	case o.Want != "" && c.Tag != o.Version, c.Newer:
		return nil
	case c.FromSource:
		return fmt.Errorf("this program was built from source (%s), so no release is newer: to replace it, type gtagsmcp upgrade --version %s", o.Version, c.Tag)
	case c.Tag == o.Version:
		return fmt.Errorf("%w: %s", ErrUpToDate, o.Version)
	}
	return fmt.Errorf("%w: %s is newer than the newest release, %s; to go back, type gtagsmcp upgrade --version %s", ErrUpToDate, o.Version, c.Tag, c.Tag)
}

// pseudo is the end of the version that the Go tool makes up for a commit.
var pseudo = regexp.MustCompile(`[-.]\d{14}-[0-9a-f]{12}$`)

// released reads the version of a program that belongs to a release.
func released(version string) (*goversion.Version, bool) {
	v, tag, err := release.ParseVersion(version)
	return v, err == nil && tag == version && !pseudo.MatchString(version)
}

func (o Options) named(ctx context.Context) (*goversion.Version, string, error) {
	v, tag, err := release.ParseVersion(o.Want)
	if err != nil {
		return nil, "", err
	}
	if _, err := o.Client.Release(ctx, repo, tag); err != nil {
		if errors.Is(err, fetch.ErrNotFound) {
			err = fmt.Errorf("there is no release %s", tag)
		}
		return nil, "", err
	}
	return v, tag, nil
}

// newest is the greatest version among the releases, not the latest made: a
// repair of an old series may come after a new one. Where the list is not to be
// had, the release that the server calls the latest takes its place.
func (o Options) newest(ctx context.Context) (*goversion.Version, string, error) {
	releases, err := o.Client.Releases(ctx, repo)
	if err != nil {
		if o.Pre {
			return nil, "", fmt.Errorf("prereleases are only in the list of releases, which cannot be had (name one with --version instead): %w", err)
		}
		latest, err := o.Client.Latest(ctx, repo)
		if err != nil {
			return nil, "", err
		}
		v, tag, err := release.ParseVersion(latest.Tag)
		if err != nil || tag != latest.Tag {
			return nil, "", fmt.Errorf("the latest release of %s: %q is no tag such as v1.2.3", repo, latest.Tag)
		}
		return v, tag, nil
	}
	var best *goversion.Version
	var bestTag string
	for _, r := range releases {
		v, tag, err := release.ParseVersion(r.Tag)
		if err != nil || tag != r.Tag || !o.Pre && (r.Prerelease || v.Prerelease() != "") {
			continue // releases of the toolchain are among them
		}
		if best == nil || v.GreaterThan(best) {
			best, bestTag = v, tag
		}
	}
	if best == nil {
		return nil, "", fmt.Errorf("%s has no release yet", repo)
	}
	return best, bestTag, nil
}
