package server

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
)

// benchTree is a checkout of a large tree; `make bench` fetches one.
func benchTree(b *testing.B) string {
	tree := os.Getenv("GTAGS_MCP_BENCH_TREE")
	if tree == "" {
		b.Fatal("GTAGS_MCP_BENCH_TREE names no tree; run make bench")
	}
	return tree
}

// globalIndex is an ordinary index of the tree, made by one gtags: what global
// is measured on.
func globalIndex(b *testing.B, tools navtest.Toolchain, tree string) string {
	db := tree + ".global"
	if _, err := os.Stat(filepath.Join(db, "complete")); err == nil {
		return db
	}
	if err := os.RemoveAll(db); err != nil {
		b.Fatal(err)
	}
	if err := os.MkdirAll(db, 0o755); err != nil {
		b.Fatal(err)
	}
	list := exec.Command("git", "ls-files")
	list.Dir = tree
	files, err := list.Output()
	if err != nil {
		b.Fatalf("git ls-files in %s: %v", tree, err)
	}
	gtags := exec.Command(tools.Gtags, "--gtagslabel=native", "-f", "-", db)
	gtags.Dir, gtags.Env, gtags.Stdin = tree, tools.Env, strings.NewReader(string(files))
	if out, err := gtags.CombinedOutput(); err != nil {
		b.Fatalf("gtags: %v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(db, "complete"), nil, 0o644); err != nil {
		b.Fatal(err)
	}
	return db
}

// warm asks until the index is built and known to be fresh.
func warm(b *testing.B, session *mcp.ClientSession, tree string) {
	for {
		text, failed := ask(b, session, "find_definition", map[string]any{"project_root": tree, "symbol": "tcp_v4_rcv"})
		if failed && !strings.Contains(text, "etry") {
			b.Fatal(text)
		}
		if !failed && !strings.Contains(text, "warning:") {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// BenchmarkAgainstGlobal asks one question of a warm server in memory and of
// global, a process each time as its users start it, in turn. The ratio of the
// medians is the metric "of-global"; "over-MCP-of-global" adds a client and both
// ends of the protocol library in the same process.
func BenchmarkAgainstGlobal(b *testing.B) {
	tree := benchTree(b)
	tools := navtest.Tools(b)
	db := globalIndex(b, tools, tree)
	s := newTestServer(b, nil)
	session := connect(b, s, eras[0], nil)
	warm(b, session, tree)
	for _, test := range []struct {
		name, tool string
		arguments  map[string]any
		global     []string
	}{
		{"definition", "find_definition", map[string]any{"symbol": "tcp_v4_rcv"}, []string{"-dx", "tcp_v4_rcv"}},
		{"references", "find_references", map[string]any{"symbol": "kmalloc"}, []string{"-rx", "kmalloc"}},
		{"file", "list_file_symbols", map[string]any{"file_path": "net/ipv4/tcp_ipv4.c"}, []string{"-fx", "net/ipv4/tcp_ipv4.c"}},
	} {
		b.Run(test.name, func(b *testing.B) {
			test.arguments["project_root"] = tree
			raw, err := json.Marshal(test.arguments)
			if err != nil {
				b.Fatal(err)
			}
			var ours, overMCP, theirs []time.Duration
			for b.Loop() {
				start := time.Now()
				if a, err := s.Call(b.Context(), test.tool, raw, func(string, float64, float64) {}); err != nil || a.Failed {
					b.Fatal(a.Text, err)
				}
				ours = append(ours, time.Since(start))
				start = time.Now()
				if text, failed := ask(b, session, test.tool, test.arguments); failed {
					b.Fatal(text)
				}
				overMCP = append(overMCP, time.Since(start))
				if len(theirs) < 20 {
					theirs = append(theirs, runGlobal(b, tools, tree, db, test.global))
				}
			}
			b.ReportMetric(median(ours).Seconds()*1e6, "µs/median")
			b.ReportMetric(median(theirs).Seconds()*1e6, "µs/global")
			b.ReportMetric(median(ours).Seconds()/median(theirs).Seconds(), "of-global")
			b.ReportMetric(median(overMCP).Seconds()/median(theirs).Seconds(), "over-MCP-of-global")
		})
	}
}

func runGlobal(b *testing.B, tools navtest.Toolchain, tree, db string, args []string) time.Duration {
	cmd := exec.Command(tools.Global, args...)
	cmd.Dir = tree
	cmd.Env = append(slices.Clone(tools.Env), "GTAGSROOT="+tree, "GTAGSDBPATH="+db)
	start := time.Now()
	out, err := cmd.Output()
	if err != nil || len(out) == 0 {
		b.Fatalf("global %v: %v, %d bytes", args, err, len(out))
	}
	return time.Since(start)
}

func median(d []time.Duration) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}
