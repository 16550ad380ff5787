package golang

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// whereabouts are the variables that say where things are and for what machine
// to read the sources. Nothing else of the server's environment reaches the go
// command: GOFLAGS can name programs to run, GOENV a file that sets it.
var whereabouts = []string{
	"HOME", "TMPDIR", "USER", "LANG", "LC_ALL", "XDG_CACHE_HOME",
	"GOROOT", "GOPATH", "GOMODCACHE", "GOCACHE", "GOOS", "GOARCH",
}

// forbidden turns off everything that the go command would do beyond listing
// packages.
var forbidden = []string{
	"GOENV=off", "GOFLAGS=", "GOPROXY=off", "GOSUMDB=off", "GOVCS=*:off", "GOAUTH=off", "GOTOOLCHAIN=local", "GOTELEMETRY=off",
	"CGO_ENABLED=0", "GOPACKAGESDRIVER=off", "GIT_TERMINAL_PROMPT=0",
}

// environment is that of the child.
func environment(o Options) []string {
	env := []string{"PATH=" + filepath.Dir(o.Go) + ":/usr/bin:/bin", fmt.Sprintf("GOMEMLIMIT=%d", o.Memory*3/4)}
	for _, name := range whereabouts {
		for i := len(o.Env) - 1; i >= 0; i-- {
			if value, ok := strings.CutPrefix(o.Env[i], name+"="); ok {
				env = append(env, name+"="+value)
				break
			}
		}
	}
	return append(env, forbidden...)
}

func goFiles(files []string) (list []string) {
	for _, f := range files {
		if path.Ext(f) == ".go" {
			list = append(list, f)
		}
	}
	return list
}
