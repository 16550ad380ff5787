package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gtagsmcp/gtagsmcp/bootstrap/runner"
)

// commandLimit bounds one run of a service manager's program, which may wait for
// the service to end.
const commandLimit = 40 * time.Second

// command runs a program and returns what it says, at most the last 4 KB. A
// failure carries that too.
func command(ctx context.Context, env []string, name string, args ...string) (string, error) {
	text, err := runner.Limits{Time: commandLimit, Keep: 4 << 10}.Run(ctx, env, name, args...)
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %s", name, args[0], err, text)
	}
	return text, err
}

// publish writes a whole file by rename. Only its owner may read it: what is in
// the environment may be secret.
func publish(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
