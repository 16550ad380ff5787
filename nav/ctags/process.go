package ctags

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// arguments select what every answer holds. --options=NONE must come first, or
// the options files of the project and the user count. Off by default and wanted:
// prototypes and externs of C and C++, C++ names brought in by using, and lines
// that use a name rather than define it (#undef, imports). The pattern field is
// left out: it is half of the output, and the caller has the source.
var arguments = []string{
	"--options=NONE",
	"--fields=NneKzlSaptrsiE",
	"--fields-C=+{properties}",
	"--fields-C++=+{properties}",
	"--kinds-C=+px",
	"--kinds-C++=+pxAN",
	"--extras=+r",
	"--map-JavaScript=+.cjs", // left out of its own map
	"--map-TypeScript=+.tsx",
	"--map-TypeScript=+.mts",
	"--map-TypeScript=+.cts",
	"--_interactive",
}

// process is one running ctags. It serves one caller at a time.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr *tail
	served int
	rest   *time.Timer // ends a process that nobody uses

	kill func()        // ends the whole process group, once
	gone chan struct{} // closed when the process has been waited for
}

// start runs the program and reads its greeting, within the time limit.
func start(ctx context.Context, c Command, memory uint64, limit time.Duration) (*process, error) {
	cmd := exec.Command(c.Path, arguments...)
	cmd.Env = c.Env
	cmd.Dir = rootDir
	ownGroup(cmd)
	p := &process{cmd: cmd, stderr: &tail{}, gone: make(chan struct{})}
	cmd.Stderr, cmd.WaitDelay = p.stderr, time.Second
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.stdin, p.stdout = stdin, bufio.NewReaderSize(stdout, maxAnswerLine)
	p.kill = sync.OnceFunc(func() { killGroup(cmd.Process) })
	// Nothing has been sent yet, so the process has used no memory to speak of
	// by the time the limit is set.
	if err := limitMemory(cmd.Process.Pid, memory); err != nil {
		p.end()
		return nil, fmt.Errorf("limit memory: %w", err)
	}
	hello, err := within(ctx, p, limit, func() (*answer, error) { return readAnswer(p.stdout, "program") })
	if err == nil && !strings.Contains(hello.program, "Universal Ctags") {
		err = fmt.Errorf("it calls itself %q", hello.program)
	}
	if err != nil {
		p.end()
		return nil, fmt.Errorf("%w%s", err, p.stderr.suffix())
	}
	return p, nil
}

// ask sends one file and reads its tags. After an error the process is of no
// more use: the caller ends it.
func (p *process) ask(ctx context.Context, limit time.Duration, name string, content []byte) ([]Tag, error) {
	a, err := within(ctx, p, limit, func() (*answer, error) {
		a, err := p.exchange(name, content)
		if err == nil && !a.clean() {
			err = p.resync()
		}
		return a, err
	})
	p.served++
	if err != nil {
		return nil, err
	}
	return a.tags, nil
}

// exchange writes one request and reads the answer. ctags takes in the whole
// content before it writes, so that writing first and reading after cannot block
// both sides.
func (p *process) exchange(name string, content []byte) (*answer, error) {
	line, err := request(name, len(content))
	if err != nil {
		return nil, err
	}
	for _, b := range [][]byte{line, content} {
		if _, err := p.stdin.Write(b); err != nil {
			return nil, err
		}
	}
	return readAnswer(p.stdout, "completed")
}

// resync makes sure that the next answer is the answer to the next request: it
// asks for a symbol that no file has and reads on until it comes. Each completed
// line that comes before belongs to an earlier request.
func (p *process) resync() error {
	const symbol = "gtagsmcp_resync_7d1f0c36"
	a, err := p.exchange("x.c", []byte("int "+symbol+";\n"))
	for i := 0; err == nil; i++ {
		if len(a.tags) == 1 && a.tags[0].Name == symbol {
			return nil
		}
		if i == 3 {
			return errors.New("the answers do not match the requests")
		}
		a, err = readAnswer(p.stdout, "completed")
	}
	return err
}

// within runs the exchange and kills the process when it takes too long or the
// context ends, which makes the exchange fail.
func within(ctx context.Context, p *process, limit time.Duration, exchange func() (*answer, error)) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	stop := context.AfterFunc(ctx, p.kill)
	a, err := exchange()
	if !stop() {
		return nil, context.Cause(ctx)
	}
	return a, err
}

// end kills the process group and waits for the process.
func (p *process) end() {
	p.kill()
	p.stdin.Close()
	p.cmd.Wait() // its status says that it was killed, which is no news
	close(p.gone)
}

// tail keeps the last bytes written to standard error.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(b []byte) (int, error) {
	const keep = 2 << 10
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if drop := len(t.buf) - keep; drop > 0 {
		t.buf = append(t.buf[:0], t.buf[drop:]...)
	}
	return len(b), nil
}

// suffix is the last line of standard error, to end a message with.
func (t *tail) suffix() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(t.buf), []byte("\n"))
	if last := string(lines[len(lines)-1]); last != "" {
		return "; its last words: " + last
	}
	return ""
}
