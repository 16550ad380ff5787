//go:build unix

package ctags

import (
	"os"
	"os/exec"
	"syscall"
)

// rootDir is where ctags runs. It reads no file there; a folder that cannot go
// away beats the one that the server happens to run in.
const rootDir = "/"

// ownGroup makes the process the head of its own group, so that a signal meant
// for the server's terminal does not reach it and killGroup leaves no child.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(p *os.Process) { syscall.Kill(-p.Pid, syscall.SIGKILL) }
