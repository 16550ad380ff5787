//go:build load

package main

//lint:file-ignore SA1019 Roots are deprecated, and clients use them.

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	loadClients  = 200
	loadSessions = 1000
	// thinkTime is the longest pause of a client between two calls. 200 clients
	// with a second on average ask 200 times a second, as some thousand agents do.
	thinkTime = 2 * time.Second
)

// loadTime is how long the clients go on: five minutes, or what
// GTAGS_MCP_LOAD_TIME says.
func loadTime(t *testing.T) time.Duration {
	text := os.Getenv("GTAGS_MCP_LOAD_TIME")
	if text == "" {
		return 5 * time.Minute
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// loadCalls are questions about Linux, as an agent mixes them.
var loadCalls = []mcp.CallToolParams{
	{Name: "find_definition", Arguments: map[string]any{"symbol": "tcp_v4_rcv"}},
	{Name: "find_definition", Arguments: map[string]any{"symbol": "kmap"}},
	{Name: "find_definition", Arguments: map[string]any{"symbol": "sys_read"}},
	{Name: "find_definition", Arguments: map[string]any{"symbol": "no_such_symbol"}},
	{Name: "find_references", Arguments: map[string]any{"symbol": "vfs_read"}},
	{Name: "find_references", Arguments: map[string]any{"symbol": "kmalloc"}},
	{Name: "find_references", Arguments: map[string]any{"symbol": "printk", "path_prefix": "fs/ext4"}},
	{Name: "get_symbol_body", Arguments: map[string]any{"symbol": "do_sys_openat2"}},
	{Name: "get_symbol_body", Arguments: map[string]any{"symbol": "task_struct"}},
	{Name: "find_callers", Arguments: map[string]any{"symbol": "ext4_mark_inode_dirty"}},
	{Name: "find_callees", Arguments: map[string]any{"symbol": "tcp_sendmsg_locked"}},
	{Name: "reachability", Arguments: map[string]any{"from_symbol": "ksys_read", "to_symbol": "rw_verify_area"}},
	{Name: "symbol_info", Arguments: map[string]any{"symbol": "sk_buff"}},
	{Name: "summarize_references", Arguments: map[string]any{"symbol": "mutex_lock"}},
	{Name: "list_file_symbols", Arguments: map[string]any{"file_path": "net/ipv4/tcp_ipv4.c"}},
}

// TestLoad has 200 clients of both eras ask about Linux for five minutes, while
// others are killed in the middle of their calls; then 1,000 sessions are opened
// and dropped. Nobody sees an error, memory stays flat, nothing is left behind.
func TestLoad(t *testing.T) {
	tree := os.Getenv("GTAGS_MCP_BENCH_TREE")
	if tree == "" {
		t.Fatal("GTAGS_MCP_BENCH_TREE names no tree; run make load")
	}
	s := startWebServer(t, nil, "--root", tree, "--metrics", "--session-timeout", "45s")
	warmLoad(t, s)
	t.Logf("before: %s", usage(t, s))

	cpu := cpuSeconds(t, s)
	total := loadTime(t)
	ctx, stop := context.WithTimeout(t.Context(), total)
	defer stop()
	var victims atomic.Int64
	go killClients(ctx, t, s, &victims)
	memory := make(chan []int)
	go func() { memory <- sampleMemory(ctx, s, total/30) }()
	r := runClients(ctx, t, s)

	t.Logf("%d calls by %d clients in %v, %d errors; %d other clients were killed meanwhile", r.count(), loadClients, total, len(r.errors), victims.Load())
	r.log(t)
	t.Logf("%.1f ms of the server's CPU time a call", 1000*(cpuSeconds(t, s)-cpu)/float64(r.count()))
	rss := <-memory
	t.Logf("resident memory in MB, every %v: %v", total/30, rss)
	for i, err := range r.errors {
		if i < 10 {
			t.Error(err)
		}
	}
	// The first third fills caches, which have limits.
	if early, late := slices.Max(rss[:len(rss)/3]), slices.Max(rss[2*len(rss)/3:]); late > early+early/5+20 {
		t.Errorf("memory grows: at most %d MB in the first third, %d MB in the last", early, late)
	}
	dropSessions(t, s)
}

// warmLoad asks until the index is there.
func warmLoad(t *testing.T, s *webServer) {
	session := loadClient(t.Context(), t, s, "2025-11-25")
	defer session.Close()
	for deadline := time.Now().Add(15 * time.Minute); ; time.Sleep(time.Second) {
		res, err := session.CallTool(t.Context(), &loadCalls[0])
		if err != nil {
			t.Fatal(err)
		}
		text := res.Content[0].(*mcp.TextContent).Text
		if !res.IsError && !strings.Contains(text, "warning:") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(text)
		}
	}
}

func loadClient(ctx context.Context, t testing.TB, s *webServer, era string) *mcp.ClientSession {
	client := mcp.NewClient(&mcp.Implementation{Name: "load", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: s.url, MaxRetries: -1,
		HTTPClient: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}},
	}, &mcp.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		t.Error(err)
		return nil
	}
	return session
}

// loadResult has the times of the calls of each tool.
type loadResult struct {
	took   map[string][]time.Duration
	errors []error
}

func (r *loadResult) count() (n int) {
	for _, took := range r.took {
		n += len(took)
	}
	return n
}

func (r *loadResult) log(t *testing.T) {
	var all []time.Duration
	line := func(name string, took []time.Duration) {
		slices.Sort(took)
		at := func(q float64) time.Duration { return took[int(q*float64(len(took)-1))].Round(10 * time.Microsecond) }
		t.Logf("%-22s %6d calls: p50 %v, p90 %v, p99 %v, longest %v", name, len(took), at(.5), at(.9), at(.99), at(1))
	}
	for _, name := range slices.Sorted(maps.Keys(r.took)) {
		line(name, r.took[name])
		all = append(all, r.took[name]...)
	}
	line("all", all)
}

// cpuSeconds is the time that the server has computed so far.
func cpuSeconds(t *testing.T, s *webServer) float64 {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	// The name may hold blanks; user and system time are the 12th and 13th
	// field behind it, in hundredths.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return float64(user+system) / 100
}

func runClients(ctx context.Context, t *testing.T, s *webServer) loadResult {
	var mu sync.Mutex
	all := loadResult{took: map[string][]time.Duration{}}
	var group sync.WaitGroup
	for i := range loadClients {
		group.Go(func() {
			mine := oneClient(ctx, t, s, []string{"2025-11-25", "2026-07-28"}[i%2])
			mu.Lock()
			defer mu.Unlock()
			for name, took := range mine.took {
				all.took[name] = append(all.took[name], took...)
			}
			all.errors = append(all.errors, mine.errors...)
		})
	}
	group.Wait()
	return all
}

func oneClient(ctx context.Context, t *testing.T, s *webServer, era string) loadResult {
	r := loadResult{took: map[string][]time.Duration{}}
	session := loadClient(t.Context(), t, s, era)
	if session == nil {
		return r
	}
	defer session.Close()
	for {
		select {
		case <-ctx.Done():
			return r
		case <-time.After(rand.N(thinkTime)):
		}
		call := loadCalls[rand.IntN(len(loadCalls))]
		start := time.Now()
		res, err := session.CallTool(t.Context(), &call)
		r.took[call.Name] = append(r.took[call.Name], time.Since(start))
		switch {
		case err != nil:
			r.errors = append(r.errors, fmt.Errorf("%s: %w", call.Name, err))
		case res.IsError:
			r.errors = append(r.errors, fmt.Errorf("%s %v: %s", call.Name, call.Arguments, res.Content[0].(*mcp.TextContent).Text))
		}
	}
}

// killClients starts clients in processes of their own and kills them while
// they wait for an answer.
func killClients(ctx context.Context, t *testing.T, s *webServer, killed *atomic.Int64) {
	for ctx.Err() == nil {
		victim := exec.Command(os.Args[0], "-test.run=^TestLoadVictim$")
		victim.Env = append(os.Environ(), "GTAGS_MCP_LOAD_VICTIM="+s.url)
		if err := victim.Start(); err != nil {
			t.Error(err)
			return
		}
		time.Sleep(time.Second + rand.N(2*time.Second))
		victim.Process.Signal(syscall.SIGKILL)
		victim.Wait()
		killed.Add(1)
	}
}

// TestLoadVictim is a client that calls without a pause until it is killed.
func TestLoadVictim(t *testing.T) {
	url := os.Getenv("GTAGS_MCP_LOAD_VICTIM")
	if url == "" {
		return // it is started by TestLoad
	}
	session := loadClient(t.Context(), t, &webServer{url: url}, "2025-11-25")
	for {
		session.CallTool(t.Context(), &loadCalls[rand.IntN(len(loadCalls))])
	}
}

func sampleMemory(ctx context.Context, s *webServer, every time.Duration) (rss []int) {
	for {
		select {
		case <-ctx.Done():
			return rss
		case <-time.After(every):
			rss = append(rss, residentMB(s))
		}
	}
}

func residentMB(s *webServer) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Process.Pid))
	if err != nil {
		return -1
	}
	m := regexp.MustCompile(`(?m)^RssAnon:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		return -1
	}
	kb, _ := strconv.Atoi(string(m[1]))
	return kb >> 10
}

// state is what a server holds on to.
type state struct{ goroutines, descriptors, megabytes int }

func (s state) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %d MB of memory of its own", s.goroutines, s.descriptors, s.megabytes)
}

func usage(t *testing.T, s *webServer) state {
	t.Helper()
	res, err := http.Get(strings.TrimSuffix(s.url, "/mcp") + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	page, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^go_goroutines (\d+)`).FindSubmatch(page)
	if m == nil {
		t.Fatalf("no go_goroutines in %s", page)
	}
	goroutines, _ := strconv.Atoi(string(m[1]))
	open, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(s.Process.Pid), "fd"))
	if err != nil {
		t.Fatal(err)
	}
	return state{goroutines, len(open), residentMB(s)}
}

// dropSessions opens sessions, leaves each in the middle of something, and
// waits for the server to forget them.
func dropSessions(t *testing.T, s *webServer) {
	http.DefaultClient.CloseIdleConnections()
	time.Sleep(time.Minute) // sessions of the killed clients end
	before := usage(t, s)
	for i := range loadSessions {
		transport := &http.Transport{}
		client := mcp.NewClient(&mcp.Implementation{Name: "load", Version: "1"}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: s.url, MaxRetries: -1, HTTPClient: &http.Client{Transport: transport}},
			&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			t.Fatalf("session %d: %v", i, err)
		}
		go session.CallTool(ctx, &loadCalls[i%len(loadCalls)])
		time.Sleep(time.Millisecond)
		cancel() // without DELETE, as a client that is killed
		transport.CloseIdleConnections()
	}
	t.Logf("with %d dropped sessions: %s", loadSessions, usage(t, s))
	var after state
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Second) {
		after = usage(t, s)
		if after.goroutines <= before.goroutines+10 && after.descriptors <= before.descriptors+10 {
			t.Logf("before: %s; afterwards: %s", before, after)
			return
		}
	}
	t.Errorf("before: %s; afterwards: %s", before, after)
}
