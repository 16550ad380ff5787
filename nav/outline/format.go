package outline

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// The store of one layer is the file "outline". Integers are little endian,
// uvarint and varint those of encoding/binary, every checksum CRC-32C.
//
//	header      128 bytes, see below
//	records     one for each file, in any order
//	names       blocks of names in byte order, with their postings
//	name index  u64 for each block: its offset in the file; then a checksum
//	files       the paths in byte order, which number the files from 0, then the
//	            families of minted names; then a checksum
//
// The header holds
//
//	 0  20 bytes  "gtags-mcp outline 2\n"; 2 is the version of this format and of
//	              what csource and macro see: it grows when they see more
//	20  u32       number of files
//	24  u32       number of families
//	28  u32       number of name blocks
//	32  u64       offset of names
//	40  u64       offset of the name index
//	48  u64       offset of files
//	56  u64       size of the whole file
//	64  u64       number of names
//	72  u64       number of postings
//	80  44 bytes  zero
//	124 u32       checksum of the bytes before
//
// A file's entry is
//
//	uvarint  bytes of the path shared with the one before
//	uvarint  length of the rest, and the rest
//	uvarint  size of its record, 0 if the file could not be read
//	uvarint  offset of its record, if there is one
//
// and a family, of names that macro invocations are about, is its label and its
// role, each a uvarint length and the bytes, its rank, a varint, and a byte that
// is 1 if its names are weak.
//
// # Records
//
//	u32  checksum of the head, which is the rest down to the blocks
//	u32  number of symbols
//	u32  number of lines
//	u32  size of the guards
//	u32  size of the steps
//	     for each block of up to 64 symbols:
//	u32  where it ends, counted from the beginning of the first one
//	u32  the line on which its first symbol starts
//	u32  1 + the index of the innermost enclosing symbol before the block whose
//	     last line is not above that line; 0 for none
//
// Then follow the blocks, the guards and the steps, each headed by a u32 checksum
// which their sizes include. symbols.go, guards.go and steps.go describe them.
//
// # Names
//
// A block holds up to 32 names and at least one. It begins with the uvarint size
// of its body and the u32 checksum of the body. A name is
//
//	uvarint  bytes shared with the name before in the block
//	uvarint  length of the rest, and the rest
//	uvarint  size of its postings, and the postings
//
// and a posting, one for each definition, by file and index of the symbol,
//
//	uvarint  file, minus the file of the posting before
//	uvarint  32 * symbol + 2 * kind + 1 if the name is minted, where symbol is
//	         the index of the symbol in its file, minus that of the posting
//	         before if the file is the same, and kind the symbol's csource.Kind
//	uvarint  the number of the family, counted from 0, if minted
//
// Linux 6.1 (56,759 files, 7.3 million definitions of 4.2 million names) takes
// 272 MB: 185 of records and 85 of names.
const (
	storeName  = "outline"
	magic      = "gtags-mcp outline 2\n"
	headerSize = 128

	blockSymbols = 64 // a symbol costs the decoding of 32 others on average
	blockNames   = 32
	// blockBytes ends a block of names early, so that the neighbours of a name
	// with many postings do not pay for it.
	blockBytes = 2048
)

var le = binary.LittleEndian

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// header is the fixed part at the beginning of the file.
type header struct {
	files, families, blocks   uint32
	names, index, paths, size uint64 // offsets, and the end of the file
	nameCount, postings       uint64
}

func (h *header) encode() []byte {
	b := make([]byte, 0, headerSize)
	b = append(b, magic...)
	for _, v := range []uint32{h.files, h.families, h.blocks} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	for _, v := range []uint64{h.names, h.index, h.paths, h.size, h.nameCount, h.postings} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	b = b[:headerSize-4]
	return binary.LittleEndian.AppendUint32(b, checksum(b))
}

// decodeHeader checks everything that later reads rely on.
func decodeHeader(b []byte) (h header, err error) {
	if len(b) < headerSize {
		return h, fmt.Errorf("%d bytes are too short for a header", len(b))
	}
	b, size := b[:headerSize], uint64(len(b))
	if !bytes.HasPrefix(b, []byte(magic)) {
		return h, fmt.Errorf("not an outline store of this version: it begins with %.20q", b)
	}
	if le.Uint32(b[headerSize-4:]) != checksum(b[:headerSize-4]) {
		return h, errChecksum
	}
	h.files, h.families, h.blocks = le.Uint32(b[20:]), le.Uint32(b[24:]), le.Uint32(b[28:])
	h.names, h.index, h.paths, h.size = le.Uint64(b[32:]), le.Uint64(b[40:]), le.Uint64(b[48:]), le.Uint64(b[56:])
	h.nameCount, h.postings = le.Uint64(b[64:]), le.Uint64(b[72:])
	if h.size != size {
		return h, fmt.Errorf("%d bytes long, but %d were written", size, h.size)
	}
	if h.names < headerSize || h.index < h.names || h.paths < h.index || h.size < h.paths ||
		h.paths-h.index != 8*uint64(h.blocks)+4 || h.size-h.paths < 4 {
		return h, fmt.Errorf("sections at %d, %d and %d do not fit", h.names, h.index, h.paths)
	}
	return h, nil
}
