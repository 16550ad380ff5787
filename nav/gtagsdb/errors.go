package gtagsdb

import "fmt"

// CorruptError says that a file cannot be what gtags wrote: damaged, cut short,
// half written, or changed while it was read. Building the index again helps.
type CorruptError struct {
	Path   string // of the database file
	Offset int64  // in the file, of the page or record at fault
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s is corrupt at offset %d: %s", e.Path, e.Offset, e.Reason)
}

// FormatError says that a file is in a format this package does not read, such
// as SQLite or another version. It may be whole; an index by another gtags helps.
type FormatError struct {
	Path   string
	Offset int64
	Reason string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s has an unsupported format at offset %d: %s", e.Path, e.Offset, e.Reason)
}
