package service

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const pidName = "pid"

// record is what a running server says of itself in the file pid.
type record struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"` // homes may be shared between machines
	URL   string    `json:"url"`  // empty until it takes connections
	Since time.Time `json:"since"`
}

// Held is the right to be the one background server of a user. It is a lock that
// the kernel takes back however its holder ends, and of which it tells the
// holder's process number. A number that only stands in a file tells nothing: it
// may be another process's by now.
type Held struct {
	file *os.File
	record
}

// RunningError says that another server holds the lock.
type RunningError struct {
	PID  int
	Host string
}

func (e *RunningError) Error() string {
	return fmt.Sprintf("the background server runs already: process %d on %s", e.PID, e.Host)
}

// Hold takes the lock for this process, or says who has it. The lock is not
// passed on to child processes.
func Hold(dir string) (*Held, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, pidName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	locked, err := lock(f)
	if err == nil && !locked {
		r := readRecord(f)
		err = &RunningError{r.PID, r.Host}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	host, _ := os.Hostname()
	h := &Held{f, record{PID: os.Getpid(), Host: host, Since: time.Now()}}
	return h, h.write()
}

// Ready records that the server takes connections at url.
func (h *Held) Ready(url string) error {
	h.URL = url
	return h.write()
}

// Release gives the lock back. The file stays, because another process may be
// about to lock it.
func (h *Held) Release() error {
	return errors.Join(h.file.Truncate(0), h.file.Close())
}

func (h *Held) write() error {
	text, err := json.Marshal(h.record)
	if err != nil {
		return err
	}
	// Padded, so that a reader never sees the end of an older, longer record.
	_, err = h.file.WriteAt(fmt.Appendf(nil, "%-1000s\n", text), 0)
	return err
}

// lock takes the whole file for this process. It is a lock of fcntl(2): child
// processes do not inherit it, and to ask who has it does not take it.
func lock(f *os.File) (bool, error) {
	err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s cannot be locked: %w; set XDG_STATE_HOME to a folder on a local disk", f.Name(), err)
	}
	return true, nil
}

func readRecord(f *os.File) record {
	var r record
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 4096))
	if err != nil || json.Unmarshal(text, &r) != nil {
		return record{}
	}
	return r
}

// holder returns the record of the process that holds the lock, nil if none does.
// Its PID is what the kernel says, 0 for a process that cannot be seen from here.
func holder(dir string) (*record, error) {
	f, err := os.Open(filepath.Join(dir, pidName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	who := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &who); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	if who.Type == unix.F_UNLCK {
		return nil, nil
	}
	r := readRecord(f)
	r.PID = int(who.Pid)
	return &r, nil
}

// Serving returns where the server of the state folder takes connections: ""
// while it starts and when there is none.
func Serving(dir string) (url string, err error) {
	r, err := holder(dir)
	if err != nil || r == nil {
		return "", err
	}
	return r.URL, nil
}
