package bundle

import (
	"bytes"
	"debug/macho"
	"encoding/binary"
	"fmt"
	"io/fs"
)

// pageShift is the alignment of a program in a universal file, as a power of
// two: the 16 KiB pages of Apple's processors, which suit Intel's too.
const pageShift = 14

// universal joins the two programs for macOS into one file, of which the kernel
// runs the part for its processor. Its format is a big-endian table of contents
// (magic, count; then processor, variant, offset, size and alignment of each
// program) and the programs as they are, each with its own signature:
// mach-o/fat.h.
func universal(binaries fs.FS) ([]byte, error) {
	var parts [][]byte
	header := []uint32{macho.MagicFat, 2}
	offset := uint32(1 << pageShift)
	for _, darwin := range []struct {
		arch string
		cpu  macho.Cpu
	}{{"amd64", macho.CpuAmd64}, {"arm64", macho.CpuArm64}} {
		file := name + "-darwin-" + darwin.arch
		content, err := fs.ReadFile(binaries, file)
		if err != nil {
			return nil, err
		}
		program, err := macho.NewFile(bytes.NewReader(content))
		if err != nil {
			return nil, fmt.Errorf("%s is no macOS program: %w", file, err)
		}
		if program.Cpu != darwin.cpu {
			return nil, fmt.Errorf("%s is for %v, not %v", file, program.Cpu, darwin.cpu)
		}
		size := uint32(len(content))
		header = append(header, uint32(program.Cpu), program.SubCpu, offset, size, pageShift)
		parts = append(parts, content)
		offset = aligned(offset + size)
	}
	var out bytes.Buffer
	if err := binary.Write(&out, binary.BigEndian, header); err != nil {
		return nil, err
	}
	for _, part := range parts {
		out.Write(make([]byte, int(aligned(uint32(out.Len())))-out.Len()))
		out.Write(part)
	}
	return out.Bytes(), nil
}

func aligned(offset uint32) uint32 {
	const page = 1 << pageShift
	return (offset + page - 1) / page * page
}
