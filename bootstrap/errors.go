package bootstrap

import (
	"fmt"
	"strings"
	"time"

	"github.com/gtagsmcp/gtagsmcp/toolchain"
)

// NotReadyError says that the toolchain is being installed.
type NotReadyError struct {
	Step    string
	Elapsed time.Duration
	Retry   time.Duration
}

func (e *NotReadyError) Error() string {
	return fmt.Sprintf("The toolchain (GNU Global, Universal Ctags) is being installed (%ds elapsed); current step: %s; retry in ~%d s",
		int(e.Elapsed.Seconds()), e.Step, int(e.Retry.Seconds()))
}

// DisabledError says that the toolchain is missing and must not be installed.
type DisabledError struct{ Report toolchain.Report }

func (e *DisabledError) Error() string {
	return "GNU Global is not installed and automatic setup is off. Type: gtagsmcp setup" + details(e.Report)
}

// FailedError says on which rungs the install failed, and when asking again
// tries again.
type FailedError struct {
	Report toolchain.Report
	Err    error
	Retry  time.Duration
}

func (e *FailedError) Error() string {
	return fmt.Sprintf("GNU Global is missing: %v\nAsking again in %d s or later tries again", e.Err, int(e.Retry.Seconds()))
}

func (e *FailedError) Unwrap() error { return e.Err }

func details(r toolchain.Report) string {
	var b strings.Builder
	for _, rung := range r.Rungs {
		if !rung.OK {
			fmt.Fprintf(&b, "\n  %s: %s", rung.Rung, rung.Detail)
		}
	}
	if r.Hint != "" {
		b.WriteString("\n" + r.Hint)
	}
	return b.String()
}
