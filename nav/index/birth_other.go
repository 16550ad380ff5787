//go:build unix && !linux

package index

// birth is a time in ns at which a run of gtags that ended at mtime had most
// likely begun.
func birth(path string, mtime int64) int64 {
	const longRun = 60e9
	return mtime - longRun
}
