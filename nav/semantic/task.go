package semantic

import (
	"context"
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
		t.value, t.err = work(ctx)
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
