package golang

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
)

// maxRequest is the longest question that is read, in bytes: the paths of a very
// large tree.
const maxRequest = 64 << 20

// Serve answers the questions of a Tool until in ends. The environment of the
// process must be the one that the Tool gives it.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines := make(chan []byte)
	failed := make(chan error, 1)
	go func() {
		// Reading on while a question is answered notices the end of the server.
		r := bufio.NewReaderSize(in, 64<<10)
		for {
			line, err := readLine(r, maxRequest)
			if err != nil {
				failed <- err
				return
			}
			lines <- line
		}
	}()
	answers := make(chan response)
	var p program
	for {
		select {
		case line := <-lines:
			go func() { answers <- p.reply(ctx, line) }()
			select {
			case a := <-answers:
				b, err := json.Marshal(a)
				if err != nil {
					return err
				}
				if _, err := out.Write(append(b, '\n')); err != nil {
					return err
				}
			case err := <-failed:
				return ignoreEOF(err)
			}
		case err := <-failed:
			return ignoreEOF(err)
		}
	}
}

func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// reply answers one line. A panic, which only the type checker could cause, is
// this question's error.
func (p *program) reply(ctx context.Context, line []byte) (a response) {
	defer func() {
		if v := recover(); v != nil {
			*p = program{}
			a = response{Error: fmt.Sprintf("the type checker broke down: %v\n%s", v, debug.Stack())}
		}
	}()
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		return response{Error: err.Error()}
	}
	if err := p.load(ctx, &r); err != nil {
		return response{Error: err.Error()}
	}
	return response{Resolution: p.resolve(r.Query)}
}
