package index

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// remote are the file systems on which changes made elsewhere cause no
// notifications here.
var remote = map[int64]string{
	0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB2", 0x65735546: "FUSE",
	0x01021997: "9P", 0x00c36400: "Ceph", 0x5346414f: "AFS", 0x0bd00bd0: "Lustre", 0x47504653: "GPFS",
}

// canWatch returns an error when notifications below root would be incomplete.
func canWatch(root string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(root, &st); err != nil {
		return err
	}
	if name := remote[int64(uint32(st.Type))]; name != "" {
		return fmt.Errorf("%s is on %s, which does not tell of changes made elsewhere", root, name)
	}
	return nil
}
