package java

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// maxAnswer bounds one line of the helper's, in bytes.
const maxAnswer = 256 << 20

// process is one running helper. It serves one caller at a time.
type process struct {
	cmd     *exec.Cmd
	jdk     jdk
	stdin   io.WriteCloser
	stdout  *bufio.Reader
	stderr  *tail
	served  int
	modules []string // of the JDK
	kill    func()   // ends the whole process group, once
}

// jvmFlags bound what the process takes and leaves behind: one thread of garbage
// collection that gives memory back, an end instead of a struggle when the heap is
// full, no files in the temporary folder or the working directory.
func jvmFlags(heapMiB int) []string {
	return []string{
		fmt.Sprintf("-Xmx%dm", heapMiB), fmt.Sprintf("-Xms%dm", min(32, heapMiB)), "-XX:MaxMetaspaceSize=160m", "-XX:ReservedCodeCacheSize=96m",
		"-XX:+UseSerialGC", "-XX:MinHeapFreeRatio=10", "-XX:MaxHeapFreeRatio=30", "-XX:TieredStopAtLevel=1",
		"-XX:+ExitOnOutOfMemoryError", "-XX:-UsePerfData", "-XX:+DisableAttachMechanism",
		"-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=/dev/null",
		"-Djava.awt.headless=true", "-Duser.language=en", "-Duser.country=US", "-Dfile.encoding=UTF-8",
	}
}

// start runs the compiled helper and reads its greeting.
func start(ctx context.Context, j jdk, classes string, heapMiB int) (*process, error) {
	args := append(jvmFlags(heapMiB), "-cp", classes, mainClass)
	cmd := exec.Command(filepath.Join(j.home, "bin", program("java")), args...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = environment(), rootDir, time.Second
	ownGroup(cmd)
	p := &process{cmd: cmd, jdk: j, stderr: &tail{keep: 2 << 10}}
	cmd.Stderr = p.stderr
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
	p.stdin, p.stdout = stdin, bufio.NewReaderSize(stdout, 64<<10)
	p.kill = sync.OnceFunc(func() { killGroup(cmd.Process) })
	var hello struct {
		Hello   string
		Modules []string
	}
	if err := p.within(ctx, startTime, func() error { return p.read(&hello) }); err != nil || hello.Hello == "" {
		p.end()
		return nil, fmt.Errorf("the helper at %s does not start: %w%s", j.home, err, p.stderr.suffix())
	}
	p.modules = hello.Modules
	return p, nil
}

// sourceFile is one file of a request.
type sourceFile struct {
	Path string `json:"path"`
	Size int    `json:"size"`
}

// ask sends a request with its files and reads the answer. After an error the
// process is of no more use: the caller ends it.
func (p *process) ask(ctx context.Context, limit time.Duration, request any, contents [][]byte, answer any) error {
	line, err := json.Marshal(request)
	if err != nil {
		return err
	}
	p.served++
	return p.within(ctx, limit, func() error {
		for _, b := range append([][]byte{append(line, '\n')}, contents...) {
			if _, err := p.stdin.Write(b); err != nil {
				return err
			}
		}
		return p.read(answer)
	})
}

func (p *process) read(answer any) error {
	var line []byte
	for {
		part, err := p.stdout.ReadSlice('\n')
		line = append(line, part...)
		if err == nil {
			return json.Unmarshal(line, answer)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if len(line) > maxAnswer {
			return fmt.Errorf("an answer of more than %d MiB", maxAnswer>>20)
		}
	}
}

// within runs the exchange and kills the process when it takes too long or the
// context ends, which makes the exchange fail.
func (p *process) within(ctx context.Context, limit time.Duration, exchange func() error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	stop := context.AfterFunc(ctx, p.kill)
	err := exchange()
	if !stop() {
		return context.Cause(ctx)
	}
	return err
}

// end kills the process group and waits for the process.
func (p *process) end() {
	p.kill()
	p.stdin.Close()
	p.cmd.Wait() // its status says that it was killed, which is no news
}

// tail keeps the last bytes written to it.
type tail struct {
	keep int
	mu   sync.Mutex
	buf  []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if drop := len(t.buf) - t.keep; drop > 0 {
		t.buf = append(t.buf[:0], t.buf[drop:]...)
	}
	return len(b), nil
}

func (t *tail) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.buf)
}

// suffix is the first line of what was kept, to end a message with.
func (t *tail) suffix() string {
	first, _, _ := strings.Cut(string(bytes.TrimSpace(t.bytes())), "\n")
	if first == "" {
		return ""
	}
	return "; it says: " + first
}
