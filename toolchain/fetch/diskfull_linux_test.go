package fetch_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch/releasetest"
)

// TestDiskFull downloads 1 MiB into a file system of 256 KiB, which a mount
// namespace of its own makes possible for any user.
func TestDiskFull(t *testing.T) {
	body := content(1 << 20)
	s := serve(t, body)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	small := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "sh", "-c",
		`mount -t tmpfs -o size=256k none "$0" && { "$@"; code=$?; echo left: $(ls "$0").; exit $code; }`, small,
		exe, "download", s.AssetURL(repo, tag, fileName), releasetest.Digest(body), fmt.Sprint(len(body)), small)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("1 MiB went into 256 KiB: %s", out)
	}
	for _, want := range []string{"disk full", fileName, small, "1048576 bytes", "no space left on device", "left: ."} {
		if !strings.Contains(string(out), want) {
			t.Errorf("message %q does not say %q", out, want)
		}
	}
}
