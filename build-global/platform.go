package buildglobal

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Platform is one archive to make. The name's first two parts are Go's names of
// the system and processor.
type Platform struct {
	Name   string // "linux-amd64-gnu"
	Target string // zig's name of it; empty where only the system's cc builds it
	Glibc  string // the newest glibc it may need; empty where it may need none
	ELF    string // the ELF machine, "" for macOS
}

// Platforms are all that are released.
var Platforms = []Platform{
	{"linux-amd64-gnu", "x86_64-linux-gnu.2.28", "2.28", "EM_X86_64"},
	{"linux-amd64-musl", "x86_64-linux-musl", "", "EM_X86_64"},
	{"linux-arm64-gnu", "aarch64-linux-gnu.2.28", "2.28", "EM_AARCH64"},
	{"linux-arm64-musl", "aarch64-linux-musl", "", "EM_AARCH64"},
	{"darwin-amd64", "", "", ""},
	{"darwin-arm64", "", "", ""},
}

// Select returns the platforms named, separated by commas. No names mean all
// that zig builds, or with cc the machine's own, which is all that cc builds.
func Select(names string, cc bool) ([]Platform, error) {
	var chosen []Platform
	for _, p := range Platforms {
		if cc && p.isHost() || !cc && p.Target != "" {
			chosen = append(chosen, p)
		}
	}
	if names == "" && len(chosen) > 0 {
		return chosen, nil
	}
	var wanted []Platform
	for name := range strings.SplitSeq(names, ",") {
		p, err := PlatformNamed(name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(chosen, p) {
			return nil, fmt.Errorf("platform %s: zig builds for Linux, -cc for the machine it runs on (%s/%s)", name, runtime.GOOS, runtime.GOARCH)
		}
		wanted = append(wanted, p)
	}
	return wanted, nil
}

// PlatformNamed looks a platform up.
func PlatformNamed(name string) (Platform, error) {
	var known []string
	for _, p := range Platforms {
		if p.Name == name {
			return p, nil
		}
		known = append(known, p.Name)
	}
	return Platform{}, fmt.Errorf("unknown platform %q; there are %s", name, strings.Join(known, ", "))
}

// isHost reports whether the system's own cc makes binaries for p.
func (p Platform) isHost() bool {
	return strings.HasPrefix(p.Name, runtime.GOOS+"-"+runtime.GOARCH) && !strings.HasSuffix(p.Name, "-musl")
}

// Compiler is how to call a C compiler for one platform.
type Compiler struct {
	Argv []string // the program and what each call needs
	Link []string // what only the last call needs
	Base []string // the environment; nil: the process's
	Env  []string // added to the environment
}

// zigCompiler always names a target: without one zig tunes for the processor it
// runs on. Its caches go to ours, not to the user's home.
func zigCompiler(home, cache, target string) Compiler {
	caches := filepath.Join(cache, "zig-cache")
	return Compiler{
		Argv: []string{filepath.Join(home, "zig"), "cc", "-target", target, "-fno-sanitize=undefined", "-fstack-protector-strong"},
		Link: []string{"-s"},
		Env:  []string{"ZIG_GLOBAL_CACHE_DIR=" + caches, "ZIG_LOCAL_CACHE_DIR=" + caches},
	}
}

func systemCompiler(cc, environ []string) Compiler {
	c := Compiler{Argv: append(slices.Clone(cc), "-fstack-protector-strong"), Base: environ}
	if runtime.GOOS == "darwin" {
		c.Link = []string{"-liconv"}
	} else {
		c.Link = []string{"-s"}
	}
	return c
}
