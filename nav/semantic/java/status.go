package java

import "github.com/gtagsmcp/gtagsmcp/nav/semantic"

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
		s.RSS = semantic.ResidentBytes(s.PID)
	}
	return s
}
