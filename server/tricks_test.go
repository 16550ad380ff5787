package server

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gtagsmcp/gtagsmcp/nav"
	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
)

// fencedServer serves one folder over HTTP; beside it is a secret repository
// with a function that no answer may name.
type fencedServer struct {
	url             string
	allowed, secret string
	ran             string // appears when a program of an attacker's is run
}

const secretTree = "-- hidden.c --\nint hidden_function(void) { return 1; }\n"

func startFenced(t *testing.T) fencedServer {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := fencedServer{allowed: filepath.Join(top, "allowed"), secret: filepath.Join(top, "secret"), ran: filepath.Join(top, "ran")}
	move(t, navtest.Tree(t, smallTree), filepath.Join(f.allowed, "tree"))
	move(t, navtest.Tree(t, secretTree), f.secret)
	git(t, filepath.Join(f.allowed, "tree"), "add", "-A")
	git(t, filepath.Join(f.allowed, "tree"), "commit", "-qm", "x")
	git(t, f.secret, "add", "-A")
	git(t, f.secret, "commit", "-qm", "x")
	fence, err := nav.NewFence(f.allowed)
	if err != nil {
		t.Fatal(err)
	}
	f.url = startHTTP(t, newTestServer(t, func(cfg *Config) {
		tc := toolchain(t)
		cfg.Fence = fence
		cfg.Open = func(root string, s Settings) (*nav.Workspace, error) {
			opts := testOptions(tc)
			opts.Fence = fence
			opts.Index.CacheDir = filepath.Join(top, "cache")
			return nav.OpenWorkspace(root, opts)
		}
	}), HTTPOptions{})
	return f
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@invalid"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func symlink(t *testing.T, target, link string) {
	t.Helper()
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
}

// TestTricks tries to read outside the folder that is served, and to have
// something run, one trick after the other.
func TestTricks(t *testing.T) {
	f := startFenced(t)
	tree, hidden := filepath.Join(f.allowed, "tree"), filepath.Join(f.secret, "hidden.c")
	trap := filepath.Join(f.allowed, "trap.sh")
	if err := os.WriteFile(trap, []byte("#!/bin/sh\ntouch "+f.ran+"\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	type args = map[string]any
	for _, test := range []struct {
		name      string
		prepare   func(t *testing.T, root string) // root is a copy of the tree
		tool      string
		arguments args
		failed    bool
		want      string
	}{
		{"the tree itself answers", nil, "find_definition", args{"symbol": "map_page"}, false, "lib/map.c:3:"},

		{"project_root elsewhere", nil, "find_definition", args{"symbol": "hidden_function", "project_root": f.secret}, true, "outside the folders"},
		{"project_root above", nil, "find_definition", args{"symbol": "hidden_function", "project_root": filepath.Dir(f.allowed)}, true, "outside the folders"},
		{"project_root with dots", nil, "find_definition", args{"symbol": "hidden_function", "project_root": tree + "/../../secret"}, true, "outside the folders"},
		{"project_root that begins like an allowed one", nil, "find_definition", args{"symbol": "x", "project_root": f.allowed + "-not"}, true, "outside the folders"},
		{"project_root through a link", func(t *testing.T, root string) { symlink(t, f.secret, filepath.Join(f.allowed, "way-out")) },
			"find_definition", args{"symbol": "hidden_function", "project_root": filepath.Join(f.allowed, "way-out")}, true, "outside the folders"},
		{"project_root through a link to nothing", func(t *testing.T, root string) {
			symlink(t, filepath.Join(f.secret, "none"), filepath.Join(f.allowed, "nowhere"))
		}, "find_definition", args{"symbol": "x", "project_root": filepath.Join(f.allowed, "nowhere")}, true, "outside the folders"},
		{"project_root in the home directory", nil, "find_definition", args{"symbol": "x", "project_root": "~/"}, true, "outside the folders"},
		{"project_root that is relative", nil, "find_definition", args{"symbol": "x", "project_root": "../secret"}, true, "absolute path"},
		{"project_root with NUL", nil, "find_definition", args{"symbol": "x", "project_root": tree + "\x00"}, true, "is not a path"},

		{"file_path elsewhere", nil, "list_file_symbols", args{"file_path": hidden}, true, "outside the project root"},
		{"file_path with dots", nil, "list_file_symbols", args{"file_path": "../../secret/hidden.c"}, true, "outside the project root"},
		{"file_path through a link", func(t *testing.T, root string) { symlink(t, hidden, filepath.Join(root, "lib", "link.c")) },
			"list_file_symbols", args{"file_path": "lib/link.c"}, true, "lib/link.c"},
		{"file_path through a linked folder", func(t *testing.T, root string) { symlink(t, f.secret, filepath.Join(root, "dir")) },
			"list_file_symbols", args{"file_path": "dir/hidden.c"}, true, "dir/hidden.c"},
		{"file_path that is a pipe", func(t *testing.T, root string) {
			if err := unix.Mkfifo(filepath.Join(root, "lib", "pipe.c"), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "list_file_symbols", args{"file_path": "lib/pipe.c"}, true, "not a regular file"},
		{"file_path that is a device", nil, "list_file_symbols", args{"file_path": "/dev/zero"}, true, "outside the project root"},

		{"path elsewhere", nil, "find_code", args{"route": "structure", "path": hidden}, true, "outside the project root"},
		{"path with dots", nil, "find_code", args{"route": "structure", "path": "../../secret/hidden.c"}, true, "outside the project root"},
		{"path through a link", func(t *testing.T, root string) { symlink(t, hidden, filepath.Join(root, "lib", "link.c")) },
			"find_code", args{"route": "structure", "path": "lib/link.c"}, true, "lib/link.c"},
		{"names of linked files", func(t *testing.T, root string) { symlink(t, f.secret, filepath.Join(root, "dir")) },
			"find_code", args{"route": "symbols", "query": "hidden_function"}, false, "no declaration"},

		{"path_prefix elsewhere", nil, "find_references", args{"symbol": "map_page", "path_prefix": f.secret}, true, "outside the project root"},
		{"path_prefix with dots", nil, "find_references", args{"symbol": "map_page", "path_prefix": "../../secret"}, true, "outside the project root"},
		{"a selector elsewhere", nil, "get_symbol_body", args{"symbol": "hidden_function@" + hidden}, false, "no definition"},

		{"linked files are not indexed", func(t *testing.T, root string) {
			symlink(t, hidden, filepath.Join(root, "lib", "link.c"))
			symlink(t, f.secret, filepath.Join(root, "dir"))
		}, "find_definition", args{"symbol": "hidden_function"}, false, "no definition"},

		{"active_config elsewhere", nil, "find_definition", args{"symbol": "map_page", "active_config": filepath.Join(f.secret, "hidden.c")}, true, "outside the folders"},
		{"active_config with dots", nil, "find_definition", args{"symbol": "map_page", "active_config": "../../secret/.config"}, true, "outside the folders"},
		{"active_config through a link", func(t *testing.T, root string) { symlink(t, hidden, filepath.Join(root, ".config")) },
			"find_definition", args{"symbol": "map_page", "active_config": ".config"}, true, "outside the folders"},
		{"active_config that never ends", nil, "find_definition", args{"symbol": "map_page", "active_config": "/dev/zero"}, true, "outside the folders"},
		{"active_config that is a pipe", func(t *testing.T, root string) {
			if err := unix.Mkfifo(filepath.Join(root, "pipe.config"), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "find_definition", args{"symbol": "map_page", "active_config": "pipe.config"}, true, "not a regular file"},

		{"git_ref that is an option", nil, "blast_radius", args{"git_ref": "--output=" + f.ran}, true, "is not the name of a commit"},
		{"git_ref that is a short option", nil, "blast_radius", args{"git_ref": "-O" + f.ran}, true, "is not the name of a commit"},
		{"git_ref with a shell in it", nil, "blast_radius", args{"git_ref": "HEAD;touch${IFS}" + f.ran}, true, "no such commit"},
		{"git_ref with a substitution", nil, "blast_radius", args{"git_ref": "$(touch${IFS}" + f.ran + ")"}, true, "no such commit"},
		{"git_ref with a line break", nil, "blast_radius", args{"git_ref": "HEAD\n--output=" + f.ran}, true, "is not the name of a commit"},
		{"git_ref that is a path", nil, "blast_radius", args{"git_ref": "HEAD:lib/map.c"}, true, "no such commit"},

		{"a filter of the repository", func(t *testing.T, root string) {
			git(t, root, "config", "filter.x.clean", trap)
			navtest.Write(t, root, ".gitattributes", "*.c filter=x\n")
			navtest.Write(t, root, "lib/user.c", "int changed;\n")
		}, "blast_radius", args{}, false, "changed"},
		{"a diff driver of the repository", func(t *testing.T, root string) {
			git(t, root, "config", "diff.x.command", trap)
			git(t, root, "config", "diff.external", trap)
			git(t, root, "config", "core.fsmonitor", trap)
			navtest.Write(t, root, ".gitattributes", "*.c diff=x\n")
			navtest.Write(t, root, "lib/user.c", "int changed;\n")
		}, "blast_radius", args{}, false, "changed"},
		{"a repository that is elsewhere", func(t *testing.T, root string) {
			if err := os.RemoveAll(filepath.Join(root, ".git")); err != nil {
				t.Fatal(err)
			}
			navtest.Write(t, root, ".git", "gitdir: "+filepath.Join(f.secret, ".git")+"\n")
		}, "blast_radius", args{}, true, "outside the folders"},
		{"a repository that is a link", func(t *testing.T, root string) {
			if err := os.RemoveAll(filepath.Join(root, ".git")); err != nil {
				t.Fatal(err)
			}
			symlink(t, filepath.Join(f.secret, ".git"), filepath.Join(root, ".git"))
		}, "blast_radius", args{}, true, "outside the folders"},
		{"objects that are a link", func(t *testing.T, root string) {
			if err := os.RemoveAll(filepath.Join(root, ".git", "objects")); err != nil {
				t.Fatal(err)
			}
			symlink(t, filepath.Join(f.secret, ".git", "objects"), filepath.Join(root, ".git", "objects"))
		}, "blast_radius", args{"git_ref": git(t, f.secret, "rev-parse", "HEAD")}, true, "outside the folders"},
		{"objects that are borrowed", func(t *testing.T, root string) {
			navtest.Write(t, root, ".git/objects/info/alternates", filepath.Join(f.secret, ".git", "objects")+"\n")
		}, "blast_radius", args{"git_ref": git(t, f.secret, "rev-parse", "HEAD")}, true, "outside the folders"},
		{"another work tree", func(t *testing.T, root string) { git(t, root, "config", "core.worktree", f.secret) },
			"blast_radius", args{}, true, "outside the folders"},

		{"bin_dir of the project", func(t *testing.T, root string) {
			navtest.Write(t, root, "bin/gtags", "#!/bin/sh\ntouch "+f.ran+"\n")
			os.Chmod(filepath.Join(root, "bin", "gtags"), 0o755)
			navtest.Write(t, root, projectConfig, "bin_dir = \""+root+"/bin\"\n")
		}, "find_definition", args{"symbol": "map_page"}, false, "bin_dir counts only in your own config file"},
		{"root of the project", func(t *testing.T, root string) {
			navtest.Write(t, root, projectConfig, "root = \""+f.secret+"\"\n")
		}, "find_definition", args{"symbol": "hidden_function"}, false, "no definition"},
		{"allow_any_root of the project", func(t *testing.T, root string) {
			navtest.Write(t, root, projectConfig, "allow_any_root = true\n")
		}, "find_definition", args{"symbol": "map_page"}, false, "allow_any_root counts only in your own config file"},
		{"a config file that is a link", func(t *testing.T, root string) { symlink(t, hidden, filepath.Join(root, projectConfig)) },
			"find_definition", args{"symbol": "map_page"}, false, "path escapes"},
		{"a config file that is a pipe", func(t *testing.T, root string) {
			if err := unix.Mkfifo(filepath.Join(root, projectConfig), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "find_definition", args{"symbol": "map_page"}, false, "not a regular file"},
		{"an index folder that is a link", func(t *testing.T, root string) {
			if err := os.Mkdir(filepath.Join(f.secret, "index"), 0o755); err != nil {
				t.Fatal(err)
			}
			symlink(t, filepath.Join(f.secret, "index"), filepath.Join(root, ".gtags-mcp"))
		}, "find_definition", args{"symbol": "map_page"}, false, "lib/map.c:3:"},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := filepath.Join(f.allowed, strings.ReplaceAll(test.name, " ", "-"))
			copyTree(t, tree, root)
			if test.prepare != nil {
				test.prepare(t, root)
			}
			if test.arguments["project_root"] == nil {
				test.arguments["project_root"] = root
			}
			session := connectHTTP(t, f.url, eras[len(test.name)%2])
			got, failed := ask(t, session, test.tool, test.arguments)
			if failed != test.failed || !strings.Contains(got, test.want) {
				t.Errorf("failed=%v, got\n%s\nwant failed=%v and %q", failed, got, test.failed, test.want)
			}
			if strings.Contains(strings.ReplaceAll(got, "no definition of hidden_function", ""), "int hidden_function") {
				t.Errorf("the answer tells what is outside:\n%s", got)
			}
			if _, err := os.Lstat(f.ran); err == nil {
				t.Error("a program of the attacker's was run, or a file written")
				os.Remove(f.ran)
			}
		})
	}
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v\n%s", err, out)
	}
}

// TestRootOfTheClientIsFenced names workspace roots outside, as a client does.
func TestRootOfTheClientIsFenced(t *testing.T) {
	f := startFenced(t)
	for _, era := range eras {
		session := connectHTTP(t, f.url, era, f.secret)
		got, failed := ask(t, session, "find_definition", map[string]any{"symbol": "hidden_function"})
		if !failed || !strings.Contains(got, "outside the folders") {
			t.Errorf("%s: failed=%v, got %s", era, failed, got)
		}
	}
}

// TestTreeSwappedDuringCalls asks about a tree that is replaced by a link to the
// secret one and back, all the time: no answer may come from there.
func TestTreeSwappedDuringCalls(t *testing.T) {
	f := startFenced(t)
	tree, aside, link := filepath.Join(f.allowed, "tree"), filepath.Join(f.allowed, "aside"), filepath.Join(f.allowed, "link")
	symlink(t, f.secret, link)
	session := connectHTTP(t, f.url, eras[0])
	arguments := map[string]any{"project_root": tree, "symbol": "hidden_function"}
	if got, failed := ask(t, session, "find_definition", arguments); failed {
		t.Fatal(got)
	}
	stop, stopped := make(chan struct{}), make(chan int)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				stopped <- n
				return
			case <-time.After(time.Millisecond):
			}
			os.Rename(tree, aside)
			os.Rename(link, tree)
			time.Sleep(time.Millisecond)
			os.Rename(tree, link)
			os.Rename(aside, tree)
		}
	}()
	answered := 0
	for start := time.Now(); time.Since(start) < 2*time.Second; {
		for tool, more := range map[string]map[string]any{
			"find_definition": {"symbol": "hidden_function"}, "list_file_symbols": {"file_path": "hidden.c"},
			"get_symbol_body": {"symbol": "hidden_function"},
		} {
			more["project_root"] = tree
			got, failed := ask(t, session, tool, more)
			if strings.Contains(got, "int hidden_function") {
				t.Fatalf("%s tells what is outside:\n%s", tool, got)
			}
			if !failed {
				answered++
			}
		}
	}
	close(stop)
	if n := <-stopped; n < 20 || answered == 0 {
		t.Errorf("%d swaps and %d answers: too few to show anything", n, answered)
	}
}
