//go:build !unix

package java

import (
	"os"
	"os/exec"
)

const rootDir = ""

func ownGroup(*exec.Cmd) {}

func killGroup(p *os.Process) { p.Kill() }
