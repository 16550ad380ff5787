//go:build !linux

package ctags

// limitMemory does nothing: there is no way to limit a running process here. The
// size cap and the time limit still bound what a file can cost.
func limitMemory(int, uint64) error { return nil }
