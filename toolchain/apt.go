package toolchain

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// apt downloads Debian's own packages as an ordinary user and unpacks them.
//
// Every path that apt would write to is moved into a private folder; what it
// reads (sources, keys, the status of dpkg) stays the system's, so that the
// packages are verified as the administrator set it up. `--print-uris install`
// names what the host lacks, `download` fetches and verifies that.
type apt struct {
	cfg     Config
	staged  string // where the result goes
	work    string // everything of apt's own
	program string
	dpkgDeb string
	step    stepper
}

// Packages and space that the rung needs.
const (
	aptUpdateSpace   = 200 << 20 // package lists: 94 MB were seen
	aptDownloadSpace = 32 << 20
	aptUpdateLimit   = 5 * time.Minute
	aptFetchLimit    = 5 * time.Minute
	aptSystemLists   = "/var/lib/apt/lists"
	dpkgStatus       = "/var/lib/dpkg/status"
)

// neverUnpacked cannot be mixed with the host's: a C library and its loader must
// be of one build. The others hold nothing that is used.
var neverUnpacked = []string{"libc6", "libc-bin", "libcrypt1", "libgcc-s1", "gcc-12-base", "emacsen-common", "dpkg", "debconf"}

func newApt(c Config, staged string, step stepper) *apt {
	return &apt{cfg: c, staged: staged, work: filepath.Join(staged, "apt"),
		program: c.systemTool("apt-get"), dpkgDeb: c.systemTool("dpkg-deb"), step: step}
}

func (a *apt) install(ctx context.Context) (id string, err error) {
	if a.dpkgDeb == "" {
		return "", errNoDpkgDeb
	}
	if err := needSpace(a.cfg.Home, aptDownloadSpace); err != nil {
		return "", err
	}
	if err := a.prepare(); err != nil {
		return "", err
	}
	debs, err := a.fetch(ctx)
	if err != nil {
		return "", err
	}
	root := filepath.Join(a.work, "root")
	if err := a.unpack(ctx, debs, root); err != nil {
		return "", err
	}
	if err := collect(root, a.staged); err != nil {
		return "", err
	}
	if err := (manifest{Rung: RungDistro, Packages: debs}).write(a.staged); err != nil {
		return "", err
	}
	return generationID(debs), os.RemoveAll(a.work)
}

// prepare makes apt's private folders and its configuration. The hooks that the
// system runs after an update are cleared: they act on the system's own state.
func (a *apt) prepare() error {
	for _, dir := range []string{"state/lists/partial", "cache/archives/partial", "debs", "root"} {
		if err := os.MkdirAll(filepath.Join(a.work, dir), 0o700); err != nil {
			return err
		}
	}
	conf := "#clear APT::Update::Pre-Invoke;\n#clear APT::Update::Post-Invoke;\n#clear APT::Update::Post-Invoke-Success;\n" +
		"#clear DPkg::Pre-Invoke;\n#clear DPkg::Post-Invoke;\n#clear Acquire::IndexTargets::deb::DEP-11;\n"
	return os.WriteFile(filepath.Join(a.work, "apt.conf"), []byte(conf), 0o600)
}

// command builds one apt-get. lists is the folder of package lists to use.
func (a *apt) command(lists string, limit time.Duration, args ...string) command {
	base := []string{"-q", "-y", "-c", filepath.Join(a.work, "apt.conf")}
	for _, option := range []string{
		"Dir::State=" + filepath.Join(a.work, "state"),
		"Dir::State::lists=" + lists,
		"Dir::State::status=" + dpkgStatus,
		"Dir::Cache=" + filepath.Join(a.work, "cache"),
		"Dir::Cache::pkgcache=pkgcache.bin", // images for containers switch it off
		"Dir::Cache::srcpkgcache=srcpkgcache.bin",
		"Debug::NoLocking=true",
		"Acquire::Languages=none",
		"Acquire::Retries=1",
		"Acquire::http::Timeout=20",
		"Acquire::https::Timeout=20",
	} {
		base = append(base, "-o", option)
	}
	if os.Geteuid() == 0 {
		// Root's apt hands downloads to the user _apt, who may not enter our folder.
		base = append(base, "-o", "APT::Sandbox::User=root")
	}
	return command{path: a.program, args: append(base, args...), env: a.env(), dir: filepath.Join(a.work, "debs"), timeout: limit, limit: 4 << 20}
}

// env lets apt see the user's proxies, and nothing else.
func (a *apt) env() []string {
	env := []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive"}
	for _, key := range []string{"http_proxy", "https_proxy", "ftp_proxy", "no_proxy", "all_proxy", "APT_CONFIG"} {
		if v := a.cfg.getenv(key); v != "" {
			env = append(env, key+"="+v)
		}
	}
	return env
}

// run returns standard output, or an error that holds what apt said.
func (a *apt) run(ctx context.Context, c command) (string, error) {
	r := c.run(ctx)
	if r.startErr == nil && r.exit > 0 {
		return "", fmt.Errorf("apt-get %s: %s", verb(c.args), aptSays(string(r.stderr), r.exit))
	}
	if err := explain(c.path, r); err != nil {
		return "", fmt.Errorf("apt-get %s: %w", verb(c.args), err)
	}
	return string(r.stdout), nil
}

func verb(args []string) string {
	for _, v := range []string{"update", "install", "download"} {
		if slices.Contains(args, v) {
			return v
		}
	}
	return ""
}

// aptSays picks the errors out of what apt printed, the first few of them.
func aptSays(stderr string, exit int) string {
	var said []string
	for line := range strings.Lines(stderr) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "E: "); ok && len(said) < 3 && !slices.Contains(said, text) {
			said = append(said, text)
		}
	}
	if said == nil {
		return fmt.Sprintf("exit status %d: %s", exit, firstLine([]byte(stderr)))
	}
	return strings.Join(said, "; ")
}

// fetch downloads from the system's package lists when there are some, else, or
// when these are too old to download from, from lists of our own.
func (a *apt) fetch(ctx context.Context) ([]deb, error) {
	var first error
	if found, _ := filepath.Glob(aptSystemLists + "/*_Packages*"); len(found) > 0 {
		debs, err := a.fetchFrom(ctx, aptSystemLists)
		if err == nil || ctx.Err() != nil {
			return debs, err
		}
		first = err
	}
	if err := needSpace(a.cfg.Home, aptUpdateSpace); err != nil {
		return nil, errors.Join(first, err)
	}
	a.step.say("downloading the distribution's package lists")
	lists := filepath.Join(a.work, "state", "lists")
	// A source that cannot be reached is no failure as long as another has the packages.
	_, updateErr := a.run(ctx, a.command(lists, aptUpdateLimit, "-o", "APT::Update::Error-Mode=any", "update"))
	debs, err := a.fetchFrom(ctx, lists)
	if err != nil && updateErr != nil {
		err = updateErr
	}
	if err != nil {
		return nil, fmt.Errorf("%w%s", err, offlineHint(err))
	}
	return debs, nil
}

func offlineHint(err error) string {
	for _, mark := range []string{"resolv", "Could not connect", "Failed to fetch", "Network is unreachable", "timed out"} {
		if strings.Contains(err.Error(), mark) {
			return " (is the network reachable? apt's sources and proxy settings are used as they are)"
		}
	}
	return ""
}

func (a *apt) fetchFrom(ctx context.Context, lists string) ([]deb, error) {
	a.step.say("asking apt which packages are needed")
	want := []string{"global"}
	if !a.cfg.NoCtags {
		want = append(want, "universal-ctags")
	}
	args := append([]string{"--print-uris", "--no-install-recommends", "--reinstall", "install"}, want...)
	out, err := a.run(ctx, a.command(lists, time.Minute, args...))
	if err != nil {
		return nil, err
	}
	debs := parseURIs(out)
	debs = slices.DeleteFunc(debs, func(d deb) bool { return slices.Contains(neverUnpacked, d.Package) })
	for _, name := range want {
		if !slices.ContainsFunc(debs, func(d deb) bool { return d.Package == name }) {
			return nil, fmt.Errorf("apt-get install: no package %s in its answer %q", name, firstLine([]byte(out)))
		}
	}
	if out, err := a.run(ctx, a.command(lists, time.Minute, "--print-uris", "download", "python3-pygments")); err == nil {
		debs = append(debs, parseURIs(out)...)
	}
	var size int64
	download := []string{"download"}
	for _, d := range debs {
		size += d.Size
		download = append(download, d.Package+d.archSuffix()+"="+d.Version)
	}
	if err := needSpace(a.cfg.Home, uint64(size)*8); err != nil {
		return nil, err
	}
	a.step.say(fmt.Sprintf("downloading %d packages, %.1f MB", len(debs), float64(size)/1e6))
	if _, err := a.run(ctx, a.command(lists, aptFetchLimit, download...)); err != nil {
		return nil, err
	}
	return debs, nil
}

// deb is one package as `apt-get --print-uris` names it.
type deb struct {
	File    string `json:"file"` // name of the downloaded file
	URI     string `json:"uri"`
	Size    int64  `json:"size"`
	Hash    string `json:"hash"` // ALGORITHM:HEX
	Package string `json:"package"`
	Version string `json:"version"`
	Arch    string `json:"arch"`
}

func (d deb) archSuffix() string {
	if d.Arch == "all" {
		return ""
	}
	return ":" + d.Arch
}

// parseURIs reads the lines of --print-uris among what else apt prints:
//
//	'URI' NAME_VERSION_ARCH.deb SIZE ALGORITHM:HEX
//
// The version in the file name has its colon written as %3a.
func parseURIs(out string) []deb {
	var debs []deb
	for line := range strings.Lines(out) {
		rest, quoted := strings.CutPrefix(strings.TrimSpace(line), "'")
		uri, rest, closed := strings.Cut(rest, "' ")
		fields := strings.Fields(rest)
		if !quoted || !closed || len(fields) < 2 {
			continue
		}
		size, err := strconv.ParseInt(fields[1], 10, 64)
		base, isDeb := strings.CutSuffix(fields[0], ".deb")
		name := strings.Split(base, "_")
		if err != nil || size < 0 || !isDeb || len(name) != 3 || path.Base(fields[0]) != fields[0] || strings.HasPrefix(name[0], "-") {
			continue
		}
		version, err := url.PathUnescape(name[1])
		if err != nil {
			continue
		}
		d := deb{File: fields[0], URI: uri, Size: size, Package: name[0], Version: version, Arch: name[2]}
		if len(fields) > 2 {
			d.Hash = fields[2]
		}
		debs = append(debs, d)
	}
	return debs
}

// unpack extracts every package into one root. No maintainer script runs.
func (a *apt) unpack(ctx context.Context, debs []deb, root string) error {
	a.step.say(fmt.Sprintf("unpacking %d packages", len(debs)))
	for _, d := range debs {
		c := command{path: a.dpkgDeb, args: []string{"-x", filepath.Join(a.work, "debs", d.File), root},
			env: a.env(), dir: a.work, timeout: 2 * time.Minute}
		if err := explain(c.path, c.run(ctx)); err != nil {
			return fmt.Errorf("unpacking %s: %w", d.File, err)
		}
	}
	return nil
}

// generationID names a generation by what it is made from.
func generationID(debs []deb) string {
	version := ""
	var names []string
	for _, d := range debs {
		names = append(names, d.File, d.Hash)
		if d.Package == "global" {
			version, _, _ = strings.Cut(d.Version, "-")
		}
	}
	slices.Sort(names)
	return strings.NewReplacer(":", "_", "/", "_").Replace(version) + "-" + digest(names...)
}
