package ctags

import (
	"fmt"
	"os"
	"regexp"
	"testing"
)

func TestMemoryLimit(t *testing.T) {
	s := newService(t, Options{Memory: 500 << 20})
	if _, err := s.Tags(t.Context(), "a.c", []byte("int x;")); err != nil {
		t.Fatal(err)
	}
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", s.idle[0].cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`Max address space +524288000 +524288000 `).Match(limits) {
		t.Errorf("got\n%s", limits)
	}
}
