package index

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/gtagsdb"
)

// The benchmarks compare with gtags and global in the same run, on a clone of
// the committed tree that GTAGS_MCP_BENCH_TREE names. The metrics that end in
// "of-gtags" or "of-global" are ratios of times.

// benchClone is a clone that benchmarks may edit. TestMain removes it.
var benchClone = sync.OnceValues(func() (dir string, err error) {
	tree := os.Getenv("GTAGS_MCP_BENCH_TREE")
	if tree == "" {
		return "", errors.New("GTAGS_MCP_BENCH_TREE names no tree; run make bench-index")
	}
	if dir, err = os.MkdirTemp("", "bench-index-"); err != nil {
		return "", err
	}
	cmd := exec.Command("git", "clone", "-q", "--local", tree, dir)
	cmd.Stderr = os.Stderr
	return dir, cmd.Run()
})

func removeBenchClone() {
	if os.Getenv("GTAGS_MCP_BENCH_TREE") != "" {
		if dir, _ := benchClone(); dir != "" {
			os.RemoveAll(dir)
			os.RemoveAll(dir + ".single")
		}
	}
}

// single is a database by one gtags of the same files.
type single struct {
	root, dir string
	tools     Tools
	list      []byte
}

func newSingle(b *testing.B, root string) *single {
	b.Helper()
	tools, _ := realTools(b)(b.Context())
	langmap, err := tools.langmap(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	match, err := matcher(langmap, nil)
	if err != nil {
		b.Fatal(err)
	}
	l, err := list(b.Context(), root, Options{}, match)
	if err != nil {
		b.Fatal(err)
	}
	entries, err := statAll(b.Context(), root, l.paths)
	if err != nil {
		b.Fatal(err)
	}
	s := &single{root: root, dir: root + ".single", tools: tools, list: fileList(entries)}
	if !exists(s.dir) {
		if err := os.Mkdir(s.dir, 0o755); err != nil {
			b.Fatal(err)
		}
		s.gtags(b)
	}
	return s
}

// gtags runs gtags over the list and returns how long that took.
func (s *single) gtags(b *testing.B, args ...string) time.Duration {
	b.Helper()
	cmd := exec.Command(s.tools.Gtags, append(append([]string{"--accept-dotfiles"}, args...), "-f", "-", s.dir)...)
	cmd.Dir, cmd.Env, cmd.Stdin = s.root, s.tools.environ(), bytes.NewReader(s.list)
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("gtags: %v\n%s", err, out)
	}
	return time.Since(start)
}

func benchIndex(b *testing.B) (*Index, *single) {
	b.Helper()
	root, err := benchClone()
	if err != nil {
		b.Fatal(err)
	}
	x := open(b, root, Options{})
	if _, err := x.Update(b.Context(), false, nil); err != nil {
		b.Fatal(err)
	}
	return x, newSingle(b, root)
}

// awaitWatch waits until notifications are in use and nothing is left to do.
func awaitWatch(b *testing.B, x *Index) {
	b.Helper()
	for x.tree.watching() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	acquire(b, x).Release()
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// BenchmarkIndexBuild builds a complete base, and its twin by one gtags.
func BenchmarkIndexBuild(b *testing.B) {
	x, s := benchIndex(b)
	var ours, theirs []time.Duration
	var peak atomic.Int64
	for b.Loop() {
		theirs = append(theirs, s.gtags(b))
		stop := watchChildren(b.Context(), &peak)
		start := time.Now()
		if _, err := x.Update(b.Context(), true, nil); err != nil {
			b.Fatal(err)
		}
		ours = append(ours, time.Since(start))
		stop()
	}
	b.ReportMetric(median(ours).Seconds(), "s/build")
	b.ReportMetric(median(theirs).Seconds(), "s/gtags")
	b.ReportMetric(median(ours).Seconds()/median(theirs).Seconds(), "of-gtags")
	b.ReportMetric(float64(peak.Load())/(1<<20), "MB-children")
}

// watchChildren keeps the greatest memory that all descendants of this process
// had together.
func watchChildren(ctx context.Context, peak *atomic.Int64) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for sleep(ctx, 50*time.Millisecond) == nil {
			peak.Store(max(peak.Load(), descendantsMemory()))
		}
	}()
	return func() { cancel(); <-done }
}

// descendantsMemory sums the resident sets of this process's descendants.
func descendantsMemory() (sum int64) {
	parents, sizes := map[int]int{}, map[int]int64{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		parents[pid], _ = strconv.Atoi(fields[1])
		pages, _ := strconv.ParseInt(fields[21], 10, 64)
		sizes[pid] = pages * int64(os.Getpagesize())
	}
	for pid := range parents {
		for p := parents[pid]; p > 1; p = parents[p] {
			if p == os.Getpid() {
				sum += sizes[pid]
				break
			}
		}
	}
	return sum
}

// BenchmarkIndexEdit changes one file after the other, and asks for the change.
func BenchmarkIndexEdit(b *testing.B) {
	x, s := benchIndex(b)
	awaitWatch(b, x)
	files := someFiles(b, x, 20)
	var ours, theirs []time.Duration
	for b.Loop() {
		ours, theirs = nil, nil
		for i, path := range files {
			name := fmt.Sprintf("bench_edit_%d_%d", i, rand.Int())
			// A macro: GNU Global loses the function behind a macro without semicolon.
			appendTo(b, filepath.Join(s.root, path), "#define "+name+" 1\n")
			start := time.Now()
			if got := definitions(b, x, name); !slices.Equal(got, []string{path}) {
				b.Fatalf("after the edit of %s: got %q", path, got)
			}
			ours = append(ours, time.Since(start))
		}
		time.Sleep(time.Second) // gtags compares whole seconds
		for _, path := range files[:3] {
			appendTo(b, filepath.Join(s.root, path), "int another;\n")
			theirs = append(theirs, s.gtags(b, "-i"))
			time.Sleep(time.Second)
		}
	}
	b.ReportMetric(median(ours).Seconds()*1e3, "ms/edit")
	b.ReportMetric(ours[len(ours)-1].Seconds()*1e3, "ms/slowest")
	b.ReportMetric(median(theirs).Seconds()*1e3, "ms/gtags-i")
	b.ReportMetric(median(ours).Seconds()/median(theirs).Seconds(), "of-gtags")
}

// someFiles picks n C files of ordinary size.
func someFiles(b *testing.B, x *Index, n int) (files []string) {
	b.Helper()
	s := acquire(b, x)
	defer s.Release()
	all := slices.Collect(s.Set().Files())
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(len(all)) {
		info, err := os.Stat(filepath.Join(x.root, all[i]))
		if err == nil && strings.HasSuffix(all[i], ".c") && info.Size() < 200<<10 {
			if files = append(files, all[i]); len(files) == n {
				return files
			}
		}
	}
	b.Fatalf("the tree has only %d C files", len(files))
	return nil
}

func appendTo(b *testing.B, path, text string) {
	b.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	_, err = f.WriteString(text)
	if err := cmp.Or(err, f.Close()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkIndexUnchanged is what a query pays to know that nothing has changed.
func BenchmarkIndexUnchanged(b *testing.B) {
	x, _ := benchIndex(b)
	b.Run("notifications", func(b *testing.B) {
		awaitWatch(b, x)
		for b.Loop() {
			acquire(b, x).Release()
		}
	})
	b.Run("scan", func(b *testing.B) {
		y := open(b, x.root, Options{NoWatch: true})
		acquire(b, y).Release()
		for b.Loop() {
			acquire(b, y).Release()
		}
	})
}

// BenchmarkIndexCheckout has git change 3,000 files, and asks all the while. Nearly
// all of its time is that of gtags -i, minutes for so many files: it deletes and
// inserts their records one by one.
func BenchmarkIndexCheckout(b *testing.B) {
	x, s := benchIndex(b)
	files := someFiles(b, x, 3000)
	git(b, s.root, "checkout", "-qf", "-B", "bench-before", "HEAD")
	git(b, s.root, "checkout", "-q", "-B", "bench-after")
	for _, path := range files {
		appendTo(b, filepath.Join(s.root, path), "int bench_checkout(void) { return 0; }\n")
	}
	git(b, s.root, "commit", "-qam", "3,000 files")
	var ours, theirs []time.Duration
	var slowest time.Duration
	asked := 0
	for b.Loop() {
		git(b, s.root, "checkout", "-q", "bench-before")
		if _, err := x.Update(b.Context(), false, nil); err != nil {
			b.Fatal(err)
		}
		if len(theirs) > 0 { // at first its database has never seen the other branch
			s.gtags(b, "-i")
		}
		awaitWatch(b, x)
		time.Sleep(time.Second)
		git(b, s.root, "checkout", "-q", "bench-after")
		start := time.Now()
		sites := 0
		for warned := true; warned; asked++ {
			began := time.Now()
			snap, err := x.Acquire(b.Context(), AcquireOptions{Wait: 100 * time.Millisecond})
			if err != nil {
				b.Fatal(err)
			}
			slowest = max(slowest, time.Since(began))
			found, err := snap.Set().Definitions("bench_checkout")
			if err != nil {
				b.Fatal(err)
			}
			sites, warned = len(found), len(snap.Warnings()) > 0
			snap.Release()
		}
		// In a few files gtags does not see a function at the end.
		if sites < len(files)*9/10 {
			b.Fatalf("an answer of %d files without a warning", sites)
		}
		ours = append(ours, time.Since(start))
		theirs = append(theirs, s.gtags(b, "-i"))
	}
	b.ReportMetric(median(ours).Seconds(), "s/refresh")
	b.ReportMetric(median(theirs).Seconds(), "s/gtags-i")
	b.ReportMetric(median(ours).Seconds()/median(theirs).Seconds(), "of-gtags")
	b.ReportMetric(slowest.Seconds()*1e3, "ms/slowest-query")
	b.ReportMetric(float64(asked)/float64(b.N), "queries/refresh")
}

// BenchmarkIndexLookup looks up 10,000 random symbols, some of them with global.
func BenchmarkIndexLookup(b *testing.B) {
	x, s := benchIndex(b)
	snap := acquire(b, x)
	defer snap.Release()
	names, err := snap.Set().Names("", gtagsdb.Definitions, 0)
	if err != nil {
		b.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	var ours, theirs []time.Duration
	for b.Loop() {
		ours, theirs = nil, nil
		for range 10_000 {
			name := names[random.IntN(len(names))]
			start := time.Now()
			if sites, err := snap.Set().Definitions(name); err != nil || len(sites) == 0 {
				b.Fatalf("%s: %v, %v", name, sites, err)
			}
			ours = append(ours, time.Since(start))
		}
		global := filepath.Join(filepath.Dir(s.tools.Gtags), "global")
		for range 200 {
			cmd := exec.Command(global, "-dx", "--literal", names[random.IntN(len(names))])
			cmd.Dir = s.root
			cmd.Env = append(s.tools.environ(), "GTAGSROOT="+s.root, "GTAGSDBPATH="+s.dir)
			start := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("global: %v\n%s", err, out)
			}
			theirs = append(theirs, time.Since(start))
		}
	}
	b.ReportMetric(float64(median(ours).Microseconds()), "µs/p50")
	b.ReportMetric(float64(ours[len(ours)*99/100].Microseconds()), "µs/p99")
	b.ReportMetric(median(ours).Seconds()/median(theirs).Seconds(), "p50-of-global")
	b.ReportMetric(ours[len(ours)*99/100].Seconds()/theirs[len(theirs)*99/100].Seconds(), "p99-of-global")
}

// BenchmarkIndexMemory is the memory of this process, beyond file-backed pages,
// after 1,000 mixed queries.
func BenchmarkIndexMemory(b *testing.B) {
	x, _ := benchIndex(b)
	names := []string{"kmalloc", "tcp_v4_rcv", "NULL", "probe", "struct", "spin_lock", "ret", "i", "dev", "no_such_name"}
	for b.Loop() {
		for i := range 1000 {
			s := acquire(b, x)
			var err error
			switch name := names[i%len(names)]; i / len(names) % 3 {
			case 0:
				_, err = s.Set().Definitions(name)
			case 1:
				_, err = s.Set().Occurrences(name)
			default:
				_, err = s.Set().Names(name, gtagsdb.Definitions, 1000)
			}
			if err != nil {
				b.Fatal(err)
			}
			s.Release()
		}
	}
	b.ReportMetric(float64(anonymousMemory(b))/(1<<20), "MB-anonymous")
}

func anonymousMemory(b *testing.B) int64 {
	b.Helper()
	f, err := os.Open("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "RssAnon:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			return kb << 10
		}
	}
	b.Fatal("/proc/self/status has no RssAnon")
	return 0
}
