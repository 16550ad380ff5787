package guard

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

// parse reads a configuration; dotConfig is the content of the file .config.
func parse(t testing.TB, activeConfig, dotConfig string) *Config {
	t.Helper()
	c, err := ParseConfig(activeConfig, func(path string) ([]byte, error) {
		if path != ".config" && path != "x_defconfig" {
			return nil, fs.ErrNotExist
		}
		return []byte(dotConfig), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const kernelConfig = `#
# Automatically generated file; DO NOT EDIT.
# Linux/x86 6.1.10-rc1 Kernel Configuration
#
CONFIG_CC_IS_GCC=y
CONFIG_GCC_VERSION=120200
CONFIG_SMP=y
CONFIG_EXT4_FS=m
# CONFIG_DEBUG is not set
CONFIG_NR_CPUS=64
CONFIG_BASE=0x1000
CONFIG_LOCALVERSION="-foo"
CONFIG_EMPTY=""
CONFIG_NEG=-1
CONFIG_SUM=1+1
CONFIG_ODD="it's \\"
`

// TestConditions: each condition with the answer in the world of kernelConfig and
// in that of the list, T, F or U.
func TestConditions(t *testing.T) {
	closed := parse(t, ".config", kernelConfig)
	open := parse(t, "CONFIG_SMP, BITS_PER_LONG=64,!CONFIG_DEBUG,CONFIG_EXT4_FS=m,CONFIG_NUMA=n,EMPTY=,ALIAS=CONFIG_SMP,PAREN=(1+2),NEG=-1,S=\"x\"", "")
	for _, c := range []struct{ expr, closed, open string }{
		{"0", "F", "F"}, {"1", "T", "T"}, {"", "U", "U"},
		{"defined(CONFIG_SMP)", "T", "T"}, {"defined CONFIG_SMP", "T", "T"}, {"!defined(CONFIG_SMP)", "F", "F"},
		{"defined(CONFIG_DEBUG)", "F", "F"}, {"CONFIG_DEBUG", "F", "F"}, {"CONFIG_SMP", "T", "T"},
		{"defined(CONFIG_NUMA)", "F", "F"}, {"CONFIG_OTHER", "F", "U"}, {"defined(CONFIG_OTHER)", "F", "U"},
		{"defined(CONFIG_EXT4_FS)", "F", "F"}, {"defined(CONFIG_EXT4_FS_MODULE)", "T", "T"},
		{"defined(CONFIG_SMP_MODULE)", "F", "F"}, {"defined(CONFIG_DEBUG_MODULE)", "F", "F"},
		{"IS_ENABLED(CONFIG_EXT4_FS)", "T", "T"}, {"IS_BUILTIN(CONFIG_EXT4_FS)", "F", "F"},
		{"IS_MODULE(CONFIG_EXT4_FS)", "T", "T"}, {"IS_REACHABLE(CONFIG_EXT4_FS)", "U", "U"},
		{"IS_ENABLED(CONFIG_SMP)", "T", "T"}, {"IS_MODULE(CONFIG_SMP)", "F", "F"}, {"IS_REACHABLE(CONFIG_SMP)", "T", "T"},
		{"IS_ENABLED(CONFIG_DEBUG)", "F", "F"}, {"IS_REACHABLE(CONFIG_DEBUG)", "F", "F"}, {"IS_ENABLED( CONFIG_OTHER )", "F", "U"},
		{"IS_ENABLED(CONFIG_NR_CPUS)", "F", "U"}, {"__is_defined(ALIAS)", "U", "T"}, {"__is_defined(BITS_PER_LONG)", "U", "F"},
		{"IS_ENABLED()", "U", "U"}, {"IS_ENABLED(1)", "U", "U"}, {"IS_ENABLED(A, B)", "U", "U"}, {"CONFIG_IS_ENABLED(SMP)", "U", "U"},
		{"defined(MODULE)", "U", "U"}, {"MODULE", "U", "U"}, {"defined(__KERNEL__)", "U", "U"},
		{"BITS_PER_LONG == 64", "U", "T"}, {"BITS_PER_LONG > 32 && CONFIG_SMP", "U", "T"}, {"BITS_PER_LONG == 64 && CONFIG_DEBUG", "F", "F"},
		{"CONFIG_NR_CPUS >= 64", "T", "U"}, {"CONFIG_NR_CPUS > 64", "F", "U"}, {"CONFIG_BASE == 4096", "T", "U"}, {"CONFIG_NEG < 0", "T", "U"},
		{"CONFIG_LOCALVERSION", "U", "U"}, {"defined(CONFIG_LOCALVERSION)", "T", "U"}, {"defined(CONFIG_EMPTY)", "T", "U"},
		{"defined(CONFIG_SUM)", "T", "U"}, {"CONFIG_SUM == 2", "U", "U"}, {"defined(CONFIG_ODD)", "T", "U"}, {"IS_ENABLED(CONFIG_SUM)", "F", "U"},
		{"EMPTY", "U", "U"}, {"defined(EMPTY)", "U", "T"}, {"PAREN * 2 == 6", "U", "T"}, {"NEG < 0", "U", "T"}, {"1 - NEG == 2", "U", "T"}, {"S", "U", "U"},
		{"LINUX_VERSION_CODE >= KERNEL_VERSION(6,1,0)", "T", "U"}, {"LINUX_VERSION_CODE == KERNEL_VERSION(6, 1, 10)", "T", "U"},
		{"LINUX_VERSION_CODE < KERNEL_VERSION(6,2,0)", "T", "U"}, {"KERNEL_VERSION(2,6,39) == 132647", "T", "T"},
		{"KERNEL_VERSION(2,6)", "U", "U"}, {"KERNEL_VERSION(2,6,300)", "U", "U"}, {"KERNEL_VERSION(X,6,3)", "U", "U"}, {"KERNEL_VERSION(-1,6,3)", "U", "U"},
		{"GCC_VERSION >= 40900", "T", "U"}, {"GCC_VERSION(1)", "U", "U"}, {"__GNUC__ >= 4", "U", "U"}, {"__cplusplus", "U", "U"},
		{"__has_include(<linux/x.h>)", "U", "U"}, {"__has_include(\"a)b.h\") || 1", "T", "T"}, {"__has_attribute(x) && 0", "F", "F"},
		{"defined(__has_builtin) && __has_builtin(__x)", "U", "U"}, {"FOO(a, (b), c) || CONFIG_SMP", "T", "T"}, {"CONFIG_DEBUG(1) || 1", "T", "T"},
		{"CONFIG_SMP || UNKNOWN", "T", "T"}, {"UNKNOWN || CONFIG_SMP", "T", "T"}, {"UNKNOWN && CONFIG_DEBUG", "F", "F"}, {"UNKNOWN || CONFIG_DEBUG", "U", "U"},
		{"UNKNOWN ? 1 : 2", "U", "U"}, {"UNKNOWN ? 1 : 1", "T", "T"}, {"UNKNOWN ? 0 : 0u", "F", "F"}, {"CONFIG_SMP ? UNKNOWN : 1", "U", "U"}, {"CONFIG_SMP ? 1 : UNKNOWN", "T", "T"},
		{"(1 ? 0 : UNKNOWN) - 1 < 0", "U", "U"}, {"(1 ? 2 : UNKNOWN) - 1 < 2", "T", "T"},
		{"1 +", "U", "U"}, {"(1", "U", "U"}, {"1)", "U", "U"}, {"1 1", "U", "U"}, {"1 || )", "U", "U"}, {"#", "U", "U"}, {"X = 1", "U", "U"}, {"defined", "U", "U"}, {"defined(", "U", "U"}, {"defined(1)", "U", "U"}, {"FOO(", "U", "U"}, {"'", "U", "U"},
		{"true", "U", "U"}, {"sizeof(long) == 8", "U", "U"}, {"sizeof(int) == 8 || 1", "T", "T"},
	} {
		letters := map[Value]string{True: "T", False: "F", Unknown: "U"}
		if got := letters[closed.Condition(c.expr)]; got != c.closed {
			t.Errorf("%s under .config: got %s, want %s", c.expr, got, c.closed)
		}
		if got := letters[open.Condition(c.expr)]; got != c.open {
			t.Errorf("%s under the list: got %s, want %s", c.expr, got, c.open)
		}
	}
}

// TestArithmetic: conditions that need no configuration.
func TestArithmetic(t *testing.T) {
	for expr, want := range map[string]Value{
		"0x1fUL == 31": True, "0644 == 420": True, "010 == 8": True, "0b101 == 5": True, "1'000 == 1000": True, "1u": True, "1LLU": True, "1uz": True,
		"08": Unknown, "0x": Unknown, "0b2": Unknown, "1.5": Unknown, "1e+5 || 1": True, "1lul": Unknown, "1i": Unknown,
		"18446744073709551615 == -1": True, "18446744073709551616": Unknown, "0xffffffffffffffff > 0": True, "-1 > 0u": True, "-1 < 0": True,
		"9223372036854775807 + 1": Unknown, "9223372036854775807u + 1": True, "-9223372036854775807 - 2": Unknown, "0 - 1u > 0": True,
		"4611686018427387904 * 2": Unknown, "4611686018427387904 * -2 < 0": True, "-4611686018427387904 * -2": Unknown, "3 * -3 == -9": True,
		"1 / 0": Unknown, "1 % 0": Unknown, "1 / 0 || 1": True, "0 && 1 / 0": False, "1 ? 1 : 1 / 0": True,
		"-7 / 2 == -3": True, "-7 % 2 == -1": True, "(-9223372036854775807 - 1) / -1": Unknown, "(-9223372036854775807 - 1) % -1": Unknown,
		"1 << 3 == 8": True, "1 << 63": Unknown, "1u << 63": True, "1 << 64": Unknown, "1 << -1": Unknown, "-8 >> 1 == -4": True, "-1 >> 1u < 0": True,
		"~0 == -1": True, "~0u > 0": True, "!0": True, "!5": False, "- -1 == 1": True, "-(-9223372036854775807 - 1)": Unknown, "!!7 == 1": True,
		"1 | 2 ^ 3 & 2": True, "(1 | 2) == 3": True, "1 | 2 == 3": True, "6 & 3 == 2": False, "2 + 3 * 4 == 14": True, "10 - 3 - 2 == 5": True,
		"1 < 2 == 1": True, "0 || 1 && 0": False, "1 ? 0 : 1 ? 1 : 0": False, "0 ? 1 : 0 ? 1 : 1": True, "1, 0": False, "(0, 1)": True,
		"'a' == 97": True, "'\\n' == 10": True, "'\\x41' == 65": True, "'\\101' == 65": True, "'\\0' == 0": True, "'ab'": Unknown, "'\\xff' < 0": Unknown, "'é'": Unknown,
		"L'a' == 97": True, "u8'a' == 97": True, "L'a' - 98 < 0": Unknown, "\"s\"": Unknown, "'\\0001'": Unknown, "'\\q'": Unknown,
		"1 and not 0": True, "0 or 1": True, "1 not_eq 1": False, "6 bitand 3 == 3": False,
		"1 /* or */ == /* a */ 1 // b": True, "1 \\\n == 1": True, "1 <=> 1": Unknown, "1 -> 1": Unknown, "1 ? 2": Unknown, "a ## b": Unknown,
		strings.Repeat("(", 150) + "1" + strings.Repeat(")", 150): True,
		strings.Repeat("(", 1e5):                                  Unknown,
		strings.Repeat("!", 1e5) + "0":                            Unknown,
		strings.Repeat("1 ? ", 1e5):                               Unknown,
		strings.Repeat("1 + ", 1e4) + "1 == 10001":                True,
		strings.Repeat("1", 2<<20):                                Unknown,
	} {
		if got := (*Config)(nil).Condition(expr); got != want {
			t.Errorf("%.80s: got %v, want %v", expr, got, want)
		}
	}
}

func TestEval(t *testing.T) {
	c := parse(t, "A,!B", "")
	for _, tt := range []struct {
		guards []string
		want   Value
	}{
		{nil, True}, {[]string{"defined(A)"}, True}, {[]string{"defined(A)", "defined(C)"}, Unknown},
		{[]string{"defined(C)", "defined(B)"}, False}, {[]string{"!(A)"}, False}, {[]string{"!(B) && (A)"}, True},
	} {
		if got := c.Eval(tt.guards); got != tt.want {
			t.Errorf("%q: got %v, want %v", tt.guards, got, tt.want)
		}
	}
}

// TestKindsOfFault: guards on which tools are known to be wrong.
func TestKindsOfFault(t *testing.T) {
	for _, c := range []struct {
		what, config, file, guard string
		want                      Value
	}{
		{"=n is not defined", "CONFIG_HIGHMEM=n", "", "defined(CONFIG_HIGHMEM)", False},
		{"=n keeps the else", "CONFIG_HIGHMEM=n", "", "!defined(CONFIG_HIGHMEM)", True},
		{"octal constant", "MODE=1", "", "MODE > 0644", False},
		{"octal constant", "VER=7", "", "VER >= 010", False},
		{"octal constant", "VER=8", "", "VER >= 010", True},
		{"elifdef", "B,!A", "", "!defined(A) && defined(B)", True},
		{"elifndef", "B,!A", "", "!defined(A) && !defined(B) && !defined(C)", False},
		{"=m in a list", "CONFIG_FOO=m", "", "defined(CONFIG_FOO)", False},
		{"=m in a list", "CONFIG_FOO=m", "", "!(defined(CONFIG_FOO)) && (defined(CONFIG_FOO_MODULE))", True},
		{"=m in a list", "CONFIG_FOO=m", "", "!(defined(CONFIG_FOO)) && !(defined(CONFIG_FOO_MODULE))", False},
		{"=m in a file", ".config", "CONFIG_FOO=m\n", "defined(CONFIG_FOO)", False},
		{"=m in a file", ".config", "CONFIG_FOO=m\n", "!(defined(CONFIG_FOO)) && (defined(CONFIG_FOO_MODULE))", True},
		{"#if 0 without a configuration", "", "", "0", False},
		{"a defconfig leaves out defaults", "x_defconfig", "CONFIG_FOO=y\n", "defined(CONFIG_BAR)", Unknown},
		{"the last line counts", ".config", "CONFIG_A=y\r\nCONFIG_A=m\r\n# CONFIG_A is not set\r\n", "IS_ENABLED(CONFIG_A)", False},
		{"an option of its own beats =y of another", ".config", "CONFIG_A_MODULE=y\nCONFIG_A=y\n", "defined(CONFIG_A_MODULE)", True},
		{"macros in a circle", "A=(B || 1),B=(A)", "", "A == 1 && B == 1", True},
		{"macros in a circle", "A=B,B=A", "", "A", Unknown},
	} {
		if got := parse(t, c.config, c.file).Condition(c.guard); got != c.want {
			t.Errorf("%s: %s under %q: got %v, want %v", c.what, c.guard, c.config, got, c.want)
		}
	}
}

func TestParseConfigErrors(t *testing.T) {
	read := func(path string) ([]byte, error) {
		switch path {
		case "dir/.config":
			return nil, errors.New("is a directory")
		case "main.c":
			return []byte("/* no\n"), nil
		case "./x":
			return []byte("# a comment\n\n"), nil
		case "odd.config":
			return []byte("# comment\nCONFIG_A=y\n<<<<<<< HEAD\n"), nil
		}
		return nil, fmt.Errorf("open %s: %w", path, fs.ErrNotExist)
	}
	for config, want := range map[string]string{
		"/nope/.config":             "active_config file not found: /nope/.config",
		"my_defconfig":              "active_config file not found: my_defconfig",
		"dir/.config":               "active_config file dir/.config: is a directory",
		"main.c":                    `active_config file main.c:1: "/* no" is not of a .config, which has NAME=VALUE`,
		"./x":                       `active_config file ./x sets no option: is it a kernel .config?`,
		"odd.config":                `active_config file odd.config:3: "<<<<<<< HEAD" is not of a .config, which has NAME=VALUE`,
		"CONFIG_A,1X":               `active_config: bad element "1X": want NAME, NAME=VALUE or !NAME`,
		"CONFIG_A CONFIG_B":         `active_config: bad element "CONFIG_A CONFIG_B": want NAME, NAME=VALUE or !NAME`,
		"F(x)=1":                    `active_config: bad element "F(x)=1": want NAME, NAME=VALUE or !NAME`,
		"!A=1":                      `active_config: bad element "!A=1": want NAME, NAME=VALUE or !NAME`,
		"=1":                        `active_config: bad element "=1": want NAME, NAME=VALUE or !NAME`,
		"!":                         `active_config: bad element "!": want NAME, NAME=VALUE or !NAME`,
		"A=1+1":                     `active_config: bad element "A=1+1": put the value in parentheses`,
		"A,!A":                      `active_config: "!A" contradicts "A"`,
		"CONFIG_A_MODULE,!CONFIG_A": `active_config: "!CONFIG_A" contradicts "CONFIG_A_MODULE"`,
		"CONFIG_A=m,CONFIG_A":       `active_config: "CONFIG_A" contradicts "CONFIG_A=m"`,
		"A=1,B,A=01":                `active_config: "A=01" contradicts "A=1"`,
	} {
		if _, err := ParseConfig(config, read); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", config, err, want)
		}
	}
	for _, config := range []string{"", " ", "A,,A=1,A=y,", "CONFIG_A=m,CONFIG_A_MODULE,!CONFIG_A_MODULE_X", "A=", "A=(1+1)", "A=-1"} {
		if _, err := ParseConfig(config, read); err != nil {
			t.Errorf("%q: %v", config, err)
		}
	}
}

func BenchmarkEval(b *testing.B) {
	c := parse(b, ".config", kernelConfig)
	guards := []string{"defined(CONFIG_SMP)", "IS_ENABLED(CONFIG_EXT4_FS) && !defined(CONFIG_DEBUG)", "BITS_PER_LONG == 64 || CONFIG_NR_CPUS > 32"}
	for b.Loop() {
		if c.Eval(guards) != True {
			b.Fatal("not true")
		}
	}
}
