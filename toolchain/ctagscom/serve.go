package ctagscom

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// Name is the base name of argv[0] by which gtags starts the helper.
const Name = "gtagsmcp-ctagscom"

// EnvCtags names the ctags to run.
const EnvCtags = "GTAGS_MCP_CTAGS"

// EnvFiles may name a file with the list of files that gtags is given with -f, one
// path a line: the helper then lexes ahead on all cores. Nothing but the speed
// depends on it: a file that is not in the list, or comes out of order, is
// lexed when it is asked for.
const EnvFiles = "GTAGS_MCP_FILES"

const terminator = "###terminator###\n"

// Invoked says whether the process was started as the helper.
func Invoked(argv0 string) bool { return filepath.Base(argv0) == Name }

// Main serves until end of input and returns the exit code: 0, or 1 with a
// message on stderr when ctags cannot be run at all.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	// The kernel ends ctags with the thread that started it (see childAttr).
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	debug.SetGCPercent(400) // lexers leave much garbage on a small heap
	langmap := langmap(args)
	s := &server{tagger: newTagger(os.Getenv(EnvCtags), langmap), lexers: newLexerPool(langmap, patience), stderr: stderr, patience: patience}
	defer s.tagger.stop()
	defer s.lexers.stop()
	if list := os.Getenv(EnvFiles); list != "" {
		if err := s.lexers.readList(list); err != nil {
			fmt.Fprintf(stderr, "%s: %v; nothing is lexed ahead\n", Name, err)
		}
	}
	if err := s.serve(stdin, stdout); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", Name, err)
		return 1
	}
	return 0
}

// langmap returns the entries of --langmap that ctags knows: those of gtags' own
// languages begin with a lower-case letter.
func langmap(args []string) string {
	for _, arg := range args {
		value, ok := strings.CutPrefix(arg, "--langmap=")
		if !ok {
			continue
		}
		var keep []string
		for entry := range strings.SplitSeq(value, ",") {
			if entry != "" && (entry[0] < 'a' || entry[0] > 'z') {
				keep = append(keep, entry)
			}
		}
		return strings.Join(keep, ",")
	}
	return ""
}

// A file gets fileLimit, less once much of the patience with hanging files is
// used up, so that a tree of thousands of them still ends.
const (
	fileLimit    = 5 * time.Second
	minFileLimit = 300 * time.Millisecond
	patience     = time.Minute
	maxFileSize  = 32 << 20 // larger ones are data
)

func limit(patience time.Duration) time.Duration {
	return min(fileLimit, max(minFileLimit, patience/4))
}

type server struct {
	tagger   *tagger
	lexers   *lexerPool
	stderr   io.Writer
	patience time.Duration // left for files on which ctags hangs
}

// maxRequest bounds a path; Linux allows 4096 bytes.
const maxRequest = 64 << 10

// serve answers each request.
func (s *server) serve(in io.Reader, out io.Writer) error {
	requests := bufio.NewReaderSize(in, maxRequest)
	answers := bufio.NewWriterSize(out, 1<<16)
	for {
		line, err := requests.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("reading a request: %w", err)
		}
		path := bytes.TrimSuffix(line, []byte("\n"))
		if err := s.answer(answers, path); err != nil {
			return err
		}
		answers.WriteString(terminator) //nolint:errcheck // Flush reports it
		if err := answers.Flush(); err != nil {
			return fmt.Errorf("answering: %w", err)
		}
	}
}

// answer writes the tags of one file: what ctags says, then the references that
// the lexer adds. Only an error that concerns every file is returned.
func (s *server) answer(w *bufio.Writer, path []byte) error {
	info, err := os.Stat(string(path))
	switch {
	case err != nil, info.Size() == 0:
		return nil
	case !info.Mode().IsRegular(): // reading a FIFO would wait for ever
		return nil
	case info.Size() > maxFileSize:
		s.warn(path, fmt.Errorf("larger than %d MB", maxFileSize>>20), "names")
		return nil
	}
	lexing := s.lexers.start(string(path))
	tags, err := s.tags(path)
	if err != nil {
		return err
	}
	known := make(map[reference]bool)
	write := func(kind byte, ref reference) {
		if !known[ref] {
			known[ref] = true
			writeTag(w, tag{kind, ref}, path)
		}
	}
	for _, t := range parseTags(tags) { // definitions first: they win
		write(t.kind, t.reference)
	}
	<-lexing.done
	if lexing.err != nil {
		s.warn(path, lexing.err, "references")
	}
	for _, ref := range lexing.refs {
		write('R', ref)
	}
	return nil
}

// tags returns what ctags says of the file, nothing when the file is to blame.
func (s *server) tags(path []byte) ([]byte, error) {
	began := time.Now()
	tags, err := s.tagger.tags(path, limit(s.patience))
	var lost *lostError
	if errors.As(err, &lost) {
		s.patience -= time.Since(began)
		s.warn(path, err, "definitions")
		return nil, nil
	}
	return tags, err
}

func (s *server) warn(path []byte, err error, what string) {
	fmt.Fprintf(s.stderr, "%s: %q: %v; its %s are left out\n", Name, path, err, what)
}
