package server

import (
	"context"
	"fmt"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

type updateIndexArgs struct {
	Full bool `json:"full,omitempty" jsonschema:"Rebuild from scratch"`
	shared
}

func updateIndex() tool {
	return define(tool{
		name:  "update_index",
		title: "Update index",
		description: "Brings the index up to date before it returns. Rarely needed: every query already sees edits. " +
			"Use it after large changes, such as a branch switch.",
		writes:  true,
		onError: []string{"find_definition"},
	}, answerUpdate)
}

func answerUpdate(ctx context.Context, c *call, in updateIndexArgs) (*envelope, error) {
	var report nav.UpdateReport
	err := c.await(ctx, func() (err error) {
		report, err = c.workspace.Update(ctx, in.Full, c.indexProgress)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &envelope{Results: updateReport{report}, Total: 1, NextTools: []string{"find_definition"}}, nil
}

// updateReport is what a refresh did.
type updateReport struct{ nav.UpdateReport }

func (r updateReport) MarshalJSON() ([]byte, error) {
	var w objectWriter
	w.field("status", "ok")
	w.field("message", r.message())
	w.field("full", r.Full)
	w.field("added", r.Added)
	w.field("changed", r.Changed)
	w.field("removed", r.Removed)
	w.field("skipped", r.Skipped)
	w.field("seconds", r.Seconds)
	w.field("generation", r.Generation)
	return w.bytes()
}

func (r updateReport) message() string {
	verb := "updated"
	if r.Full {
		verb = "rebuilt"
	}
	return fmt.Sprintf("index %s in %.1f s: %d added, %d changed, %d removed, %d skipped", verb, r.Seconds, len(r.Added), len(r.Changed), len(r.Removed), len(r.Skipped))
}

func (r updateReport) lines(*envelope) []string { return []string{r.message()} }
func (r updateReport) count() int               { return 1 }
