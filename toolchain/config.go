package toolchain

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Config says where to look and what to accept. The zero value looks in the
// default places and accepts native languages only.
type Config struct {
	// Home is the managed folder. Empty: $GTAGS_MCP_HOME, else ~/.gtags-mcp.
	Home string
	// BinDir is searched before everything else. Empty: no such folder.
	BinDir string
	// Helper is the executable that plays the parser helper when it is started
	// under the name HelperName: our own binary, named by the caller because only
	// main knows that it dispatches on that name. Empty: no helper, so only the
	// languages that gtags parses itself.
	Helper string
	// Label selects a record of our gtags.conf. Empty: LabelCtags where it can
	// be proved, else LabelNative.
	Label string
	// NoCtags leaves Universal Ctags out: not searched, not installed.
	NoCtags bool
	// Rung limits Install to one rung. Empty: all, in order.
	Rung string
	// From is an archive to install from, in place of the ladder. Its digest must be
	// one of the embedded lock file, or SHA256. It implies Force. Empty: none.
	From string
	// SHA256 is the digest that From must have, in hexadecimal. Empty: one of the
	// lock file's.
	SHA256 string
	// Unverified accepts From whatever its digest: its programs run with nothing
	// to vouch for them.
	Unverified bool
	// Force makes Install climb although a good toolchain is there.
	Force bool
	// Environ stands for the process environment. Nil: os.Environ.
	Environ []string
	// LockTimeout bounds the wait for the next step of another process's install.
	// Zero: 10 minutes.
	LockTimeout time.Duration
	// Log receives what is not worth a report line. Nil: nothing is logged.
	Log *slog.Logger

	pins *pins // nil: the embedded lock file; tests have archives of their own
}

// Rungs in the order in which Install climbs them. RungBinDir is only looked
// at, never installed to.
const (
	RungBinDir   = "bin_dir"
	RungManaged  = "managed"
	RungSystem   = "system"
	RungPrebuilt = "prebuilt"
	RungSource   = "source"
	RungDistro   = "distro"
	// RungArchive is Config.From, in place of all others.
	RungArchive = "archive"
)

// SettingError is a field of Config, or what it stands for, that cannot work.
type SettingError struct{ text string }

func (e *SettingError) Error() string { return e.text }

// ManagedHome is the managed folder, whether it exists or not.
func (c Config) ManagedHome() (string, error) {
	c, err := c.complete()
	return c.Home, err
}

// complete fills in the defaults and refuses what cannot work.
func (c Config) complete() (Config, error) {
	if c.Environ == nil {
		c.Environ = os.Environ()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.LockTimeout == 0 {
		c.LockTimeout = 10 * time.Minute
	}
	if err := c.completeHome(); err != nil {
		return c, err
	}
	switch c.Label {
	case "", LabelCtags, LabelNative:
	default:
		return c, &SettingError{fmt.Sprintf("unknown label %q: it takes %q or %q", c.Label, LabelCtags, LabelNative)}
	}
	if err := c.checkFrom(); err != nil {
		return c, err
	}
	c.Force = c.Force || c.From != ""
	switch c.Rung {
	case "", RungManaged, RungSystem, RungPrebuilt, RungSource, RungDistro:
	default:
		return c, &SettingError{fmt.Sprintf("unknown rung %q: it takes %s, %s, %s, %s or %s", c.Rung,
			RungManaged, RungSystem, RungPrebuilt, RungSource, RungDistro)}
	}
	return c, nil
}

// completeHome makes Home an absolute path and refuses what no home can be.
func (c *Config) completeHome() error {
	if c.Home == "" {
		c.Home = c.getenv("GTAGS_MCP_HOME")
	}
	if c.Home == "" {
		user := c.userHome()
		if user == "" {
			return &SettingError{"no home folder: HOME is not set; set GTAGS_MCP_HOME to a folder that you may write to"}
		}
		c.Home = filepath.Join(user, ".gtags-mcp")
	}
	abs, err := filepath.Abs(c.Home)
	if err != nil {
		return fmt.Errorf("managed folder %s: %w", c.Home, err)
	}
	if c.Home = abs; strings.ContainsAny(abs, ":\n") {
		// PATH and LTDL_LIBRARY_PATH cannot quote a colon.
		return &SettingError{fmt.Sprintf("managed folder %q holds a colon or newline, which no search path can hold; set GTAGS_MCP_HOME to another folder", abs)}
	}
	if abs == filepath.Clean(c.userHome()) || abs == "/" {
		// An install makes and removes folders there, called staging for one.
		return &SettingError{fmt.Sprintf("managed folder %s is not for the toolchain alone; set GTAGS_MCP_HOME to a folder below it", abs)}
	}
	return nil
}

// checkFrom refuses settings of From that contradict each other.
func (c Config) checkFrom() error {
	sum, err := hex.DecodeString(c.SHA256)
	switch {
	case c.From == "" && (c.SHA256 != "" || c.Unverified):
		return &SettingError{"--sha256 and --unverified are about the archive of --from, which is not given"}
	case c.From != "" && c.Rung != "":
		return &SettingError{fmt.Sprintf("--from takes the place of all rungs: leave out --rung %s", c.Rung)}
	case c.SHA256 != "" && c.Unverified:
		return &SettingError{"--sha256 demands a digest and --unverified accepts any: give one of them"}
	case c.SHA256 != "" && (err != nil || len(sum) != sha256.Size):
		return &SettingError{fmt.Sprintf("--sha256 %q is not a SHA-256: it takes 64 hexadecimal digits", c.SHA256)}
	}
	return nil
}

// getenv reads the configured environment; the last assignment wins, as for exec.
func (c Config) getenv(key string) string {
	value := ""
	for _, kv := range c.Environ {
		if k, v, ok := strings.Cut(kv, "="); ok && k == key {
			value = v
		}
	}
	return value
}

func (c Config) userHome() string { return c.getenv("HOME") }
