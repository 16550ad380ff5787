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
	"strings"
	"time"
)

// Name is the base name of argv[0] by which gtags starts the helper.
const Name = "gtagsmcp-ctagscom"

// EnvCtags names the ctags to run.
const EnvCtags = "GTAGS_MCP_CTAGS"

const terminator = "###terminator###\n"

// Invoked says whether the process was started as the helper.
func Invoked(argv0 string) bool { return filepath.Base(argv0) == Name }

// Main serves until end of input and returns the exit code: 0, or 1 with a
// message on stderr when ctags cannot be run at all.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	// The kernel ends ctags with the thread that started it (see childAttr).
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s := &server{tagger: newTagger(os.Getenv(EnvCtags), langmap(args)), stderr: stderr, patience: patience}
	defer s.tagger.stop()
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

type server struct {
	tagger   *tagger
	stderr   io.Writer
	patience time.Duration
}

// maxRequest bounds a path; Linux allows 4096 bytes.
const maxRequest = 64 << 10

// serve answers each request. References by a lexer belong here too: lexed ahead
// on all cores, and merged with the tags of ctags before the terminator.
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

// answer writes the tags of one file. Only an error that concerns every file is
// returned.
func (s *server) answer(w *bufio.Writer, path []byte) error {
	info, err := os.Stat(string(path))
	switch {
	case err != nil, info.Size() == 0:
		return nil
	case !info.Mode().IsRegular(): // reading a FIFO would wait for ever
		return nil
	case info.Size() > maxFileSize:
		s.warn(path, fmt.Errorf("larger than %d MB", maxFileSize>>20))
		return nil
	}
	began := time.Now()
	tags, err := s.tagger.tags(path, s.limit())
	var lost *lostError
	if errors.As(err, &lost) {
		s.patience -= time.Since(began)
		s.warn(path, err)
		return nil
	}
	if err != nil {
		return err
	}
	for line := range bytes.Lines(tags) {
		writeTag(w, line, path)
	}
	return nil
}

func (s *server) limit() time.Duration {
	return min(fileLimit, max(minFileLimit, s.patience/4))
}

func (s *server) warn(path []byte, err error) {
	fmt.Fprintf(s.stderr, "%s: %q: %v; its names are left out\n", Name, path, err)
}
