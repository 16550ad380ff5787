package toolchain

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

// installState is <home>/install.json: how far the running install is, for the
// processes that wait for it, and how the last one ended.
type installState struct {
	PID      int       `json:"pid"`
	Started  time.Time `json:"started"`
	Step     Step      `json:"step"`
	Finished time.Time `json:"finished,omitzero"`
	Failed   *Report   `json:"failed,omitempty"`
}

func stateFile(home string) string { return filepath.Join(home, "install.json") }

// readState returns the zero state when there is none that can be read.
func readState(home string) (s installState) {
	if data, err := os.ReadFile(stateFile(home)); err == nil && json.Unmarshal(data, &s) != nil {
		return installState{}
	}
	return s
}

// failedSince returns the report of an install that ended in failure after t:
// trying the same thing again at once would fail the same way.
func (s installState) failedSince(t time.Time) *Report {
	if s.Finished.After(t) {
		return s.Failed
	}
	return nil
}

// write keeps an install going on a full disk: the state is a courtesy.
func (s *installState) write(home string, log *slog.Logger) {
	data, err := json.Marshal(s)
	if err == nil {
		err = writeFile(stateFile(home), data)
	}
	if err != nil {
		log.Debug("install state is not kept", "error", err)
	}
}

// recording passes steps on and keeps the last one for other processes.
func (s *installState) recording(c Config, progress func(Step)) func(Step) {
	return func(step Step) {
		s.Step = step
		s.write(c.Home, c.Log)
		progress(step)
	}
}

// Progress returns the step of the install that is running in any process, and
// when that install started; ok is false when none is running.
func Progress(home string) (step Step, started time.Time, ok bool) {
	s := readState(home)
	if s.PID == 0 || !s.Finished.IsZero() || !locked(home) {
		return Step{}, time.Time{}, false
	}
	return s.Step, s.Started, true
}
