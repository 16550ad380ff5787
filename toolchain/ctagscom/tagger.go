package ctagscom

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// tagger asks one long-lived ctags for the tags of one file after the other, and
// replaces it when a file hangs or crashes it.
type tagger struct {
	path    string
	langmap string
	proc    *process
}

func newTagger(path, langmap string) *tagger { return &tagger{path: path, langmap: langmap} }

// lostError is a file whose tags could not be had.
type lostError struct{ reason string }

func (e *lostError) Error() string { return e.reason }

// maxAnswer bounds what ctags may say about one file.
const maxAnswer = 64 << 20

// tags returns what ctags says of the file, in lines of the form of xformat. A
// lostError concerns this file only; any other error means that ctags cannot
// be run at all.
func (t *tagger) tags(file []byte, limit time.Duration) ([]byte, error) {
	if t.proc == nil {
		proc, err := startProcess(t.path, t.langmap)
		if err != nil {
			return nil, err
		}
		t.proc = proc
	}
	answer, err := t.proc.ask(file, limit)
	if err == nil {
		return answer, nil
	}
	reason := t.proc.reason(err, limit)
	t.stop()
	return nil, &lostError{reason}
}

func (t *tagger) stop() {
	if t.proc != nil {
		t.proc.kill()
		t.proc = nil
	}
}

// process is one running `ctags --filter`: it reads a path a line and answers
// with tags and a terminator. The terminator is random, since a quoted name in a
// hostile file may hold a newline and any fixed text.
type process struct {
	cmd        *exec.Cmd
	in, out    *os.File
	lines      *bufio.Reader
	terminator []byte
	stderr     *tail
}

// startLimit bounds the start of ctags, on a busy machine too.
const startLimit = 20 * time.Second

// startProcess starts ctags and demands that it answers for an absent file: a
// ctags that cannot run must not look like a tree without names.
func startProcess(path, langmap string) (*process, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("%s must hold the absolute path of a Universal Ctags, it holds %q", EnvCtags, path)
	}
	mark := "###" + rand.Text() + "\n"
	// Go's package clauses are no definitions: every file of a package has one.
	args := []string{"--options=NONE", "--quiet=yes", "-x", "-u", xformat, "--extras=+r", "--fields=+r", "--kinds-Go=-p",
		"--filter=yes", "--filter-terminator=" + mark}
	if langmap != "" {
		args = append(args, "--langmap="+langmap)
	}
	p := &process{cmd: exec.Command(path, args...), terminator: []byte(mark), stderr: &tail{}}
	if err := p.start(); err != nil {
		return nil, fmt.Errorf("cannot run ctags: %w", err)
	}
	if _, err := p.ask([]byte("/gtagsmcp/no/such/file"), startLimit); err != nil {
		reason := p.reason(err, startLimit)
		p.kill()
		return nil, fmt.Errorf("%s does not answer: %s", path, reason)
	}
	return p, nil
}

func (p *process) start() error {
	childIn, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer childIn.Close()
	out, childOut, err := os.Pipe()
	if err != nil {
		in.Close()
		return err
	}
	defer childOut.Close()
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = childIn, childOut, p.stderr
	p.cmd.SysProcAttr = childAttr()
	p.cmd.WaitDelay = time.Second
	p.in, p.out, p.lines = in, out, bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		in.Close()
		out.Close()
		return err
	}
	limitMemory(p.cmd.Process.Pid)
	return nil
}

var errTooLong = errors.New("too many tags")

// ask sends one request and reads its answer, without the terminator.
func (p *process) ask(file []byte, limit time.Duration) ([]byte, error) {
	deadline := time.Now().Add(limit)
	if err := errors.Join(p.in.SetWriteDeadline(deadline), p.out.SetReadDeadline(deadline)); err != nil {
		return nil, err
	}
	if _, err := p.in.Write(append(bytes.Clone(file), '\n')); err != nil {
		return nil, err
	}
	var answer []byte
	for {
		piece, err := p.lines.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
		if answer = append(answer, piece...); len(answer) > maxAnswer {
			return nil, errTooLong
		}
		// The line before may have been a name's first half, so the end counts.
		if bytes.HasSuffix(answer, p.terminator) {
			return answer[:len(answer)-len(p.terminator)], nil
		}
	}
}

// reason says why ask failed, as far as the process tells.
func (p *process) reason(err error, limit time.Duration) string {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Sprintf("ctags took longer than %v", limit)
	case errors.Is(err, errTooLong):
		return fmt.Sprintf("ctags says more than %d MB", maxAnswer>>20)
	case errors.Is(err, io.EOF), errors.Is(err, syscall.EPIPE):
		p.kill()
		said := strings.TrimSpace(p.stderr.buf.String())
		return strings.TrimSuffix(fmt.Sprintf("ctags ended (%v): %s", p.cmd.ProcessState, said), ": ")
	}
	return fmt.Sprintf("ctags: %v", err)
}

// kill ends ctags. It is not in a process group of its own but in that of gtags,
// whose parent kills the whole group; it has no children. A ctags that crashed
// keeps the status of the crash.
func (p *process) kill() {
	if p.cmd.ProcessState != nil {
		return
	}
	p.in.Close()
	p.cmd.Process.Kill() //nolint:errcheck // it may have ended meanwhile
	p.cmd.Wait()         //nolint:errcheck // its state is read from ProcessState
	p.out.Close()
}

// tail keeps the first bytes of what ctags complains about. It does not embed the
// buffer, whose ReadFrom would go round the limit.
type tail struct{ buf bytes.Buffer }

func (t *tail) Write(b []byte) (int, error) {
	if room := 4096 - t.buf.Len(); room > 0 {
		t.buf.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}
