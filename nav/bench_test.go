package nav

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/ctags"
	"github.com/gtagsmcp/gtagsmcp/nav/index"
	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
)

// benchWorkspace opens the tree that `make bench` names, with its index and
// outline built and fresh.
func benchWorkspace(b testing.TB) *Workspace {
	tree := os.Getenv("GTAGS_MCP_BENCH_TREE")
	if tree == "" {
		b.Fatal("GTAGS_MCP_BENCH_TREE names no tree; run make bench")
	}
	tc := navtest.Tools(b)
	w, err := OpenWorkspace(tree, Options{
		Toolchain: func(context.Context) (Toolchain, error) {
			return Toolchain{
				Index: index.Tools{Gtags: tc.Gtags, Env: tc.Env, Fingerprint: tc.Fingerprint},
				Ctags: ctags.Command{Path: tc.Ctags, Env: tc.Env},
			}, nil
		},
		AwaitOutline: true, FirstWait: 10 * time.Minute, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { w.Close() })
	return w
}

func benchView(b testing.TB, w *Workspace) *View {
	v, err := w.View(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(v.Release)
	return v
}

// BenchmarkDefinitions looks up 10,000 names drawn at random from all that GNU
// Global has, each once, and reports the percentiles.
func BenchmarkDefinitions(b *testing.B) {
	v := benchView(b, benchWorkspace(b))
	var names []string
	seen := 0
	draw := rand.New(rand.NewPCG(1, 2))
	for sites, err := range v.set.AllDefinitions("") {
		if err != nil {
			b.Fatal(err)
		}
		if seen++; len(names) < 10000 {
			names = append(names, sites[0].Name)
		} else if i := draw.IntN(seen); i < len(names) {
			names[i] = sites[0].Name
		}
	}
	draw.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for b.Loop() {
		took := make([]time.Duration, len(names))
		for i, name := range names {
			start := time.Now()
			if _, err := v.Definitions(b.Context(), DefinitionQuery{Symbol: name, Page: Page{Limit: 100}}); err != nil {
				b.Fatal(err)
			}
			took[i] = time.Since(start)
		}
		slices.Sort(took)
		b.ReportMetric(took[len(took)/2].Seconds()*1e6, "µs/p50")
		b.ReportMetric(took[len(took)*99/100].Seconds()*1e6, "µs/p99")
	}
}

// BenchmarkQuestions asks single questions of the whole tree, first with empty
// caches ("cold": the file cache of this process, not of the system), then again.
func BenchmarkQuestions(b *testing.B) {
	w := benchWorkspace(b)
	for _, test := range []struct {
		name string
		ask  func(context.Context, *View) error
	}{
		{"find_callers(ext4_mark_inode_dirty)", askCallers("ext4_mark_inode_dirty")},
		{"find_callers(schedule)", askCallers("schedule")},
		{"reachability(ksys_read,rw_verify_area)", askReach("ksys_read", "rw_verify_area")},
		{"reachability(vfs_read,ext4_file_read_iter)", askReach("vfs_read", "ext4_file_read_iter")},
		{"find_callees(tcp_v4_rcv)", func(ctx context.Context, v *View) error {
			_, err := v.Callees(ctx, CalleeQuery{Symbol: "tcp_v4_rcv"})
			return err
		}},
		{"symbol_info(tcp_v4_rcv)", func(ctx context.Context, v *View) error {
			_, err := v.Definitions(ctx, DefinitionQuery{Symbol: "tcp_v4_rcv"})
			return err
		}},
	} {
		b.Run(test.name, func(b *testing.B) {
			v := benchView(b, w)
			var cold, warm []time.Duration
			for b.Loop() {
				w.files.forget()
				w.callers = callerCache{}
				w.outlined = outlineCache{}
				cold = append(cold, timed(b, v, test.ask))
				warm = append(warm, timed(b, v, test.ask))
			}
			b.ReportMetric(medianOf(cold).Seconds()*1e3, "ms/cold")
			b.ReportMetric(medianOf(warm).Seconds()*1e3, "ms/warm")
		})
	}
}

// BenchmarkBlast edits one line of the tree and asks for what that affects, at
// depth 1: how long beyond git diff itself, with and without the refresh of the
// index that the edit makes necessary.
func BenchmarkBlast(b *testing.B) {
	w := benchWorkspace(b)
	benchView(b, w).Release()
	path := filepath.Join(w.Root(), "fs/ext4/inode.c")
	original, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	defer os.WriteFile(path, original, 0o644)
	const edited = "int ext4_expand_extra_isize(struct inode *inode,"
	var diff, refresh, blast []time.Duration
	for i := 0; b.Loop(); i++ {
		text := strings.Replace(string(original), edited, fmt.Sprintf("%s /* %d */", edited, i), 1)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		v, err := w.View(b.Context(), nil)
		if err != nil {
			b.Fatal(err)
		}
		refresh = append(refresh, time.Since(start))
		diff = append(diff, timed(b, v, func(ctx context.Context, v *View) error {
			_, err := index.Git(ctx, w.Root(), "diff", "--unified=0", "HEAD")
			return err
		}))
		blast = append(blast, timed(b, v, func(ctx context.Context, v *View) error {
			a, err := v.Blast(ctx, BlastQuery{Depth: 1, Page: Page{Limit: 100}})
			if err == nil && (a.ChangedFunctions != 1 || a.Total < 2) {
				err = fmt.Errorf("%d functions changed, %d reached", a.ChangedFunctions, a.Total)
			}
			return err
		}))
		v.Release()
	}
	b.ReportMetric(medianOf(refresh).Seconds()*1e3, "ms/refresh")
	b.ReportMetric(medianOf(diff).Seconds()*1e3, "ms/diff")
	b.ReportMetric((medianOf(blast)-medianOf(diff)).Seconds()*1e3, "ms/beyond")
}

func askCallers(symbol string) func(context.Context, *View) error {
	return func(ctx context.Context, v *View) error {
		_, err := v.Callers(ctx, CallerQuery{Symbol: symbol})
		return err
	}
}

func askReach(from, to string) func(context.Context, *View) error {
	return func(ctx context.Context, v *View) error {
		_, err := v.Reach(ctx, ReachQuery{From: from, To: to, MaxDepth: 8})
		return err
	}
}

func timed(b *testing.B, v *View, ask func(context.Context, *View) error) time.Duration {
	start := time.Now()
	if err := ask(b.Context(), v); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}

func medianOf(d []time.Duration) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}
