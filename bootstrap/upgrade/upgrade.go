package upgrade

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gtagsmcp/gtagsmcp/bootstrap/release"
	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch"
	"github.com/gtagsmcp/gtagsmcp/toolchain/unpack"
)

var repo = fetch.Repo{Owner: release.Owner, Name: release.Name}

// Options say what to replace, and by what. Target, Version, Key and Client are
// needed.
type Options struct {
	// Target is the program's file, as the user reaches it: a symbolic link is
	// not followed.
	Target string

	// Version is the one that Target has, in the form of a release's tag. Anything
	// else is a program that was built from source.
	Version string

	// Key is the public key that releases are signed with (bootstrap.ReleaseKey).
	Key string

	// Client downloads.
	Client *fetch.Client

	// Want is the version to go to, up or down. Empty: the newest, up only.
	Want string

	// Pre takes prereleases for releases.
	Pre bool

	// Step is told what is being done. Nil: nobody is.
	Step func(string)
}

// Result is what Run or Rollback did.
type Result struct {
	From, To string
	Previous string // where the program before is kept
}

// ErrUpToDate is Run's answer when there is nothing newer.
var ErrUpToDate = errors.New("up to date")

const (
	archiveLimit = 128 << 20 // bytes; an archive has 8 MB now
	programLimit = 512 << 20
)

func (o Options) step(format string, args ...any) {
	if o.Step != nil {
		o.Step(fmt.Sprintf(format, args...))
	}
}

// Run replaces the program by the release that o names. Whatever the error, the
// program is as it was; ErrUpToDate is one.
func Run(ctx context.Context, o Options) (Result, error) {
	if _, err := release.ParseKey(o.Key); err != nil {
		return Result{}, err
	}
	if err := checkTarget(ctx, o.Target); err != nil {
		return Result{}, err
	}
	c, err := o.choose(ctx)
	if err != nil {
		return Result{}, err
	}
	if err := c.worthwhile(o); err != nil {
		return Result{}, err
	}
	w, err := newWorkplace(o.Target)
	if err != nil {
		return Result{}, err
	}
	defer w.close()
	program, err := o.download(ctx, w, c.Tag)
	if err != nil {
		return Result{}, fmt.Errorf("release %s: %w", c.Tag, err)
	}
	o.step("starting %s once", c.Tag)
	if got, err := started(ctx, program); err != nil || got != c.Tag {
		return Result{}, fmt.Errorf("release %s: %w", c.Tag, notStarted(got, err))
	}
	previous, err := w.publish(ctx, program, c.Tag)
	return Result{From: o.Version, To: c.Tag, Previous: previous}, err
}

// Rollback puts the program back that Run replaced, and keeps the present one
// as the one before: a second Rollback is a way forward again.
func Rollback(ctx context.Context, o Options) (Result, error) {
	if err := checkTarget(ctx, o.Target); err != nil {
		return Result{}, err
	}
	w, err := newWorkplace(o.Target)
	if err != nil {
		return Result{}, err
	}
	defer w.close()
	program := filepath.Join(w.dir, release.Program)
	if err := linkOrCopy(w.previous, program); errors.Is(err, os.ErrNotExist) {
		return Result{}, fmt.Errorf("there is no program before this one: %s does not exist", w.previous)
	} else if err != nil {
		return Result{}, err
	}
	tag, err := started(ctx, program)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", w.previous, notStarted(tag, err))
	}
	previous, err := w.publish(ctx, program, tag)
	return Result{From: o.Version, To: tag, Previous: previous}, err
}

// download brings the program of a release, checked down to its digest, into
// the workplace.
func (o Options) download(ctx context.Context, w *workplace, tag string) (program string, err error) {
	sums, err := o.sums(ctx, tag)
	if err != nil {
		return "", err
	}
	name := release.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}.Archive()
	digest, ok := sums[name]
	if !ok {
		return "", fmt.Errorf("it has no %s, so no program for this platform", name)
	}
	o.step("downloading %s of %s", name, tag)
	archive, err := o.Client.Fetch(ctx, fetch.Asset{
		Name: name, URLs: []string{o.Client.AssetURL(repo, tag, name)}, SHA256: digest, Limit: archiveLimit,
	}, w.dir)
	if err != nil {
		return "", err
	}
	unpacked := filepath.Join(w.dir, "unpacked")
	if err := unpack.Unpack(ctx, archive, unpacked, unpack.Limits{Bytes: programLimit, Entries: 16, Depth: 2}); err != nil {
		return "", err
	}
	program = filepath.Join(unpacked, release.Program)
	if info, err := os.Lstat(program); err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s holds no program", name)
	}
	return program, nil
}

// sums returns the release's digests, when they are signed for that very release.
func (o Options) sums(ctx context.Context, tag string) (release.Sums, error) {
	key, err := release.ParseKey(o.Key)
	if err != nil {
		return nil, err
	}
	text, err := o.Client.Text(ctx, o.Client.AssetURL(repo, tag, release.SumsFile), release.SumsLimit)
	if errors.Is(err, fetch.ErrNotFound) {
		return nil, fmt.Errorf("it does not exist, or is not complete: %w", err)
	} else if err != nil {
		return nil, err
	}
	signature, err := o.Client.Text(ctx, o.Client.AssetURL(repo, tag, release.SignatureFile), release.SignatureLimit)
	if err != nil {
		return nil, err
	}
	if err := release.Verify(key, tag, text, signature); err != nil {
		return nil, err
	}
	return release.Parse(text)
}
