package ctagscom

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// lexing is the work on one file; done is closed when it is over.
type lexing struct {
	path string
	done chan struct{}
	refs []reference
	err  error
}

// lexerPool lexes the files that gtags asks for, and on all cores ahead of the
// requests those that it will ask for, if it was told their list: gtags asks
// strictly for one file after the other, in the order of its list.
type lexerPool struct {
	languages languages
	patience  atomic.Int64 // nanoseconds left for files that take too long
	position  map[string]int
	ahead     chan *lexing // in the order of the list
	taken     int          // received from ahead
	cancel    context.CancelFunc
}

func newLexerPool(langmap string, patience time.Duration) *lexerPool {
	p := &lexerPool{languages: parseLangmap(langmap), cancel: func() {}}
	p.patience.Store(int64(patience))
	return p
}

// aheadOf bounds the files whose references wait for their request.
const aheadOf = 256

// readList starts lexing the files of the list, one path a line, as gtags -f
// takes it.
func (p *lexerPool) readList(file string) error {
	list, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("%s: %w", EnvFiles, err)
	}
	var paths []string
	p.position = make(map[string]int)
	for line := range strings.Lines(string(list)) {
		file := path.Clean(strings.TrimSuffix(line, "\n"))
		if _, listed := p.position[file]; !listed && p.languages.of(file) != "" {
			p.position[file] = len(paths)
			paths = append(paths, file)
		}
	}
	p.ahead = make(chan *lexing, aheadOf)
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	go p.run(ctx, paths)
	return nil
}

// run keeps all cores at work as far as ahead has room.
func (p *lexerPool) run(ctx context.Context, paths []string) {
	defer close(p.ahead)
	idle := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, path := range paths {
		l := &lexing{path: path, done: make(chan struct{})}
		select {
		case <-ctx.Done():
			return
		case p.ahead <- l:
		}
		idle <- struct{}{}
		go func() {
			p.lex(l)
			<-idle
		}()
	}
}

// start returns the work on the file: what was begun ahead, or, for a file that is
// not next in the list, its own. Files of the list before it were passed over.
func (p *lexerPool) start(file string) *lexing {
	file = path.Clean(file)
	if at, ok := p.position[file]; ok && at >= p.taken {
		for l := range p.ahead {
			p.taken++
			if l.path == file {
				return l
			}
		}
	}
	l := &lexing{path: file, done: make(chan struct{})}
	go p.lex(l)
	return l
}

func (p *lexerPool) lex(l *lexing) {
	defer close(l.done)
	limit := 2 * limit(time.Duration(p.patience.Load())) // maxLexed bytes take a lexer some 6 s
	l.refs, l.err = readReferences(l.path, p.languages.of(l.path), limit)
	var slow *slowError
	if errors.As(l.err, &slow) {
		p.patience.Add(-int64(limit))
	}
}

func (p *lexerPool) stop() { p.cancel() }
