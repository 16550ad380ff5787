//go:build artifacts

package ctagscom

import (
	"bufio"
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
	"syscall"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
)

// envStock names GNU Global's own helper, pygments_parser.py, and envStockPython
// an interpreter that can import Pygments.
const (
	envStock       = "GTAGS_MCP_TEST_STOCK"
	envStockPython = "GTAGS_MCP_TEST_STOCK_PYTHON"
	envProgram     = "GTAGS_MCP_TEST_PROGRAM" // ours, as users run it
)

// stockCorpora are sources that a machine with Go, Node and Debian's perl has.
var stockCorpora = []struct{ language, ext, dir string }{
	{"Python", ".py", "/usr/lib/python3*"},
	{"Go", ".go", filepath.Join(runtime.GOROOT(), "src")},
	{"JavaScript", ".js", "/usr/lib/node_modules/npm"},
	{"Perl", ".pm", "/usr/share/perl"},
}

const stockFiles = 150 // of each

type name struct {
	kind byte
	name string
	line int
}

// answerOf are the names that a helper gives for each file, and what it used.
func answerOf(t *testing.T, cmd *exec.Cmd, files []string) (names map[string]map[name]bool, wall, cpu time.Duration) {
	t.Helper()
	names = make(map[string]map[name]bool)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`^([DR]) (\S+) (\d+) `)
	lines := bufio.NewReaderSize(out, 1<<20)
	for _, file := range files {
		names[file] = make(map[name]bool)
		if _, err := fmt.Fprintln(in, file); err != nil {
			t.Fatal(err)
		}
		for {
			text, err := lines.ReadString('\n')
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if text == terminator {
				break
			}
			if m := line.FindStringSubmatch(text); m != nil {
				n, _ := strconv.Atoi(m[3])
				names[file][name{m[1][0], m[2], n}] = true
			}
		}
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	wall = time.Since(began)
	// The state of a child counts the children that it waited for, ctags.
	return names, wall, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

func corpus(t *testing.T, ext, pattern string) (files []string, bytes int64) {
	t.Helper()
	roots, _ := filepath.Glob(pattern)
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || filepath.Ext(path) != ext || len(files) == stockFiles || strings.ContainsAny(path, " \n") {
				return nil
			}
			if info, err := d.Info(); err == nil && info.Size() > 1000 && info.Size() < 200<<10 {
				files, bytes = append(files, path), bytes+info.Size()
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(files) < stockFiles/3 {
		t.Fatalf("%s has %d files named *%s", pattern, len(files), ext)
	}
	return files, bytes
}

// identifier is a name that an index can be asked for. The stock helper also
// gives what its lexers call names: the sigil of a variable that is computed, the
// rest of a subscript, an escape in a regular expression.
var identifier = regexp.MustCompile(`^[$@%]?[\pL_][\pL\pN_$]*$`)

// tally counts what both have, and keeps some of what only one has.
type tally struct {
	all, same int
	lost      []string
}

func (c *tally) count(same bool, where string) {
	c.all++
	if same {
		c.same++
	} else if len(c.lost) < 15 {
		c.lost = append(c.lost, where)
	}
}

func (c *tally) String() string {
	return fmt.Sprintf("%.2f %% (%d of %d)", 100*float64(c.same)/float64(max(c.all, 1)), c.same, c.all)
}

func isPackageClause(t *testing.T, language, file string, n name) bool {
	if language != "Go" {
		return false
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	return strings.HasPrefix(lines[n.line-1], "package "+n.name)
}

// Beside GNU Global's own helper: the same definitions, at least 98 of 100 of its
// references, and no slower. Both have the same ctags.
func TestStockHelper(t *testing.T) {
	script, python, program := os.Getenv(envStock), os.Getenv(envStockPython), os.Getenv(envProgram)
	if script == "" || python == "" || program == "" {
		t.Fatalf("%s, %s and %s must be set", envStock, envStockPython, envProgram)
	}
	tools := navtest.Tools(t)
	ours := filepath.Join(t.TempDir(), Name)
	if err := os.Symlink(program, ours); err != nil {
		t.Fatal(err)
	}
	var all, stockAll time.Duration
	for _, c := range stockCorpora {
		t.Run(c.language, func(t *testing.T) {
			files, bytes := corpus(t, c.ext, c.dir)
			list := filepath.Join(t.TempDir(), "list")
			if err := os.WriteFile(list, []byte(strings.Join(files, "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			langmap := "--langmap=" + c.language + ":" + c.ext
			attr := &syscall.SysProcAttr{Setpgid: true}
			mine := exec.Command(ours, langmap)
			mine.Env, mine.Dir, mine.SysProcAttr = append(tools.Env, EnvCtags+"="+tools.Ctags, EnvFiles+"="+list), "/", attr
			got, wall, cpu := answerOf(t, mine, files)
			stock := exec.Command(python, script, langmap)
			stock.Env = append(tools.Env, "GTAGSCONF=:ctagscom="+tools.Ctags+":", "GTAGSLABEL=")
			stock.Dir, stock.SysProcAttr = "/", attr
			want, stockWall, stockCPU := answerOf(t, stock, files)

			var defs, refs, others tally
			for _, file := range files {
				for n := range want[file] {
					// What ours knows as a definition is no lost reference.
					same := got[file][n] || got[file][name{'D', n.name, n.line}]
					switch where := fmt.Sprintf("%c %s %s:%d", n.kind, n.name, file, n.line); {
					case !identifier.MatchString(n.name):
						others.count(same, where)
					case n.kind == 'D' && isPackageClause(t, c.language, file, n):
						// ours leaves them out: every file of a package has one
					case n.kind == 'D':
						defs.count(same, where)
					default:
						refs.count(same, where)
					}
				}
			}
			t.Logf("%d files, %.1f MB: %v of the definitions, %v of the references; %v of what is no name ($, subval], \\u2010)",
				len(files), float64(bytes)/1e6, &defs, &refs, &others)
			t.Logf("wall %.2f s against %.2f s, CPU %.2f s against %.2f s", wall.Seconds(), stockWall.Seconds(), cpu.Seconds(), stockCPU.Seconds())
			for _, l := range slices.Concat(defs.lost, refs.lost) {
				t.Log("only the stock helper has ", l)
			}
			if defs.same != defs.all || float64(refs.same) < 0.98*float64(refs.all) {
				t.Error("too little of what the stock helper finds")
			}
			all, stockAll = all+wall, stockAll+stockWall
		})
	}
	t.Logf("all: wall %.2f s against %.2f s", all.Seconds(), stockAll.Seconds())
	if all > stockAll {
		t.Error("slower than the stock helper")
	}
}
