package toolchain

import (
	"path/filepath"
	"slices"
	"strings"
)

// systemPath is where the programs that gtags itself starts (sort) are.
const systemPath = "/usr/bin:/bin"

// EnvCtags names to the parser helper the ctags that it runs.
const EnvCtags = "GTAGS_MCP_CTAGS"

// baseEnv is a complete environment for one foreign program. Nothing of the
// user's comes through but TMPDIR: GTAGS* and MAKEOBJDIR* change what is
// indexed, LD_* and PYTHON* what runs, and HOME leads to configuration files.
func baseEnv(c Config, libs string, dirs ...string) []string {
	env := []string{
		"PATH=" + strings.Join(append(slices.DeleteFunc(dirs, func(d string) bool { return d == "" }), systemPath), ":"),
		"LC_ALL=C",
	}
	if libs != "" {
		env = append(env, "LD_LIBRARY_PATH="+libs)
	}
	if tmp := c.getenv("TMPDIR"); filepath.IsAbs(tmp) {
		env = append(env, "TMPDIR="+tmp)
	}
	return env
}

// gtagsEnv is the environment in which gtags builds an index. GTAGSCONF is
// always set: without it a project's own gtags.conf could run any program.
func gtagsEnv(c Config, p parts) []string {
	var libs []string
	for _, prog := range []*Program{p.gtags, p.ctags} {
		if prog != nil && prog.libs != "" && !slices.Contains(libs, prog.libs) {
			libs = append(libs, prog.libs)
		}
	}
	helperDir := ""
	if p.helper != "" {
		helperDir = filepath.Dir(p.helper)
	}
	env := baseEnv(c, strings.Join(libs, ":"), helperDir, filepath.Dir(p.gtags.Path))
	env = append(env, "GTAGSCONF="+p.conf, "GTAGSLABEL="+p.label)
	if p.label == LabelCtags {
		env = append(env, "LTDL_LIBRARY_PATH="+strings.Join(p.plugins, ":"), EnvCtags+"="+p.ctags.Path)
	}
	return env
}
