package bundle

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	_ "embed" // launch.sh
	"fmt"
	"io"
	"io/fs"
	"time"
)

//go:embed launch.sh
var launcher []byte

const launcherPath = "server/launch.sh"

// epoch is the time of every file in the archive: the earliest that zip knows.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

type member struct {
	name    string
	mode    fs.FileMode
	content []byte
}

// WriteBundle writes the bundle of a release. The folder binaries holds the four
// release binaries as gtagsmcp-OS-ARCH (linux and darwin, amd64 and arm64);
// a file that is for another machine than its name says is an error. license is
// the text of LICENSE.
func (r Release) WriteBundle(w io.Writer, binaries fs.FS, license []byte) error {
	members, err := r.members(binaries, license)
	if err != nil {
		return err
	}
	archive := zip.NewWriter(w)
	for _, m := range members {
		header := &zip.FileHeader{Name: m.name, Method: zip.Deflate, Modified: epoch}
		header.SetMode(m.mode)
		file, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := file.Write(m.content); err != nil {
			return err
		}
	}
	return archive.Close()
}

// members are the files of the bundle in the order of its archive.
func (r Release) members(binaries fs.FS, license []byte) ([]member, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	text, err := indented(r.manifest())
	if err != nil {
		return nil, err
	}
	darwin, err := universal(binaries)
	if err != nil {
		return nil, err
	}
	members := []member{
		{"manifest.json", 0o644, text},
		{"LICENSE", 0o644, license},
		{launcherPath, 0o755, launcher},
		{"server/" + name + "-darwin", 0o755, darwin},
	}
	for _, linux := range []struct {
		arch    string
		machine elf.Machine
	}{{"amd64", elf.EM_X86_64}, {"arm64", elf.EM_AARCH64}} {
		file := name + "-linux-" + linux.arch
		content, err := linuxProgram(binaries, file, linux.machine)
		if err != nil {
			return nil, err
		}
		members = append(members, member{"server/" + file, 0o755, content})
	}
	return members, nil
}

// linuxProgram reads a program and makes sure that it runs on the machine.
func linuxProgram(binaries fs.FS, file string, machine elf.Machine) ([]byte, error) {
	content, err := fs.ReadFile(binaries, file)
	if err != nil {
		return nil, err
	}
	program, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("%s is no Linux program: %w", file, err)
	}
	if program.Machine != machine {
		return nil, fmt.Errorf("%s is for %v, not %v", file, program.Machine, machine)
	}
	return content, nil
}
