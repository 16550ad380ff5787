//go:build install && linux

package bootstrap_test

import (
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch/releasetest"
)

// The roots come from .ci/install-roots, which make test-install runs first.
const envRoots = "GTAGS_MCP_INSTALL_ROOTS"

// enterRoot mounts the home into a root, as $3 says, and goes there. It runs in
// namespaces of its own, so nothing outside sees the mounts, and all that the
// command started ends with it.
const enterRoot = `
set -e
root=$1 home=$2 how=$3
shift 3
for f in null zero; do mount --bind /dev/$f "$root/dev/$f"; done
mount -t tmpfs -o mode=1777 none "$root/tmp"
mount --bind "$home" "$root/home"
case $how in
ro | noexec) mount -o "remount,bind,$how" "$root/home" ;;
size=*) mount -t tmpfs -o "mode=1777,$how" none "$root/home/user/.local" ;;
esac
user=
if [ "$(cat /proc/self/uid_map | tr -s ' ')" = ' 0 0 4294967295' ]; then user=--userspec=65534:65534; fi
exec chroot $user "$root" "$@"
`

// inRoot is a machine in one of the roots: programs are what the folder set
// holds, shell is the script's reader, how the mode of the home's mount.
func inRoot(t *testing.T, root, set, shell, how string, env ...string) *machine {
	t.Helper()
	roots := os.Getenv(envRoots)
	if roots == "" {
		t.Fatalf("%s is not set; run make test-install", envRoots)
	}
	top := t.TempDir()
	m := &machine{t: t, home: filepath.Join(top, "user"), shell: append(strings.Fields(shell), "-s", "--")}
	if err := os.Mkdir(m.home, 0o755); err != nil {
		t.Fatal(err)
	}
	m.enter = []string{"unshare", "--mount", "--pid", "--fork", "--kill-child"}
	if os.Getuid() != 0 {
		m.enter = append(m.enter, "--map-root-user")
	}
	m.enter = append(m.enter, "sh", "-c", enterRoot, "enter", filepath.Join(roots, root), top, how, "/bin/env", "-i",
		"HOME=/home/user", "SHELL=/bin/bash", "PATH="+set)
	m.enter = append(m.enter, env...)
	m.give()
	return m
}

// debian is a machine whose programs are those of one choice.
func debian(t *testing.T, set string, env ...string) *machine {
	t.Helper()
	return inRoot(t, "debian", "/set/"+set, "/bin/bash", "", env...)
}

// TestInstallMatrixLife: everything that downloads, everything that checks, and
// every shell that reads the script.
func TestInstallMatrixLife(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ root, set, shell, checker string }{
		{"debian", "/set/curl-minisign", "/bin/bash", "minisign"},
		{"debian", "/set/curl-openssl", "/bin/bash", "openssl"},
		{"debian", "/set/curl-python", "/bin/dash", "python"},
		{"debian", "/set/wget-minisign", "/bin/bash --posix", "minisign"},
		{"debian", "/set/wget-openssl", "/bin/dash", "openssl"},
		{"debian", "/set/python", "/bin/bash", "python"},
		{"debian", "/usr/bin", "/bin/bash", "minisign"},
	} {
		t.Run(strings.ReplaceAll(c.set[1:], "/", "-")+"-"+filepath.Base(c.shell), func(t *testing.T) {
			v := newVendor(t, releasetest.New(t))
			v.publish("v1.0.0", 1000)
			m := inRoot(t, c.root, c.set, c.shell, "", "GTAGS_MCP_MIRROR="+v.URL)
			m.run(v.script(), "--no-path").want(t, 0, "signature checked ("+c.checker+")")
			m = inRoot(t, c.root, c.set, c.shell, "", "GTAGS_MCP_MIRROR="+v.URL)
			live(t, m, v, ".bashrc")
		})
	}
}

// TestInstallMatrixUnsigned: where nothing can check the signature, TLS must
// vouch for the server, and --require-signature is not met.
func TestInstallMatrixUnsigned(t *testing.T) {
	t.Parallel()
	plain, secure := newVendor(t, releasetest.New(t)), newVendor(t, releasetest.NewTLS(t))
	plain.publish("v1.0.0", 1000)
	secure.publish("v1.0.0", 1000)
	for _, set := range []string{"curl-nothing", "wget-nothing"} {
		m := debian(t, set, "GTAGS_MCP_MIRROR="+secure.URL, "SSL_CERT_FILE=/home/user/ca.pem")
		m.trust(secure)
		m.run(secure.script()).want(t, 0, "the signature was NOT checked: neither minisign nor openssl 3 nor python3", "v1.0.0: ")
		m = debian(t, set, "GTAGS_MCP_MIRROR="+secure.URL, "SSL_CERT_FILE=/home/user/ca.pem")
		m.trust(secure)
		m.run(secure.script(), "--require-signature").want(t, 1, "--require-signature: neither")
		m.nothing()
		m = debian(t, set, "GTAGS_MCP_MIRROR="+plain.URL)
		m.run(plain.script()).want(t, 1, "the signature cannot be checked", "over http does not")
		m.nothing()
	}
	m := inRoot(t, "busybox", "/bin", "/bin/sh", "", "GTAGS_MCP_MIRROR="+plain.URL)
	m.run(plain.script()).want(t, 1, "the signature cannot be checked", "busybox over http does not")
	m.nothing()
	// A script without a key, as in the repository before the first release.
	m = debian(t, "curl-minisign", "GTAGS_MCP_MIRROR="+secure.URL, "SSL_CERT_FILE=/home/user/ca.pem")
	m.trust(secure)
	m.run(withKey(installer(t), "")).want(t, 0, "the signature was NOT checked: this script has no release key in it")
	debian(t, "none").run(plain.script()).want(t, 1, "curl, wget or python3 is needed to download")
}

// TestInstallMatrixBusybox: one program plays all others, minisign added.
func TestInstallMatrixBusybox(t *testing.T) {
	t.Parallel()
	v := newVendor(t, releasetest.New(t))
	v.publish("v1.0.0", 1000)
	m := inRoot(t, "busybox", "/bin:/home/tools", "/bin/sh", "", "GTAGS_MCP_MIRROR="+v.URL)
	m.staticMinisign()
	live(t, m, v, ".bashrc")
}

// staticMinisign gives the machine a minisign: our own library behind its
// command line, built static, since Debian's needs libraries.
func (m *machine) staticMinisign() {
	m.t.Helper()
	tools := filepath.Join(filepath.Dir(m.home), "tools")
	cmd := exec.Command("go", "build", "-o", filepath.Join(tools, "minisign"), "aead.dev/minisign/cmd/minisign")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		m.t.Fatalf("go build: %v\n%s", err, out)
	}
}

// nothing checks that no file was made.
func (m *machine) nothing() {
	m.t.Helper()
	found := files(m.t, m.home)
	delete(found, "/ca.pem")
	delete(found, "/.local")
	delete(found, "/.local/bin")
	if len(found) != 1 {
		m.t.Errorf("left %v", slices.Sorted(maps.Keys(found)))
	}
}

// trust puts a server's certificate where SSL_CERT_FILE names it.
func (m *machine) trust(v *vendor) {
	m.t.Helper()
	write(m.t, filepath.Join(m.home, "ca.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: v.Cert})))
}

var downloaders = []string{"curl-minisign", "wget-minisign", "python"}

// TestInstallMatrixCutOnce breaks the download of the archive once, at every
// 64 kB: it is continued, or begun again where the server knows no ranges.
func TestInstallMatrixCutOnce(t *testing.T) {
	t.Parallel()
	const size = 640 << 10
	for _, set := range downloaders {
		for at := 0; at < size*3/4; at += 64 << 10 {
			for _, ranges := range []bool{true, false} {
				v := newVendor(t, releasetest.New(t))
				v.publish("v1.0.0", size)
				if !ranges {
					v.Use(releasetest.WithoutRanges())
				}
				v.Use(releasetest.When("objects/gtagsmcp/gtagsmcp/v1.0.0/gtagsmcp-", releasetest.Times(1, releasetest.CutAfter(at))))
				m := debian(t, set, "GTAGS_MCP_MIRROR="+v.URL)
				r := m.run(v.script())
				if r.code != 0 {
					t.Errorf("%s, cut at %d, ranges %v: %s", set, at, ranges, r.text)
				}
				m.has("v1.0.0", size)
			}
		}
	}
}

// has checks that the program is there, whole.
func (m *machine) has(version string, size int) {
	m.t.Helper()
	if got := read(m.t, filepath.Join(m.home, ".local/bin/gtagsmcp")); got != string(program(version, size)) {
		m.t.Errorf("the program is not %s, but %d bytes: %.60q", version, len(got), got)
	}
	entries, err := os.ReadDir(filepath.Join(m.home, ".local/bin"))
	if err != nil {
		m.t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "gtagsmcp" && e.Name() != ".gtagsmcp.previous" {
			m.t.Errorf("beside the program: %s", e)
		}
	}
}

// TestInstallMatrixCutAlways breaks every answer after n bytes. With ranges the
// file arrives in pieces; without, the old program stays.
func TestInstallMatrixCutAlways(t *testing.T) {
	t.Parallel()
	const size = 320 << 10
	for _, set := range downloaders {
		for at := 0; at < size*3/4; at += 64 << 10 {
			v := newVendor(t, releasetest.New(t))
			v.publish("v1.0.0", size)
			m := debian(t, set, "GTAGS_MCP_MIRROR="+v.URL)
			m.run(v.script()).want(t, 0)
			v.publish("v2.0.0", size)
			objects := "objects/gtagsmcp/gtagsmcp/v2.0.0/gtagsmcp-"
			v.Use(releasetest.WithoutRanges())
			v.Use(releasetest.When(objects, releasetest.CutAfter(at)))
			m.run(v.script()).want(t, 1, "cannot download")
			m.has("v1.0.0", size)
		}
		v := newVendor(t, releasetest.New(t))
		v.publish("v1.0.0", size)
		v.Use(releasetest.When("/gtagsmcp-", releasetest.CutAfter(64<<10)))
		m := debian(t, set, "GTAGS_MCP_MIRROR="+v.URL)
		m.run(v.script()).want(t, 0)
		m.has("v1.0.0", size)
	}
}

// TestInstallMatrixServer: what a server can answer instead of the file.
func TestInstallMatrixServer(t *testing.T) {
	t.Parallel()
	for _, set := range downloaders {
		for _, c := range []struct {
			name  string
			fault releasetest.Middleware
			want  string
		}{
			{"500", releasetest.Answer(500, "no"), "cannot download"},
			{"403", releasetest.RateLimited(), "cannot download"},
			{"404", releasetest.Answer(404, "no"), "cannot download"},
			{"HTML", releasetest.Answer(200, "<html>log in</html>"), "an HTML page"},
			{"empty", releasetest.Answer(200, ""), "it is empty"},
			{"loop", func(http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) })
			}, "cannot download"},
		} {
			v := newVendor(t, releasetest.New(t))
			v.publish("v1.0.0", 1000)
			v.Use(releasetest.When("objects/gtagsmcp/gtagsmcp/v1.0.0/gtagsmcp-", c.fault))
			m := debian(t, set, "GTAGS_MCP_MIRROR="+v.URL)
			r := m.run(v.script())
			r.want(t, 1, c.want)
			m.nothing()
		}
		v := newVendor(t, releasetest.New(t))
		m := debian(t, set, "GTAGS_MCP_MIRROR="+v.URL)
		m.run(v.script()).want(t, 1, "cannot find the newest release at "+v.URL+repo+"/releases/latest")
		m = debian(t, set, "GTAGS_MCP_MIRROR=http://127.0.0.1:9")
		m.run(v.script()).want(t, 1, "cannot find the newest release")
		m.nothing()
	}
}

// TestInstallMatrixTLS: a certificate that only SSL_CERT_FILE vouches for, and a
// way from https to http, which is not taken.
func TestInstallMatrixTLS(t *testing.T) {
	t.Parallel()
	for _, set := range downloaders {
		v := newVendor(t, releasetest.NewTLS(t))
		v.publish("v1.0.0", 1000)
		m := debian(t, set, "GTAGS_MCP_MIRROR="+v.URL)
		m.run(v.script()).want(t, 1, "set SSL_CERT_FILE")
		m.nothing()
		m = debian(t, set, "GTAGS_MCP_MIRROR="+v.URL, "SSL_CERT_FILE=/home/user/ca.pem")
		m.trust(v)
		m.run(v.script(), "--no-path").want(t, 0, "v1.0.0: ")
		m.has("v1.0.0", 1000)

		plain := newVendor(t, releasetest.New(t))
		plain.publish("v2.0.0", 1000)
		v.publish("v2.0.0", 1000)
		v.Use(releasetest.When("v2.0.0/gtagsmcp-", releasetest.Redirect(plain.AssetURL(repo, "v2.0.0", "gtagsmcp-linux-"+runtime.GOARCH+".tar.gz"))))
		m.run(v.script()).want(t, 1, "cannot download")
		if n := len(plain.Requests()); n != 0 && set != "wget-minisign" { // wget goes there, what it brings is not taken
			t.Errorf("%s: %d requests went from https to http", set, n)
		}
		m.has("v1.0.0", 1000)
	}
}

// TestInstallMatrixProxy: the servers' names do not exist, so only a proxy leads
// to them; TLS goes through it by CONNECT.
func TestInstallMatrixProxy(t *testing.T) {
	t.Parallel()
	for _, set := range downloaders {
		for _, variable := range []string{"http_proxy", "HTTP_PROXY"} {
			v := newVendor(t, releasetest.New(t))
			v.publish("v1.0.0", 1000)
			p := newProxy(t, strings.TrimPrefix(strings.TrimSuffix(v.URL, "/"), "http://"))
			m := debian(t, set, "GTAGS_MCP_MIRROR=http://release.invalid", variable+"="+p.URL, "no_proxy=127.0.0.1,localhost")
			m.run(v.script()).want(t, 0, "v1.0.0: ")
			if p.requests.Load() == 0 {
				t.Errorf("%s, %s: no request went through the proxy", set, variable)
			}
			m = debian(t, set, "GTAGS_MCP_MIRROR=http://release.invalid", variable+"="+p.URL, "no_proxy=release.invalid")
			m.run(v.script()).want(t, 1, "cannot find the newest release")
		}
		v := newVendor(t, releasetest.NewTLS(t))
		v.publish("v1.0.0", 1000)
		address := strings.TrimPrefix(strings.TrimSuffix(v.URL, "/"), "https://")
		p := newProxy(t, address)
		// The test server's certificate is for example.com too.
		m := debian(t, set, "GTAGS_MCP_MIRROR=https://example.com", "HTTPS_PROXY="+p.URL, "SSL_CERT_FILE=/home/user/ca.pem")
		m.trust(v)
		m.run(v.script(), "--version", "1.0.0").want(t, 0, "v1.0.0: ")
		if p.requests.Load() == 0 {
			t.Errorf("%s: no tunnel through the proxy", set)
		}
	}
}

// proxy leads every request and every tunnel to one address.
type proxy struct {
	*httptest.Server
	requests atomic.Int64
}

func newProxy(t *testing.T, address string) *proxy {
	p := &proxy{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.requests.Add(1)
		if r.Method == http.MethodConnect {
			tunnel(w, address)
			return
		}
		out := r.Clone(r.Context())
		out.RequestURI, out.URL.Host, out.URL.Scheme = "", address, "http"
		resp, err := http.DefaultTransport.RoundTrip(out)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		maps.Copy(w.Header(), resp.Header)
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body) // the client may have gone
	}))
	t.Cleanup(p.Close)
	return p
}

func tunnel(w http.ResponseWriter, address string) {
	server, err := net.Dial("tcp", address)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	client, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		server.Close()
		return
	}
	fmt.Fprint(client, "HTTP/1.1 200 OK\r\n\r\n")
	go func() {
		_, _ = io.Copy(server, client)
		server.Close()
	}()
	go func() {
		_, _ = io.Copy(client, server)
		client.Close()
	}()
}

// TestInstallMatrixFolders: homes in which nothing can be written, or run, or
// fitted, each named for what it is, and nothing changed.
func TestInstallMatrixFolders(t *testing.T) {
	t.Parallel()
	const size = 3 << 20
	for _, set := range downloaders {
		v := newVendor(t, releasetest.New(t))
		v.publish("v1.0.0", size)
		mirror := "GTAGS_MCP_MIRROR=" + v.URL
		for _, c := range []struct{ how, want string }{
			{"ro", "is on a read-only file system; choose another folder with --dir"},
			{"noexec", "it is mounted noexec, or a policy forbids it; choose another folder with --dir"},
			{"size=64k", "disk full"},
			{"size=2m", "disk full"},
			{"size=4m", "disk full"},
		} {
			m := inRoot(t, "debian", "/set/"+set, "/bin/bash", c.how, mirror)
			if err := os.Mkdir(filepath.Join(m.home, ".local"), 0o755); err != nil {
				t.Fatal(err)
			}
			m.give()
			m.run(v.script()).want(t, 1, c.want)
			m.nothing()
			if c.how == "ro" || c.how == "noexec" { // and the way out that the message names
				m.run(v.script(), "--dir", "/tmp/elsewhere").want(t, 0, "v1.0.0: /tmp/elsewhere/gtagsmcp")
			}
		}
		m := debian(t, set, mirror)
		write(t, filepath.Join(m.home, ".local/bin/gtagsmcp/file"), "")
		m.give()
		m.run(v.script()).want(t, 1, "/home/user/.local/bin/gtagsmcp is a folder")
		m.run(v.script(), "--dir", "/home/user/.local/bin/gtagsmcp/file").want(t, 1, "cannot write to /home/user/.local/bin/gtagsmcp/file")
		link := filepath.Join(m.home, "bin/gtagsmcp")
		write(t, filepath.Join(m.home, "bin/other"), "")
		if err := os.Symlink("other", link); err != nil {
			t.Fatal(err)
		}
		m.give()
		m.run(v.script(), "--dir", "/home/user/bin").want(t, 1, "is a symbolic link to other")
	}
}

// TestInstallMatrixStartFiles: one line in each start file, which works in the
// shell it is for, and is gone without a trace after removal.
func TestInstallMatrixStartFiles(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"/home/user/.local/bin", "/home/user/a b/it's $HOME `x` \\ \"bin\""} {
		for _, start := range []string{"", "# mine\n", "# mine, without an end"} {
			v := newVendor(t, releasetest.New(t))
			v.publish("v1.0.0", 1000)
			m := debian(t, "curl-minisign", "GTAGS_MCP_MIRROR="+v.URL, "ZDOTDIR=/home/user/z dot")
			bashrc, zshrc := filepath.Join(m.home, ".bashrc"), filepath.Join(m.home, "z dot/.zshrc")
			write(t, filepath.Join(m.home, "dotfiles/zshrc"), start)
			write(t, filepath.Join(m.home, ".config/fish/config.fish"), start)
			write(t, filepath.Join(m.home, ".config/fish/conf.d/other.fish"), start)
			if start != "" { // else the file is the installer's own
				write(t, bashrc, start)
			}
			if err := os.Mkdir(filepath.Dir(zshrc), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("../dotfiles/zshrc", zshrc); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(filepath.Join(m.home, "dotfiles/zshrc"), 0o600); err != nil {
				t.Fatal(err)
			}
			m.give()
			before := files(t, m.home)
			for range 3 {
				m.run(v.script(), "--dir", dir).want(t, 0)
			}
			for _, f := range []string{bashrc, zshrc, filepath.Join(m.home, ".config/fish/conf.d/gtagsmcp.fish")} {
				if n := strings.Count(read(t, f), "# gtagsmcp installer"); n != 1 {
					t.Errorf("%s has %d lines of the installer:\n%s", f, n, read(t, f))
				}
			}
			for _, shell := range [][]string{{"/bin/bash", "-ic"}, {"/usr/bin/zsh", "-ic"}, {"/usr/bin/fish", "-ic"}} {
				m.command("", append(shell, "command -v gtagsmcp; gtagsmcp version")...).want(t, 0, dir+"/gtagsmcp\n", "gtagsmcp v1.0.0 ")
			}
			m.run(v.script(), "--dir", dir, "--uninstall").want(t, 0)
			m.forgets(before, "/ran", "/.local", "/.local/bin", "/a b", strings.TrimPrefix(dir, "/home/user"), "/.config/fish/fish_variables", "/.local/share", "/.cache")
		}
	}
}

// forgets compares a home with an earlier look at it, but for the paths named
// and what is below them.
func (m *machine) forgets(before map[string]string, but ...string) {
	m.t.Helper()
	after := files(m.t, m.home)
	for path, text := range after {
		if before[path] != text && !slices.ContainsFunc(but, func(b string) bool { return path == b || strings.HasPrefix(path, b+"/") && b != "/.local" }) {
			m.t.Errorf("%s was %q, is %q", path, before[path], text)
		}
	}
	for path := range before {
		if _, there := after[path]; !there {
			m.t.Errorf("%s is gone", path)
		}
	}
}

// TestInstallMatrixReadOnlyStartFile: a start file that cannot be changed costs
// a message, not the install.
func TestInstallMatrixReadOnlyStartFile(t *testing.T) {
	t.Parallel()
	v := newVendor(t, releasetest.New(t))
	v.publish("v1.0.0", 1000)
	m := debian(t, "curl-minisign", "GTAGS_MCP_MIRROR="+v.URL)
	write(t, filepath.Join(m.home, ".bashrc/this-is-a-folder"), "")
	m.give()
	m.run(v.script()).want(t, 0, "cannot write to /home/user/.bashrc", "is not in PATH; add it: export PATH='/home/user/.local/bin':\"$PATH\"")
	m = debian(t, "curl-minisign", "GTAGS_MCP_MIRROR="+v.URL)
	m.run(v.script(), "--no-path").want(t, 0)
	if _, err := os.Stat(filepath.Join(m.home, ".bashrc")); err == nil {
		t.Error("--no-path made a .bashrc")
	}
}

// TestInstallMatrixAsks: removal asks at the terminal about the toolchain, since
// standard input is the script.
func TestInstallMatrixAsks(t *testing.T) {
	t.Parallel()
	v := newVendor(t, releasetest.New(t))
	v.publish("v1.0.0", 1000)
	for _, c := range []struct{ answer, ran string }{
		{"y", "v1.0.0 setup\nv1.0.0 setup --uninstall\n"},
		{"n", "v1.0.0 setup\n"},
		{"", "v1.0.0 setup\n"},
	} {
		m := newMachine(t, "GTAGS_MCP_MIRROR="+v.URL)
		m.run(v.script()).want(t, 0)
		write(t, filepath.Join(m.home, "install.sh"), v.script())
		m.command(c.answer+"\n", "script", "-qec", "sh -s -- --uninstall <install.sh", "/dev/null").
			want(t, 0, "Remove the toolchain and settings in "+m.home+"/.gtags-mcp too? [y/N]")
		if got := read(t, filepath.Join(m.home, "ran")); got != c.ran {
			t.Errorf("after the answer %q the program was called as %q, want %q", c.answer, got, c.ran)
		}
	}
}

// TestInstallMatrixKilled kills the installer at random moments: what is there
// afterwards is the old program or the new one, and the next run tidies up.
func TestInstallMatrixKilled(t *testing.T) {
	t.Parallel()
	const size = 256 << 10
	v := newVendor(t, releasetest.New(t))
	v.publish("v1.0.0", size)
	v.publish("v2.0.0", size)
	m := newMachine(t, "GTAGS_MCP_MIRROR="+v.URL)
	script := v.script()
	start := time.Now()
	m.run(script, "--version", "1.0.0").want(t, 0)
	whole := time.Since(start)
	target := filepath.Join(m.home, ".local/bin/gtagsmcp")
	for n := range 20 {
		version := fmt.Sprintf("v%d.0.0", n%2+1)
		cmd := exec.Command(m.shell[0], append(m.shell[1:], "--version", version)...)
		cmd.Env, cmd.Dir, cmd.Stdin = m.env, m.home, strings.NewReader(script)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.Float64() * float64(whole)))
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have ended
		_ = cmd.Wait()
		if got := read(t, target); got != string(program("v1.0.0", size)) && got != string(program("v2.0.0", size)) {
			t.Fatalf("after kill %d the program is %d bytes of something else", n, len(got))
		}
	}
	m.run(script, "--version", "1.0.0").want(t, 0)
	m.run(script).want(t, 0)
	m.has("v2.0.0", size)
}

// TestInstallMatrixTwoAtOnce: ten installers at the same time end in one good
// program.
func TestInstallMatrixTwoAtOnce(t *testing.T) {
	t.Parallel()
	v := newVendor(t, releasetest.New(t))
	v.publish("v1.0.0", 100<<10)
	m := newMachine(t, "GTAGS_MCP_MIRROR="+v.URL)
	done := make(chan string)
	for range 10 {
		go func() {
			cmd := exec.Command(m.shell[0], m.shell[1:]...)
			cmd.Env, cmd.Dir, cmd.Stdin = m.env, m.home, strings.NewReader(v.script())
			out, err := cmd.CombinedOutput()
			if err != nil {
				done <- fmt.Sprintf("%v: %s", err, out)
			}
			done <- ""
		}()
	}
	for range 10 {
		if text := <-done; text != "" {
			t.Error(text)
			<-done
		}
	}
	m.has("v1.0.0", 100<<10)
}

// TestInstallMatrixCutAtEveryByte is the thorough form of the test by lines.
func TestInstallMatrixCutAtEveryByte(t *testing.T) {
	t.Parallel()
	v := newVendor(t, releasetest.New(t))
	v.publish("v1.0.0", 100)
	script := strings.TrimSuffix(v.script(), "\n")
	for _, shell := range []string{"/bin/bash", "/bin/dash"} {
		m := newMachine(t, "GTAGS_MCP_MIRROR="+v.URL)
		m.shell = []string{shell, "-s", "--"}
		for n := range len(script) {
			cutScript(t, m, script[:n])
		}
	}
	if n := len(v.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// TestInstallMatrixShellcheck runs the check that CI's root brings along.
func TestInstallMatrixShellcheck(t *testing.T) {
	t.Parallel()
	m := debian(t, "none")
	m.command(installer(t), "/usr/bin/shellcheck", "--shell=sh", "-").want(t, 0)
	m.command("echo $1\n", "/usr/bin/shellcheck", "--shell=sh", "-").want(t, 1, "SC2086")
}

// TestInstallMatrixService: with the real program, an update restarts a service
// that runs, upgrade --rollback undoes the update, and removal ends the service.
func TestInstallMatrixService(t *testing.T) {
	t.Parallel()
	v := newVendor(t, releasetest.New(t))
	v.publishProgram("v0.0.1", built(t, "v0.0.1"))
	m := newMachine(t, "GTAGS_MCP_MIRROR="+v.URL, "GTAGS_MCP_AUTO_SETUP=0")
	m.run(v.script(), "--no-setup").want(t, 0, "gtagsmcp v0.0.1: ")
	target := filepath.Join(m.home, ".local/bin/gtagsmcp")
	t.Cleanup(func() {
		end := exec.Command(target, "service", "uninstall")
		end.Env = m.env
		_ = end.Run() // the program is gone where all went well
	})
	m.command("", target, "service", "install", "--manager", "process", "--port", freePort(t)).want(t, 0)
	first := m.serviceProcess(target)

	v.publishProgram("v0.0.2", built(t, "v0.0.2"))
	m.run(v.script(), "--no-setup", "--no-service").want(t, 0, "gtagsmcp v0.0.1 -> v0.0.2")
	if now := m.serviceProcess(target); now != first {
		t.Errorf("--no-service: process %s became %s", first, now)
	}
	m.run(v.script(), "--no-setup", "--version", "0.0.1").want(t, 0, "gtagsmcp v0.0.2 -> v0.0.1")
	second := m.serviceProcess(target)
	if second == first {
		t.Errorf("the update left process %s as it was", first)
	}
	m.run(v.script(), "--no-setup").want(t, 0, "gtagsmcp v0.0.1 -> v0.0.2")
	m.command("", target, "upgrade", "--rollback").want(t, 0, "v0.0.1")
	m.command("", target, "version").want(t, 0, "gtagsmcp v0.0.1 ")

	last := m.serviceProcess(target)
	m.run(v.script(), "--uninstall", "--keep-data").want(t, 0, "removed "+target)
	for wait := 0; ; wait++ { // until init has noticed
		state, err := os.ReadFile("/proc/" + last + "/stat")
		if err != nil || strings.Contains(string(state), ") Z ") {
			break
		}
		if wait == 50 {
			t.Fatalf("after --uninstall the service still runs as process %s", last)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

var runningProcess = regexp.MustCompile(`running, process ([0-9]+)`)

// serviceProcess is the number of the process that a service runs as.
func (m *machine) serviceProcess(target string) string {
	m.t.Helper()
	r := m.command("", target, "service", "status")
	found := runningProcess.FindStringSubmatch(r.text)
	if r.code != 0 || found == nil {
		m.t.Fatalf("the service does not run, exit code %d: %s", r.code, r.text)
	}
	return found[1]
}

// built is the real program as a release would have it.
func built(t *testing.T, version string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "gtagsmcp")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w -X main.released="+version, "-o", out, "../cmd/gtagsmcp")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, text)
	}
	return []byte(read(t, out))
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// TestInstallMatrixRelease installs the files that make release made, real
// program and all.
func TestInstallMatrixRelease(t *testing.T) {
	t.Parallel()
	dist := os.Getenv("GTAGS_MCP_INSTALL_DIST")
	if dist == "" {
		t.Fatal("GTAGS_MCP_INSTALL_DIST is not set; run make test-install")
	}
	assets := map[string][]byte{}
	entries, err := os.ReadDir(dist)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		assets[e.Name()] = []byte(read(t, filepath.Join(dist, e.Name())))
	}
	archiveName := "gtagsmcp-linux-" + runtime.GOARCH + ".tar.gz"
	serve := func() *releasetest.Server {
		s := releasetest.New(t)
		s.Add(releasetest.Release{Repo: repo, Tag: "v0.0.1", Assets: assets})
		return s
	}
	s := serve()
	for _, set := range downloaders {
		m := debian(t, set, "GTAGS_MCP_MIRROR="+s.URL)
		start := time.Now()
		r := m.run(string(assets["install.sh"]))
		r.want(t, 0, "signature checked", "gtagsmcp v0.0.1: /home/user/.local/bin/gtagsmcp")
		t.Logf("%s: %.1f s, %d bytes\n%s", set, time.Since(start).Seconds(), len(assets[archiveName]), r.text)
		m.command("", "/home/user/.local/bin/gtagsmcp", "version").want(t, 0, "gtagsmcp v0.0.1 linux/")
		m.run(string(assets["install.sh"])).want(t, 0, "gtagsmcp v0.0.1 is up to date")
		m.run(string(assets["install.sh"]), "--uninstall", "--purge").want(t, 0, "removed /home/user/.local/bin/gtagsmcp")
	}
	// Every 64 kB once, then all of them in one install.
	whole := len(assets[archiveName])
	for at := 0; at < whole; at += 64 << 10 {
		s := serve()
		s.Use(releasetest.When("objects/gtagsmcp/gtagsmcp/v0.0.1/gtagsmcp-", releasetest.Times(1, releasetest.CutAfter(at))))
		m := debian(t, "curl-minisign", "GTAGS_MCP_MIRROR="+s.URL)
		m.run(string(assets["install.sh"]), "--no-setup").want(t, 0, "gtagsmcp v0.0.1: ")
		if err := os.RemoveAll(m.home); err != nil { // 25 MB each
			t.Error(err)
		}
	}
	s = serve()
	s.Use(releasetest.When("objects/gtagsmcp/gtagsmcp/v0.0.1/gtagsmcp-", releasetest.CutAfter(64<<10)))
	m := debian(t, "curl-minisign", "GTAGS_MCP_MIRROR="+s.URL)
	m.run(string(assets["install.sh"]), "--no-setup").want(t, 0, "gtagsmcp v0.0.1: ")
	t.Logf("%d bytes in pieces of 64 kB took %d requests", whole, len(s.Requests()))
}
