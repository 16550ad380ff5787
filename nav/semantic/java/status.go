package java

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Status is what runs at the moment; the zero value when nothing does.
type Status struct {
	JDK       string `json:"jdk"`       // version, such as "17.0.9"
	Home      string `json:"home"`      // where that JDK lies
	PID       int    `json:"pid"`       // of the helper, which is also its process group
	RSS       int64  `json:"rss"`       // resident memory of the helper in bytes; 0 where the system does not tell
	HeapLimit int64  `json:"heapLimit"` // the most that its heap can grow to, in bytes
}

// Status reports on the helper without starting it.
func (f *FrontEnd) Status() Status {
	f.mu.Lock()
	s := f.status
	f.mu.Unlock()
	if s.PID != 0 {
		s.RSS = residentBytes(s.PID)
	}
	return s
}

// residentBytes reads VmRSS, which Linux gives in KiB.
func residentBytes(pid int) int64 {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "VmRSS:"); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n << 10
		}
	}
	return 0
}
