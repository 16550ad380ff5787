package ctagscom

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dlclark/regexp2/v2"

	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
)

// The test binary plays ctags when it is started under this name.
const fakeCtags = "fake-ctags"

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == fakeCtags {
		playCtags()
		os.Exit(0)
	}
	// No match of a lexer's expressions is cut short, however busy the machine.
	regexp2.SetTimeoutCheckPeriod(time.Hour)
	os.Exit(m.Run())
}

// playCtags answers every file with the name of the file, but for those whose
// names say what it does to them.
func playCtags() {
	mark := ""
	for _, arg := range os.Args {
		if value, ok := strings.CutPrefix(arg, "--filter-terminator="); ok {
			mark = value
		}
	}
	for sc := bufio.NewScanner(os.Stdin); sc.Scan(); {
		switch base := filepath.Base(sc.Text()); base {
		case "hang.py":
			fmt.Println("D 1 half")
			time.Sleep(time.Hour)
		case "crash.py":
			fmt.Println("D 1 half")
			fmt.Fprintln(os.Stderr, "assertion failed")
			os.Exit(3)
		case "flood.py":
			for line := "D 1 " + strings.Repeat("x", 1000) + "\n"; ; {
				io.WriteString(os.Stdout, line)
			}
		case "file":
		default:
			fmt.Printf("D 1 %s\n", strings.TrimSuffix(base, ".py"))
		}
		io.WriteString(os.Stdout, mark)
	}
}

// ask serves the requests and returns the answers, one a file.
func ask(t *testing.T, s *server, paths ...string) ([]string, error) {
	t.Helper()
	t.Cleanup(s.tagger.stop)
	if s.lexers == nil {
		s.lexers = newLexerPool(s.tagger.langmap, patience)
	}
	var out bytes.Buffer
	err := s.serve(strings.NewReader(strings.Join(paths, "\n")+"\n"), &out)
	answers := strings.Split(out.String(), terminator)
	return answers[:len(answers)-1], err
}

// chdirTree makes a folder of files the working directory, as gtags does.
func chdirTree(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func fakeTagger(t *testing.T) *tagger {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), fakeCtags)
	if err := os.Symlink(exe, path); err != nil {
		t.Fatal(err)
	}
	return newTagger(path, "")
}

// A file that hangs, crashes or floods costs its own names only.
func TestBadFileCostsItsOwnNames(t *testing.T) {
	chdirTree(t, map[string]string{"a.py": "x", "hang.py": "x", "crash.py": "x", "flood.py": "x", "b.py": "x", "empty.py": ""})
	var warnings bytes.Buffer
	s := &server{tagger: fakeTagger(t), stderr: &warnings} // no patience: the shortest limit
	got, err := ask(t, s, "./a.py", "./hang.py", "./crash.py", "./flood.py", "./absent.py", "./empty.py", "./b.py")
	want := []string{"D a 1 ./a.py \n", "", "", "", "", "", "D b 1 ./b.py \n"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	for _, text := range []string{`"./hang.py": ctags took longer`, `"./crash.py": ctags ended (exit status 3): assertion failed`, `"./flood.py": `} {
		if !strings.Contains(warnings.String(), text) {
			t.Errorf("warnings %q lack %q", warnings.String(), text)
		}
	}
	if lines := strings.Count(warnings.String(), "\n"); lines != 3 {
		t.Errorf("got %d warnings, want 3:\n%s", lines, &warnings)
	}
}

// A ctags that cannot run at all must end gtags, not leave an index without names.
func TestUnusableCtagsIsAnError(t *testing.T) {
	chdirTree(t, map[string]string{"a.py": "def f(): pass\n"})
	for path, want := range map[string]string{
		"":                  EnvCtags,
		"ctags":             EnvCtags,
		"/no/such/ctags":    "no such file",
		"/bin/false":        "/bin/false does not answer: ctags ended (exit status 1)",
		"/proc/self/status": "permission denied",
	} {
		s := &server{tagger: newTagger(path, ""), stderr: io.Discard}
		if _, err := ask(t, s, "./a.py"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ctags %q: got %v, want an error with %q", path, err, want)
		}
	}
	t.Setenv(EnvCtags, "/no/such/ctags")
	var stderr bytes.Buffer
	if code := Main(nil, strings.NewReader("./a.py\n"), io.Discard, &stderr); code != 1 || !strings.Contains(stderr.String(), "/no/such/ctags") {
		t.Errorf("Main: got exit code %d and %q", code, &stderr)
	}
}

// realTagger is the ctags of the tests' toolchain.
func realTagger(t *testing.T, langmap string) *tagger {
	t.Helper()
	tc := navtest.Tools(t)
	for _, kv := range tc.Env {
		if key, value, _ := strings.Cut(kv, "="); key == "LD_LIBRARY_PATH" {
			t.Setenv(key, value)
		}
	}
	return newTagger(tc.Ctags, langmap)
}

func TestRealCtags(t *testing.T) {
	long := strings.Repeat("n", maxName+1)
	chdirTree(t, map[string]string{
		"a.py":                     "import os\nclass A:\n    def m(self):\n        pass\n",
		"with blank.py":            "def blank(): pass\n",
		"\u6f22.py":                "def han(): pass\n",
		"latin\xe9.py":             "def latin(): pass\n",
		"SConscript":               "def scons(): pass\n",
		"o.js":                     "var o = {\"a b\": 1, \"" + terminator[:len(terminator)-1] + "\": 1}\nfunction f() {}\nfunction " + long + "() {}\n",
		".ctags.d/hostile.ctags":   "--languages=-Python\n",
		".ctags":                   "--languages=-Python\n",
		"sub/dir/binary\x01.py":    "\x00\x01\xff\xfe",
		"sub/dir/also \"fine\".py": "x = 1\n",
	})
	s := &server{tagger: realTagger(t, "Python:.py(SConscript),JavaScript:.js"), stderr: os.Stderr, patience: patience}
	got, err := ask(t, s, "./a.py", "./with blank.py", "./\u6f22.py", "./latin\xe9.py", "./SConscript", "./o.js",
		"./sub/dir/binary\x01.py", "./sub/dir/also \"fine\".py", "./sub")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"D A 2 ./a.py \nD m 3 ./a.py \nR os 1 ./a.py \nR self 3 ./a.py \n",
		"D blank 1 ./with blank.py \n",
		"D han 1 ./\u6f22.py \n",
		"D latin 1 ./latin\xe9.py \n",
		"D scons 1 ./SConscript \n",
		"D ###terminator### 1 ./o.js \nD o 1 ./o.js \nD f 2 ./o.js \n",
		"",
		"D x 1 ./sub/dir/also \"fine\".py \n",
		"",
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("answer %d: got %q, want %q", i, got[i], want[i])
		}
	}
}

func TestLangmapDropsNativeLanguages(t *testing.T) {
	args := []string{"--langmap=c:.c.h,c++:.cc,Python:.py(SConscript),C#:.cs", "-xu"}
	if got, want := langmap(args), "Python:.py(SConscript),C#:.cs"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := langmap([]string{"-xu"}); got != "" {
		t.Errorf("without a langmap: got %q", got)
	}
}

func TestPatienceEnds(t *testing.T) {
	for left, want := range map[time.Duration]time.Duration{
		patience: fileLimit, 8 * time.Second: 2 * time.Second, 0: minFileLimit, -time.Hour: minFileLimit,
	} {
		if got := limit(left); got != want {
			t.Errorf("with %v left: got %v, want %v", left, got, want)
		}
	}
}

// FuzzTag: whatever ctags says, gtags must read back from our answer exactly the
// name, line and path that we meant. readBack is what GNU Global's plugin does.
func FuzzTag(f *testing.F) {
	f.Add([]byte("D 12 name\n"), []byte("./a.py"))
	f.Add([]byte("R 1 ./a.py\n"), []byte("./a.py"))
	f.Add([]byte("D 1 ./a\n"), []byte("./a 1 ./a"))
	f.Add([]byte("D 1 caf\xe9\n"), []byte("./\xff .py"))
	f.Add([]byte("D 0 x\nX 1 y\nD 1 a b\nD 99999999999 z\n"), []byte("./x"))
	f.Fuzz(func(t *testing.T, said, path []byte) {
		if len(path) == 0 || bytes.ContainsAny(path, "\n\x00") {
			t.Skip("gtags sends no such path")
		}
		for _, want := range parseTags(said) {
			var out bytes.Buffer
			w := bufio.NewWriter(&out)
			writeTag(w, want, path)
			w.Flush()
			if out.Len() == 0 {
				continue
			}
			if got := readBack(out.String(), string(path)); got != want || strings.Count(out.String(), "\n") != 1 {
				t.Errorf("%+v became %q, which reads back as %+v", want, out.String(), got)
			}
		}
	})
}

// readBack finds the path in an answer and reads number and name backwards.
func readBack(answer, path string) tag {
	before, _, found := strings.Cut(answer, path)
	fields := strings.FieldsFunc(before, func(r rune) bool { return r <= ' ' })
	if !found || len(fields) != 3 || len(fields[0]) != 1 {
		return tag{}
	}
	line, _ := strconv.Atoi(fields[2])
	return tag{fields[0][0], reference{fields[1], line}}
}
