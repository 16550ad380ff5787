package upgrade

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Notice remembers, in one small file of the managed folder, what is to be told
// about a newer release. Nothing it does is worth an error message: a folder
// that is not there, or cannot be written to, means no notice.
//
// A command that talks to a person calls Take and prints what it returns, and
// then, when Due says so, lets a process of its own call Look.
type Notice struct {
	Home    string           // the managed folder
	Version string           // the program's own
	Now     func() time.Time // nil: time.Now
}

// noticePause is the time between two looks, and between two notices.
const noticePause = 24 * time.Hour

type noticeState struct {
	Looked time.Time `json:"looked"` // when somebody last went to look
	Told   time.Time `json:"told"`
	Newest string    `json:"newest"`
}

// Take returns the newer release to tell of, at most once a day; else "".
func (n Notice) Take() string {
	s := n.read()
	have, ok := released(n.Version)
	newest, known := released(s.Newest)
	if !ok || !known || !newest.GreaterThan(have) || !n.passed(s.Told) {
		return ""
	}
	s.Told = n.now()
	if !n.write(s) {
		return "" // it would be told with every command
	}
	return s.Newest
}

// Due reports whether it is time to look, and counts this as the look of the
// day, so that one that fails is not repeated with every command.
func (n Notice) Due() bool {
	s := n.read()
	if _, ok := released(n.Version); !ok || !n.passed(s.Looked) {
		return false
	}
	s.Looked = n.now()
	return n.write(s)
}

// Look asks for the newest release and remembers it.
func (n Notice) Look(ctx context.Context, o Options) error {
	c, err := Check(ctx, o)
	if err != nil {
		return err
	}
	s := n.read()
	s.Looked, s.Newest = n.now(), c.Tag
	n.write(s)
	return nil
}

func (n Notice) now() time.Time {
	if n.Now != nil {
		return n.Now()
	}
	return time.Now()
}

// passed treats a time in the future, of a clock since put right, as long ago.
func (n Notice) passed(t time.Time) bool {
	since := n.now().Sub(t)
	return since < 0 || since >= noticePause
}

func (n Notice) path() string { return filepath.Join(n.Home, "upgrade.json") }

func (n Notice) read() (s noticeState) {
	f, err := os.Open(n.path())
	if err != nil {
		return s
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 4<<10))
	if err != nil || json.Unmarshal(data, &s) != nil {
		return noticeState{}
	}
	return s
}

// write replaces the file. It does not make the folder: who never installed
// anything is not told of anything.
func (n Notice) write(s noticeState) bool {
	data, err := json.Marshal(s)
	if err != nil {
		return false
	}
	f, err := os.CreateTemp(n.Home, "upgrade.json.*")
	if err != nil {
		return false
	}
	_, err = f.Write(append(data, '\n'))
	if closed := f.Close(); err == nil && closed == nil && os.Rename(f.Name(), n.path()) == nil {
		return true
	}
	os.Remove(f.Name()) //nolint:errcheck // a leftover of a few bytes
	return false
}
