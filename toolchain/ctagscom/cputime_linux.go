package ctagscom

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the processor time of the calling thread: what a file costs does not
// depend on how busy the machine is.
func cpuTime() time.Duration {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &usage); err != nil {
		return time.Duration(time.Now().UnixNano())
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
