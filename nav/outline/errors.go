package outline

import (
	"errors"
	"fmt"
)

// CorruptError says that a store is not what Build wrote: damaged, cut short,
// of another version, or changed while it was read. Building it again helps.
type CorruptError struct {
	Path   string // of the store
	Offset int64  // in it, of the part at fault
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s is corrupt at offset %d: %s", e.Path, e.Offset, e.Reason)
}

var (
	errChecksum  = errors.New("checksum mismatch")
	errMalformed = errors.New("malformed although the checksum is right")
)
