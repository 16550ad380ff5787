package fetch

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

const defaultLimit = 256 << 20

// Fetch downloads a into the folder dir and returns the file's path. A file that
// is already there and matches is not downloaded again; what an earlier, broken
// download left is continued where the server can prove that it is the same file.
func (c *Client) Fetch(ctx context.Context, a Asset, dir string) (string, error) {
	if err := a.validate(); err != nil {
		return "", err
	}
	path := filepath.Join(dir, a.Name)
	if verify(path, a) == nil {
		return path, nil
	}
	p, err := openPartial(path + ".unverified")
	if err != nil {
		return "", fmt.Errorf("download %s: %w", a.Name, diskError(err, path, a.Size))
	}
	defer p.close()
	p.report = c.opts.Progress
	var failures []error
	for _, u := range a.URLs {
		err := c.fetchFrom(ctx, c.mirrored(u), a, p)
		if err == nil {
			if err = p.publish(path); err == nil {
				return path, nil
			}
			err = diskError(err, path, a.Size)
		}
		failures = append(failures, err)
		if isLocal(err) {
			p.discard() // half a file would only keep a full disk full
			break
		}
		if ctx.Err() != nil {
			break
		}
	}
	return "", fmt.Errorf("download %s: %w", a.Name, errors.Join(failures...))
}

// Text downloads a small file that nothing pins, such as a list of checksums
// whose signature the caller checks. It is an error if it is longer than limit.
func (c *Client) Text(ctx context.Context, u string, limit int64) ([]byte, error) {
	if err := checkURL(u); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "gtagsmcp-fetch-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	p, err := openPartial(filepath.Join(dir, "text"))
	if err != nil {
		return nil, err
	}
	defer p.close()
	if err := c.fetchFrom(ctx, c.mirrored(u), Asset{Limit: limit}, p); err != nil {
		return nil, fmt.Errorf("download %s: %w", u, err)
	}
	return os.ReadFile(p.path)
}

func (a Asset) validate() error {
	if a.Name == "" || filepath.Base(a.Name) != a.Name || a.Name == "." || a.Name == ".." {
		return fmt.Errorf("asset name %q is not a plain file name", a.Name)
	}
	if sum, err := hex.DecodeString(a.SHA256); err != nil || len(sum) != 32 {
		return fmt.Errorf("asset %s: %q is not a SHA-256 in hexadecimal", a.Name, a.SHA256)
	}
	if a.Size < 0 || a.Limit < 0 {
		return fmt.Errorf("asset %s: negative size", a.Name)
	}
	if len(a.URLs) == 0 {
		return fmt.Errorf("asset %s: no URL", a.Name)
	}
	for _, u := range a.URLs {
		if err := checkURL(u); err != nil {
			return fmt.Errorf("asset %s: %w", a.Name, err)
		}
	}
	return nil
}

// limit is the most bytes that may be taken.
func (a Asset) limit() int64 {
	if a.Size > 0 {
		return a.Size
	}
	return withDefault(a.Limit, defaultLimit)
}

// fetchFrom tries one URL until the file is there and verified. An attempt that
// got further than all before it does not count, so a connection that breaks
// every few kilobytes still ends. One that a trickle was cut off from does: a
// server that sends a byte now and then would hold us for weeks.
func (c *Client) fetchFrom(ctx context.Context, u string, a Asset, p *partial) error {
	furthest := int64(0)
	for failed := 0; ; {
		err := c.attempt(ctx, u, a, p)
		if err == nil {
			if err = p.verify(a); err == nil {
				return nil
			}
			// Bytes of two files may have been joined. Once more from the start,
			// and then the server's file itself is wrong.
			resumed := p.resumed
			p.discard()
			if !resumed {
				return fmt.Errorf("%s: %w", u, err)
			}
		}
		if gained := p.size - furthest; gained >= MinProgress || gained > 0 && !errors.Is(err, ErrStalled) {
			failed = 0
		} else {
			failed++
		}
		furthest = max(furthest, p.size)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if isPermanent(err) {
			p.discard()
			return err
		}
		if failed >= c.opts.Attempts {
			return err
		}
		if err := c.wait(ctx, failed, err); err != nil {
			return err
		}
	}
}

// wait pauses before the next attempt, as long as the server asked for or else
// longer with each failure. The random part keeps many machines that lost the
// same server from coming back at the same moment.
func (c *Client) wait(ctx context.Context, failed int, cause error) error {
	pause := min(c.opts.Backoff<<min(max(failed-1, 0), 16), c.opts.MaxWait)
	pause += time.Duration((rand.Float64() - 0.5) / 2 * float64(pause))
	var status *statusError
	if errors.As(cause, &status) && status.wait > 0 {
		pause = status.wait
	}
	if pause > c.opts.MaxWait+c.opts.MaxWait/4 {
		return cause
	}
	c.opts.Log.Info("download broke, trying again", "wait", pause, "error", cause)
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
