package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gtagsmcp/gtagsmcp/nav/index"
)

// openIndex opens the index that a command is about. allowAny lifts the refusal
// of roots that are probably a mistake.
type openIndex func(ctx context.Context, allowAny bool) (*index.Index, error)

// newIndexCommand makes the commands that look after an index.
func newIndexCommand(std streams, open openIndex) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "index",
		Short: "Look after the index of a source tree",
		Long: `Look after the index of a source tree. Serving needs none of these: a server
builds the index at the first question and keeps it fresh.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newIndexStatusCommand(std, open),
		newIndexBuildCommand(std, open),
		newIndexVerifyCommand(std, open),
		newIndexCleanCommand(std, open),
	)
	return cmd
}

func newIndexStatusCommand(std streams, open openIndex) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Print the generation, its size, and what is not in it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			x, err := open(cmd.Context(), true)
			if err != nil {
				return err
			}
			defer x.Close()
			s, err := x.Status(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(std, s)
			}
			return printStatus(std.out, s)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func printStatus(out io.Writer, s index.Status) error {
	w := &errWriter{w: out}
	w.printf("root        %s\nindex       %s (%s)\n", s.Root, s.Dir, megabytes(s.DiskBytes))
	if s.Generation == "" {
		w.printf("generation  none yet; the first question or `gtagsmcp index build` makes one\n")
	} else {
		w.printf("generation  %s: %d files, %s of sources\n", s.Generation, s.Files, megabytes(s.Bytes))
	}
	for _, l := range s.Layers {
		w.printf("  %-14s %s, %d files in %d shards, %s, built in %.1f s by %s %s\n", l.Name, l.Created.Local().Format(time.DateTime),
			l.Files, l.Shards, megabytes(l.DiskBytes), l.Seconds, l.Label, l.Fingerprint)
	}
	switch {
	case s.Builder != "":
		w.printf("building    by %s\n", s.Builder)
	case s.Generation != "" && s.Added+s.Changed+s.Removed == 0:
		w.printf("fresh       yes\n")
	case s.Generation != "":
		w.printf("fresh       no: %d files added, %d changed, %d removed; the next question brings them in\n", s.Added, s.Changed, s.Removed)
	}
	for _, f := range s.Skipped {
		w.printf("left out    %s: %s\n", f.Path, f.Reason)
	}
	for _, warning := range s.Warnings {
		w.printf("warning     %s\n", warning)
	}
	return w.err
}

func newIndexBuildCommand(std streams, open openIndex) *cobra.Command {
	var full, allowAny bool
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Bring the index up to date, or build it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			x, err := open(cmd.Context(), allowAny)
			if err != nil {
				return err
			}
			defer x.Close()
			show := newIndexProgress(std.err)
			report, err := x.Update(cmd.Context(), full, show.show)
			show.finish()
			if err != nil {
				return err
			}
			return printReport(std.out, report)
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "build everything anew, whatever has changed")
	cmd.Flags().BoolVar(&allowAny, "allow-any-root", false, "also the home directory, /, or any number of files without git")
	return cmd
}

func printReport(out io.Writer, r index.Report) error {
	w := &errWriter{w: out}
	if r.Full {
		w.printf("built %s: %d files in %.1f s\n", r.Generation, r.Files, r.Seconds)
	} else {
		w.printf("%s: %d files; %d added, %d changed, %d removed, in %.1f s\n",
			r.Generation, r.Files, len(r.Added), len(r.Changed), len(r.Removed), r.Seconds)
	}
	for _, f := range r.Skipped {
		w.printf("left out %s: %s\n", f.Path, f.Reason)
	}
	return w.err
}

func newIndexVerifyCommand(std streams, open openIndex) *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Read every page and record of the index",
		Long: `Read every page and record of the index.

Exit code 0: all is well; 1: something is damaged, or there is no index. The
next question rebuilds a damaged index by itself.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			x, err := open(cmd.Context(), true)
			if err != nil {
				return err
			}
			defer x.Close()
			pages, last := 0, ""
			show := newIndexProgress(std.err)
			err = x.Verify(cmd.Context(), func(database string, page, total int) {
				show.show(index.Progress{Phase: database, Done: page, Total: total})
				if database != last {
					pages, last = pages+total, database
				}
			})
			show.finish()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(std.out, "all %d pages and their records are good\n", pages)
			return err
		},
	}
}

func newIndexCleanCommand(std streams, open openIndex) *cobra.Command {
	return &cobra.Command{
		Use:   "clean",
		Short: "Remove the index",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			x, err := open(cmd.Context(), true)
			if err != nil {
				return err
			}
			defer x.Close()
			if err := x.Clean(cmd.Context()); err != nil {
				return err
			}
			_, err = fmt.Fprintf(std.out, "removed the index of %s\n", x.Root())
			return err
		},
	}
}

// indexProgress shows a bar on a terminal and now and then a line elsewhere.
type indexProgress struct {
	out   io.Writer
	bar   *progressbar.ProgressBar // nil when out is no terminal
	line  func(message string, done, total float64)
	phase string
}

func newIndexProgress(out io.Writer) *indexProgress {
	p := &indexProgress{out: out, line: newProgressLine(out)}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions(-1, progressbar.OptionSetWriter(out), progressbar.OptionClearOnFinish(),
			progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond))
	}
	return p
}

func (p *indexProgress) show(now index.Progress) {
	if p.bar == nil {
		p.line(now.Phase, float64(now.Done), float64(now.Total))
		return
	}
	if p.phase != now.Phase {
		p.phase = now.Phase
		p.bar.Describe(now.Phase)
	}
	// A bar that cannot be drawn is no reason to stop.
	p.bar.ChangeMax(max(now.Total, 1))
	_ = p.bar.Set(min(now.Done, max(now.Total, 1)))
}

func (p *indexProgress) finish() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }

// errWriter keeps the first error of a series of writes.
type errWriter struct {
	w   io.Writer
	err error
}

func (w *errWriter) printf(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.w, format, args...)
	}
}
