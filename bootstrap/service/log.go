package service

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync"
)

const (
	logName = "server.log"
	// startLogName has the last words of a server that could not open its log.
	startLogName = "start.log"
	// maxLog is the size at which a log is put aside; keptLogs are kept.
	maxLog   = 5 << 20
	keptLogs = 3
)

// Log is a file that begins anew when it is large: server.log, with
// server.log.1 and so on before it. It is safe for concurrent use.
type Log struct {
	path string
	max  int64

	mu   sync.Mutex
	file *os.File
	size int64
}

// OpenLog opens the log in dir for more. A crash of this process writes its
// stacks there too.
func OpenLog(dir string) (*Log, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	l := &Log{path: filepath.Join(dir, logName), max: maxLog}
	return l, l.open()
}

func (l *Log) open() error {
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.file, l.size = f, info.Size()
	return debug.SetCrashOutput(f, debug.CrashOptions{})
}

func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > 0 && l.size+int64(len(b)) > l.max {
		if err := l.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := l.file.Write(b)
	l.size += int64(n)
	return n, err
}

// rotate puts the log aside and begins a new one. When that fails the old one
// goes on: messages are worth more than disk space.
func (l *Log) rotate() error {
	for i := keptLogs - 1; i >= 1; i-- {
		err := os.Rename(l.aside(i), l.aside(i+1))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	if err := os.Rename(l.path, l.aside(1)); err != nil {
		return nil
	}
	old := l.file
	if err := l.open(); err != nil {
		return fmt.Errorf("no new log: %w", err)
	}
	return old.Close()
}

func (l *Log) aside(i int) string { return l.path + "." + strconv.Itoa(i) }

// Close ends the log.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(debug.SetCrashOutput(nil, debug.CrashOptions{}), l.file.Close())
}
