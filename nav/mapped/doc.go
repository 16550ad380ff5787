// Package mapped maps files into memory for reading. Open a file with Flags, hand
// it over with what opening it returned, and unmap the bytes when nothing refers to
// them any more:
//
//	data, err := mapped.Random(os.OpenFile(path, mapped.Flags, 0))
//	defer mapped.Unmap(data)
package mapped
