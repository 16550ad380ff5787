package server

import (
	"context"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

// askAgain is how soon a passing failure is looked at again.
const askAgain = 200 * time.Millisecond

// progressEvery is how often a waiting caller hears that it still waits.
const progressEvery = time.Second

// await runs a step again and again while it fails with something that passes,
// for as long as the call's patience lasts.
func (c *call) await(ctx context.Context, step func() error) error {
	deadline := time.Now().Add(c.patience)
	for said := (time.Time{}); ; {
		err := step()
		if err == nil || !nav.Temporary(err) {
			return err
		}
		if time.Since(said) >= progressEvery {
			c.progress(err.Error(), 0, 0)
			said = time.Now()
		}
		if time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(askAgain, c.patience)):
		}
	}
}

// opener is how a view is opened: Workspace.View or Workspace.CodeView.
type opener func(context.Context, func(nav.Progress)) (*nav.View, error)

// view returns the present state of the tree, after a short wait if it takes
// one to get there.
func (c *call) view(ctx context.Context, open opener) (view *nav.View, err error) {
	err = c.await(ctx, func() error {
		view, err = open(ctx, c.indexProgress)
		return err
	})
	return view, err
}

func (c *call) indexProgress(p nav.Progress) {
	c.progress(p.Phase, float64(p.Done), float64(p.Total))
}
