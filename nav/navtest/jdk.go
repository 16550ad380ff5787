package navtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// JDK returns the folder of a JDK, fetching one first when there is none. The test
// fails when that fails.
func JDK(t testing.TB) string {
	t.Helper()
	home, err := jdk()
	if err != nil {
		t.Fatalf("JDK for the tests: %v", err)
	}
	return home
}

var jdk = sync.OnceValues(func() (string, error) {
	cmd := exec.Command(filepath.Join(Root(), ".ci", "jdk"), filepath.Join(Root(), ".cache", "jdk"))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
})
