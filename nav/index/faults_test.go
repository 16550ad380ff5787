//go:build faults && linux

package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gtagsmcp/gtagsmcp/nav/gtagsdb"
)

// The fault run, `make faults`: servers and gtags killed at random moments,
// power cuts, many servers on one tree, full disks. After each, every answer
// must equal that of a fresh build. It is repeatable: FAULTS_SEED, printed at
// the start, chooses all that is random here but the scheduling.

// A server is the test binary with INDEX_TEST_SERVER set to its job.
func init() {
	if job := os.Getenv("INDEX_TEST_SERVER"); job != "" {
		if err := playServer(job, os.Getenv("INDEX_TEST_ROOT")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

func playServer(job, root string) error {
	var tools Tools
	if err := json.Unmarshal([]byte(os.Getenv("INDEX_TEST_TOOLS")), &tools); err != nil {
		return err
	}
	x, err := Open(root, Options{
		CheckTimeout: time.Minute, Shards: 2,
		Tools: func(context.Context) (Tools, error) { return tools, nil },
	})
	if err != nil {
		return err
	}
	defer x.Close()
	if number, ok := strings.CutPrefix(job, "race "); ok {
		return race(x, number)
	}
	for {
		s, err := x.Acquire(context.Background(), AcquireOptions{Wait: time.Minute})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			continue
		}
		s.Release()
		if job == "full" {
			if _, err := x.Update(context.Background(), true, nil); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}
	}
}

// race writes a file of its own again and again, and holds the index to what it
// has just written.
func race(x *Index, number string) error {
	for n, end := 0, time.Now().Add(8*time.Second); time.Now().Before(end); n++ {
		name := fmt.Sprintf("race_%s_%d", number, n)
		path := "racer" + number + ".c"
		if err := os.WriteFile(filepath.Join(x.root, path), []byte("int "+name+"(void) { return 1; }\n"), 0o644); err != nil {
			return err
		}
		s, err := x.Acquire(context.Background(), AcquireOptions{Wait: time.Minute})
		if err != nil {
			return err
		}
		sites, err := s.Set().Definitions(name)
		if err != nil || (len(sites) != 1 || sites[0].Path != path) && len(s.Warnings()) == 0 {
			return fmt.Errorf("server %s: %s: got %v, %v, without a warning", number, name, sites, err)
		}
		s.Release()
	}
	return nil
}

// faultTree is a tree whose build takes about a second.
func faultTree(t *testing.T, root string, files, functions int) {
	t.Helper()
	for i := range files {
		faultFile(t, root, i, 0, functions)
	}
}

// faultFile writes version v of file i.
func faultFile(t *testing.T, root string, i, v, functions int) {
	t.Helper()
	var b strings.Builder
	for j := range functions {
		fmt.Fprintf(&b, "int f_%d_%d_%d(void)\n{\n\treturn f_%d_%d_0() + shared_%d;\n}\n", i, j, v, i+1, j, j)
	}
	write(t, root, map[string]string{fmt.Sprintf("d%d/f%d.c", i%17, i): b.String()})
}

func seeded(t *testing.T) *rand.Rand {
	seed, err := strconv.ParseUint(os.Getenv("FAULTS_SEED"), 10, 64)
	if err != nil {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("FAULTS_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// server starts a process that works on the index of root until it is killed.
func server(t *testing.T, job, root string) *exec.Cmd {
	t.Helper()
	tools, _ := realTools(t)(t.Context())
	b, err := json.Marshal(tools)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "INDEX_TEST_SERVER="+job, "INDEX_TEST_ROOT="+root, "INDEX_TEST_TOOLS="+string(b))
	cmd.Stderr = &tailBuffer{limit: 64 << 10}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if said := cmd.Stderr.(*tailBuffer).String(); strings.Contains(said, "panic") || strings.Contains(said, "fatal error") {
		t.Errorf("a server panicked:\n%s", said)
	}
}

// gtagsOf are the gtags processes that work on root.
func gtagsOf(root string) (pids []int) {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		dir, _ := os.Readlink(link)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(link)))
		if dir == root && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

func noProcesses(t *testing.T, root string) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); len(gtagsOf(root)) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("processes %v are left over", gtagsOf(root))
		}
	}
}

// dump is every answer of an index.
func dump(t *testing.T, x *Index) map[string]string {
	t.Helper()
	s := settled(t, x)
	defer s.Release()
	answers := map[string]string{"files": fmt.Sprint(slices.Collect(s.Set().Files()))}
	for _, from := range []gtagsdb.Source{gtagsdb.Definitions, gtagsdb.References | gtagsdb.OtherSymbols} {
		names, err := s.Set().Names("", from, 0)
		if err != nil {
			t.Fatal(err)
		}
		answers[fmt.Sprint("names ", from)] = fmt.Sprint(names)
		for _, name := range names {
			sites, err := s.Set().Definitions(name)
			refs, err2 := s.Set().Occurrences(name)
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			answers[name] = fmt.Sprint(sites, refs)
		}
	}
	return answers
}

// settled is a snapshot without warnings but those of a repair.
func settled(t *testing.T, x *Index) *Snapshot {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		s, err := x.Acquire(t.Context(), AcquireOptions{Wait: time.Minute})
		if err == nil && len(slices.DeleteFunc(s.Warnings(), func(w string) bool { return strings.Contains(w, "rebuilt") })) == 0 {
			return s
		}
		if time.Now().After(end) {
			t.Fatalf("the index does not settle: %v", err)
		}
		if err == nil {
			s.Release()
		}
	}
}

// equalsFresh compares every answer with that of a fresh build.
func equalsFresh(t *testing.T, root string) {
	t.Helper()
	x := open(t, root, Options{Shards: 2})
	defer x.Close()
	fresh := open(t, root, Options{Shards: 1})
	defer fresh.Close()
	fresh.dir = filepath.Join(t.TempDir(), "fresh")
	fresh.tree.dir = fresh.dir
	defer os.RemoveAll(fresh.dir)
	got, want := dump(t, x), dump(t, fresh)
	if maps.Equal(got, want) {
		return
	}
	for name, w := range want {
		if got[name] != w {
			t.Errorf("%s: got %.300s, want %.300s", name, got[name], w)
			return
		}
	}
	t.Errorf("%d answers, a fresh build has %d", len(got), len(want))
}

func TestFaultKills(t *testing.T) {
	random := seeded(t)
	root := t.TempDir()
	const files, functions = 300, 60
	faultTree(t, root, files, functions)
	version := 0
	for _, victim := range []string{"server", "gtags"} {
		for _, job := range []string{"refresh", "full", "build"} {
			for round := range 18 {
				if job == "build" {
					remove(t, filepath.Join(root, dirName))
				}
				s := server(t, job, root)
				pause := time.Duration(random.IntN(1500)) * time.Millisecond
				for end := time.Now().Add(pause); time.Now().Before(end); time.Sleep(time.Duration(random.IntN(50)) * time.Millisecond) {
					if job == "refresh" {
						version++
						faultFile(t, root, random.IntN(files), version, functions)
					}
				}
				if victim == "gtags" {
					for end := time.Now().Add(2 * time.Second); len(gtagsOf(root)) == 0 && time.Now().Before(end); {
						version++
						faultFile(t, root, random.IntN(files), version, functions)
						time.Sleep(20 * time.Millisecond)
					}
					for _, pid := range gtagsOf(root) {
						_ = syscall.Kill(pid, syscall.SIGKILL)
					}
					time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond)
				}
				kill(t, s)
				noProcesses(t, root)
				if equalsFresh(t, root); t.Failed() {
					t.Fatalf("after killing a %s in job %q, round %d", victim, job, round)
				}
			}
		}
	}
	sweepsAll(t, root)
}

// sweepsAll fails if a refresh leaves anything but one generation.
func sweepsAll(t *testing.T, root string) {
	t.Helper()
	x := open(t, root, Options{})
	write(t, root, map[string]string{"last.c": "int last;\nint last_function(void) { return 1; }\n"})
	wantDefinitions(t, x, "last_function", "last.c")
	noLeftovers(t, x)
}

func TestFaultRacingServers(t *testing.T) {
	for _, n := range []int{2, 8} {
		root := t.TempDir()
		faultTree(t, root, 100, 20)
		var servers []*exec.Cmd
		for i := range n {
			servers = append(servers, server(t, fmt.Sprint("race ", i), root))
		}
		for i, s := range servers {
			if err := s.Wait(); err != nil {
				t.Errorf("%d servers: server %d: %v\n%s", n, i, err, s.Stderr)
			}
		}
		noProcesses(t, root)
		equalsFresh(t, root)
		sweepsAll(t, root)
	}
}

// TestFaultTruncation takes what a power cut may take from what was not yet
// made to last: everything that CURRENT does not name.
func TestFaultTruncation(t *testing.T) {
	random := seeded(t)
	root := t.TempDir()
	faultTree(t, root, 200, 40)
	for round := range 20 {
		s := server(t, []string{"refresh", "full"}[round%2], root)
		time.Sleep(time.Duration(300+random.IntN(1500)) * time.Millisecond)
		kill(t, s)
		noProcesses(t, root)
		dir := filepath.Join(root, dirName)
		cur, err := readCurrent(dir)
		if err != nil {
			continue // killed before the first base
		}
		_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			rel, _ := filepath.Rel(dir, path)
			if top, _, _ := strings.Cut(rel, "/"); err == nil && e.Type().IsRegular() && !cur.names(top) && top != currentName {
				info, _ := e.Info()
				return os.Truncate(path, random.Int64N(info.Size()+1))
			}
			return nil
		})
		if equalsFresh(t, root); t.Failed() {
			t.Fatalf("after truncation in round %d", round)
		}
	}
}

// TestFaultPowerCut cuts the power of a file system: ext4 in a file, shut down
// without a flush of its journal. What was not synced is lost as on a real disk.
func TestFaultPowerCut(t *testing.T) {
	if os.Getuid() != 0 {
		t.Log("only root may mount a file system to cut its power; TestFaultTruncation stands in")
		return
	}
	if inNamespace(t) {
		return
	}
	random := seeded(t)
	image, root := filepath.Join(t.TempDir(), "image"), t.TempDir()
	if err := os.WriteFile(image, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, 512<<20); err != nil {
		t.Fatal(err)
	}
	command(t, "mkfs.ext4", "-q", image)
	command(t, "mount", "-o", "loop", image, root)
	defer func() { _ = exec.Command("umount", root).Run() }()
	const files, functions = 200, 40
	faultTree(t, root, files, functions)
	unix.Sync()
	for round := range 20 {
		s := server(t, []string{"refresh", "full"}[round%2], root)
		for end := time.Now().Add(time.Duration(random.IntN(2000)) * time.Millisecond); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			faultFile(t, root, random.IntN(files), round+1, functions)
		}
		shutdown(t, root)
		kill(t, s)
		noProcesses(t, root)
		command(t, "umount", root)
		command(t, "mount", "-o", "loop", image, root)
		if equalsFresh(t, root); t.Failed() {
			t.Fatalf("after the power cut in round %d", round)
		}
	}
}

// shutdown is EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH.
func shutdown(t *testing.T, root string) {
	t.Helper()
	f, err := os.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const ioctl, noLogFlush = 0x8004587d, 2
	if err := unix.IoctlSetPointerInt(int(f.Fd()), ioctl, noLogFlush); err != nil {
		t.Fatalf("shutting the file system down: %v", err)
	}
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

// TestFaultDiskFull fills a small disk to a random degree before builds and
// refreshes.
func TestFaultDiskFull(t *testing.T) {
	if inNamespace(t) {
		return
	}
	random := seeded(t)
	root := t.TempDir()
	if err := unix.Mount("none", root, "tmpfs", 0, "size=96m"); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Unmount(root, unix.MNT_DETACH) }()
	const files, functions = 200, 80
	faultTree(t, root, files, functions)
	filler := filepath.Join(root, "filler")
	failures := 0
	for round := range 60 {
		if round%2 == 0 {
			remove(t, filepath.Join(root, dirName))
		} else {
			for range 100 {
				faultFile(t, root, random.IntN(files), round, functions)
			}
		}
		fill(t, filler, random.Int64N(3<<20))
		x := open(t, root, Options{Shards: 2})
		s, err := x.Acquire(t.Context(), AcquireOptions{Wait: time.Minute})
		said := fmt.Sprint(err)
		if err == nil {
			said = strings.Join(s.Warnings(), "\n")
			s.Release()
		}
		if said != "" {
			failures++
			if !strings.Contains(said, "space") {
				t.Errorf("round %d: %q does not speak of space", round, said)
			}
		}
		remove(t, filler)
		if _, err := x.Update(t.Context(), false, nil); err != nil {
			t.Errorf("round %d, with space again: %v", round, err)
		}
		x.Close()
		if equalsFresh(t, root); t.Failed() {
			t.Fatalf("after a full disk in round %d", round)
		}
	}
	t.Logf("the disk was too full in %d of 60 rounds", failures)
	if failures < 5 {
		t.Error("the disk was hardly ever too full")
	}
	sweepsAll(t, root)
}

// fill leaves about so many bytes free on the disk of path.
func fill(t *testing.T, path string, leave int64) {
	t.Helper()
	free, err := freeSpace(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Fallocate(int(f.Fd()), 0, 0, max(free-leave, 1)); err != nil {
		t.Fatal(err)
	}
}

// inNamespace runs the test once more with mounts of its own, as root there. It
// returns false in that run. In the common namespace a process that takes a
// copy of it at the wrong time would keep a file system from being unmounted.
func inNamespace(t *testing.T) bool {
	t.Helper()
	const inside = "INDEX_TEST_NAMESPACE"
	if os.Getenv(inside) != "" {
		if err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			t.Fatal(err)
		}
		return false
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=30m")
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatalf("in a namespace: %v", err)
	}
	return true
}
