package semantic

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// task is something that takes longer than a call may wait. It goes on when the
// call gives up, and ends with the Engine.
type task[T any] struct {
	began    time.Time
	cancel   context.CancelFunc
	finished chan struct{}
	value    T // after finished, like err
	err      error
}

// longest bounds the tasks that have no limit of their own.
const longest = time.Hour

// start begins a task in the background, for no longer than limit.
func start[T any](e *Engine, limit time.Duration, work func(context.Context) (T, error)) *task[T] {
	ctx, cancel := context.WithTimeout(e.ctx, limit)
	t := &task[T]{began: time.Now(), cancel: cancel, finished: make(chan struct{})}
	e.running.Go(func() {
		defer close(t.finished)
		defer cancel()
		t.err = guarded(func() (err error) {
			t.value, err = work(ctx)
			return err
		})
		e.logPanic(t.err)
	})
	return t
}

// wait returns the outcome, or busy's error when the task takes too long.
func (t *task[T]) wait(ctx context.Context, limit time.Duration, busy func(elapsed time.Duration) *BusyError) (T, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var none T
	select {
	case <-t.finished:
		return t.value, t.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	case <-timer.C:
		return none, busy(time.Since(t.began))
	}
}

// guarded runs f. A panic, which in the background would end the server, becomes
// an error.
func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{p, debug.Stack()}
		}
	}()
	return f()
}

// logPanic writes down where a panic came from, which no answer shows.
func (e *Engine) logPanic(err error) {
	if p := new(PanicError); errors.As(err, &p) {
		e.opts.Log.Error("panic in the background of find_code", "panic", p.Value, "stack", string(p.Stack))
	}
}

// PanicError is a fault of a parser or a front end.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("internal error: %v", e.Value) }
