package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

// projectConfig is the name of the settings file in a project's root.
const projectConfig = ".gtags-mcp.toml"

// Settings are what a user can set in a config file, in the environment or by
// a flag. A nil field is not set and leaves the choice to the next layer.
type Settings struct {
	Root             *string  `toml:"root"`              // the tree to ask when a call names none
	Label            *string  `toml:"label"`             // the parser set of gtags.conf
	BinDir           *string  `toml:"bin_dir"`           // where gtags, global and ctags are
	SkipGlobs        []string `toml:"skip_globs"`        // files left out of the index
	RespectGitignore *bool    `toml:"respect_gitignore"` // default true
	Enrich           *bool    `toml:"enrich"`            // ask ctags for kinds and signatures, default true
	Guards           *bool    `toml:"guards"`            // report #if stacks, default true
	MacroResolve     *bool    `toml:"macro_resolve"`     // find names minted by macros, default true
	// AllowAnyRoot permits an index of the home directory, of the root of the
	// file system, and of very large trees without git. Default false.
	AllowAnyRoot *bool `toml:"allow_any_root"`
	// Macros are the project's own families of macros that mint names.
	Macros []nav.MacroFamily `toml:"macro"`
}

// Over returns the settings of s, and those of lower where s has none.
func (s Settings) Over(lower Settings) Settings {
	if s.SkipGlobs == nil {
		s.SkipGlobs = lower.SkipGlobs
	}
	if s.Macros == nil {
		s.Macros = lower.Macros
	}
	return Settings{
		Root:             first(s.Root, lower.Root),
		Label:            first(s.Label, lower.Label),
		BinDir:           first(s.BinDir, lower.BinDir),
		SkipGlobs:        s.SkipGlobs,
		Macros:           s.Macros,
		AllowAnyRoot:     first(s.AllowAnyRoot, lower.AllowAnyRoot),
		RespectGitignore: first(s.RespectGitignore, lower.RespectGitignore),
		Enrich:           first(s.Enrich, lower.Enrich),
		Guards:           first(s.Guards, lower.Guards),
		MacroResolve:     first(s.MacroResolve, lower.MacroResolve),
	}
}

func first[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}

// ReadEnvironment reads the settings that the environment holds.
func ReadEnvironment(getenv func(string) string) (Settings, error) {
	var s Settings
	var errs []error
	text := func(name string, field **string) {
		if value := getenv("GTAGS_MCP_" + name); value != "" {
			*field = &value
		}
	}
	truth := func(name string, field **bool) {
		value := getenv("GTAGS_MCP_" + name)
		if value == "" {
			return
		}
		parsed, err := strconv.ParseBool(value)
		if err != nil {
			errs = append(errs, fmt.Errorf("environment variable GTAGS_MCP_%s takes 1 or 0, got %q", name, value))
			return
		}
		*field = &parsed
	}
	text("ROOT", &s.Root)
	text("LABEL", &s.Label)
	text("BIN_DIR", &s.BinDir)
	truth("ENRICH", &s.Enrich)
	truth("GUARDS", &s.Guards)
	truth("MACRO_RESOLVE", &s.MacroResolve)
	truth("ALLOW_ANY_ROOT", &s.AllowAnyRoot)
	return s, errors.Join(errs...)
}

// UserConfigFile is where a user's own settings are.
func UserConfigFile(getenv func(string) string) string {
	base := getenv("XDG_CONFIG_HOME")
	if base == "" {
		base = filepath.Join(getenv("HOME"), ".config")
	}
	return filepath.Join(base, "gtags-mcp", "config.toml")
}

// ReadSettingsFile reads one config file. A file that does not exist has no
// settings. Of a bad file the error names the line and key, and whatever could
// be read counts.
func ReadSettingsFile(path string) (Settings, error) {
	var s Settings
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("config file: %w", err)
	}
	return parseSettings(path, text)
}

// maxProjectConfig is the size of the largest config file of a project, in bytes.
const maxProjectConfig = 1 << 20

// readProjectSettings reads the config file of a project. It may be a
// stranger's: what is read is a file in the project's own folder, and no word
// of it decides which programs are run or which trees are read.
func readProjectSettings(root string, dir *os.Root) (Settings, error) {
	path := filepath.Join(root, projectConfig)
	text, err := nav.ReadIn(dir, projectConfig, maxProjectConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return Settings{}, nil
	}
	if err != nil {
		return Settings{}, fmt.Errorf("config file %s: %w", path, err)
	}
	s, err := parseSettings(path, text)
	for key, set := range map[string]bool{"root": s.Root != nil, "bin_dir": s.BinDir != nil, "allow_any_root": s.AllowAnyRoot != nil} {
		if set {
			err = errors.Join(err, fmt.Errorf("config file %s:%d: %s counts only in your own config file, in the environment or as a flag, not in a project's",
				path, lineOf(string(text), key), key))
		}
	}
	s.Root, s.BinDir, s.AllowAnyRoot = nil, nil, nil
	return s, err
}

func parseSettings(path string, text []byte) (Settings, error) {
	var s Settings
	meta, err := toml.Decode(string(text), &s)
	var syntax toml.ParseError
	if errors.As(err, &syntax) {
		return s, fmt.Errorf("config file %s:%d: key %q: %s", path, syntax.Position.Line, syntax.LastKey, syntax.Message)
	}
	if err != nil {
		return s, fmt.Errorf("config file %s: %w", path, err)
	}
	for _, key := range meta.Undecoded() {
		return s, fmt.Errorf("config file %s:%d: unknown key %q; known are root, label, bin_dir, skip_globs, respect_gitignore, enrich, guards, macro_resolve, allow_any_root, [[macro]]",
			path, lineOf(string(text), key.String()), key)
	}
	if s.Root != nil && !filepath.IsAbs(*s.Root) {
		abs := filepath.Join(filepath.Dir(path), *s.Root)
		s.Root = &abs
	}
	return s, nil
}

// lineOf finds the line on which a top-level key is set.
func lineOf(text, key string) int {
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.TrimLeft(line, " \t\"'["), key) {
			return i + 1
		}
	}
	return 1
}
