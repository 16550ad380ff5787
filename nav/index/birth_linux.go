package index

import "golang.org/x/sys/unix"

// birth is the time in ns at which a file was created, or mtime where the file
// system does not know. A complete run of gtags creates its files when it
// begins; what changed later may not be in them.
func birth(path string, mtime int64) int64 {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st)
	if err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return mtime
	}
	return min(mtime, st.Btime.Sec*1e9+int64(st.Btime.Nsec))
}
