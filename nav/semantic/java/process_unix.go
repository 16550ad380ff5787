//go:build unix

package java

import (
	"os"
	"os/exec"
	"syscall"
)

// rootDir is where the JVM runs: a folder that cannot go away, and not one of the
// project's.
const rootDir = "/"

// ownGroup keeps signals for the server's terminal from the process and lets
// killGroup leave no child.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(p *os.Process) { syscall.Kill(-p.Pid, syscall.SIGKILL) }
