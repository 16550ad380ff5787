package semantic

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ResidentBytes is how much memory a process has at the moment; 0 where the
// system does not tell.
func ResidentBytes(pid int) int64 {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "VmRSS:"); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n << 10 // Linux gives KiB
		}
	}
	return 0
}
