package java

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/semantic"
)

// oldest is the first feature release whose compiler interface is used.
const oldest = 11

// jdk is one Java development kit.
type jdk struct {
	home    string
	version string // "17.0.9"
	feature int    // 17
}

// places are where JDKs lie when nothing names one, as patterns below "/" or the
// user's home. Linux distributions, macOS, then the tools that manage several.
var places = []string{
	"/usr/lib/jvm/*", "/usr/lib64/jvm/*", "/usr/java/*", "/opt/java/*", "/opt/jdk*",
	"/Library/Java/JavaVirtualMachines/*/Contents/Home",
	"/opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home", "/usr/local/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
	"~/.sdkman/candidates/java/*", "~/.jdks/*", "~/.asdf/installs/java/*", "~/.local/share/mise/installs/java/*",
	"~/.gradle/jdks/*", "~/.m2/jdks/*", "~/Library/Java/JavaVirtualMachines/*/Contents/Home",
}

// findJDK returns the first JDK that is new enough and starts: that of JAVA_HOME,
// that of PATH, then the newest in the usual places.
func findJDK(ctx context.Context, getenv func(string) string) (jdk, error) {
	var rejected []string
	seen := map[string]bool{}
	try := func(home string) (jdk, bool) {
		if home == "" || seen[home] {
			return jdk{}, false
		}
		seen[home] = true
		found, err := examine(ctx, home)
		if err != nil {
			rejected = append(rejected, err.Error())
		}
		return found, err == nil
	}
	for _, home := range []string{getenv("JAVA_HOME"), onPath(ctx, getenv("PATH"))} {
		if found, ok := try(home); ok {
			return found, nil
		}
	}
	for _, home := range installed(getenv("HOME")) {
		if found, ok := try(home); ok {
			return found, nil
		}
	}
	err := fmt.Errorf("a JDK of version %d or newer is %w", oldest, semantic.ErrUnavailable)
	if len(rejected) > 0 {
		err = fmt.Errorf("%w: %s", err, strings.Join(rejected, "; "))
	}
	return jdk{}, fmt.Errorf("%w; install one (package openjdk-17-jdk-headless on Debian) or set JAVA_HOME", err)
}

// onPath is the home of the first javac on PATH. Managers of several JDKs put
// scripts there that choose one; such a javac is asked where it runs.
func onPath(ctx context.Context, path string) string {
	for _, dir := range filepath.SplitList(path) {
		javac := filepath.Join(dir, program("javac"))
		if info, err := os.Stat(javac); err != nil || info.IsDir() || !filepath.IsAbs(javac) {
			continue
		}
		if real, err := filepath.EvalSymlinks(javac); err == nil {
			if home := filepath.Dir(filepath.Dir(real)); isHome(home) {
				return home
			}
		}
		out, err := run(ctx, startTime, []string{"PATH=" + path, "HOME=" + os.Getenv("HOME")},
			javac, "-J-XshowSettings:properties", "-version")
		if m := homeProperty.FindSubmatch(out); err == nil && m != nil {
			return string(bytes.TrimSpace(m[1]))
		}
	}
	return ""
}

var homeProperty = regexp.MustCompile(`(?m)^\s*java\.home = (.*)$`)

// installed lists homes in the usual places, the newest first.
func installed(user string) []string {
	var found []jdk
	for _, pattern := range places {
		if rest, below := strings.CutPrefix(pattern, "~"); below {
			if user == "" {
				continue
			}
			pattern = user + rest
		}
		homes, _ := filepath.Glob(pattern) // the patterns are well-formed
		for _, home := range homes {
			if real, err := filepath.EvalSymlinks(home); err == nil && isHome(real) {
				found = append(found, jdk{home: real, feature: featureOf(releaseFile(real))})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b jdk) int { return b.feature - a.feature })
	var homes []string
	for _, j := range found {
		homes = append(homes, j.home)
	}
	return homes
}

// isHome reports whether the folder is laid out as a JDK. A runtime without the
// compiler is none.
func isHome(dir string) bool {
	for _, name := range []string{program("java"), program("javac")} {
		if info, err := os.Stat(filepath.Join(dir, "bin", name)); err != nil || info.IsDir() {
			return false
		}
	}
	_, err := os.Stat(filepath.Join(dir, "lib"))
	return err == nil
}

var releaseVersion = regexp.MustCompile(`(?m)^JAVA_VERSION="([^"]*)"`)

// releaseFile is the version that a JDK states about itself, "" when it does not.
func releaseFile(home string) string {
	text, err := fs.ReadFile(os.DirFS(home), "release")
	if m := releaseVersion.FindSubmatch(text); err == nil && m != nil {
		return string(m[1])
	}
	return ""
}

var spokenVersion = regexp.MustCompile(`version "([^"]+)"`)

// examine starts the JDK at home and reads its version.
func examine(ctx context.Context, home string) (jdk, error) {
	if !isHome(home) {
		return jdk{}, fmt.Errorf("%s holds no bin/java and bin/javac", home)
	}
	out, err := run(ctx, startTime, environment(), filepath.Join(home, "bin", program("java")), "-version")
	if err != nil {
		return jdk{}, fmt.Errorf("%s does not start: %w", home, err)
	}
	m := spokenVersion.FindSubmatch(out)
	if m == nil {
		return jdk{}, fmt.Errorf("%s states no version", home)
	}
	j := jdk{home: home, version: string(m[1]), feature: featureOf(string(m[1]))}
	if j.feature < oldest {
		return jdk{}, fmt.Errorf("%s is of version %s", home, j.version)
	}
	return j, nil
}

// featureOf is 17 for "17.0.9" and 8 for "1.8.0_392"; 0 for what is no version.
func featureOf(version string) int {
	version = strings.TrimPrefix(version, "1.")
	digits := version[:len(version)-len(strings.TrimLeft(version, "0123456789"))]
	n, _ := strconv.Atoi(digits)
	return n
}

func program(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// environment is what a JDK gets to see: no JAVA_TOOL_OPTIONS, JDK_JAVA_OPTIONS or
// the like, which would make it load code. The locale decides how file names are
// read.
func environment() []string {
	locale := "C.UTF-8"
	if runtime.GOOS == "darwin" {
		locale = "en_US.UTF-8"
	}
	env := []string{"LC_ALL=" + locale}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "SYSTEMROOT"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// What a JVM gets on a very busy machine to start in, and to compile the helper, which
// takes a second on an idle one.
const (
	startTime   = time.Minute
	compileTime = 5 * time.Minute
)

// run returns what a short program prints on both its outputs.
func run(ctx context.Context, limit time.Duration, env []string, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = env, rootDir, time.Second
	ownGroup(cmd)
	cmd.Cancel = func() error { killGroup(cmd.Process); return nil }
	out := &tail{keep: 64 << 10}
	cmd.Stdout, cmd.Stderr = out, out
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%w%s", err, out.suffix())
	}
	return out.bytes(), err
}
