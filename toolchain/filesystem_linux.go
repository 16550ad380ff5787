package toolchain

import "golang.org/x/sys/unix"

// mountedNoexec says whether path lies on a file system that refuses to execute.
func mountedNoexec(path string) bool {
	var st unix.Statfs_t
	return unix.Statfs(path, &st) == nil && st.Flags&unix.ST_NOEXEC != 0
}
