// Package unpack extracts archives whose content is not trusted.
//
// Unpack is all of it. It makes a new folder, confines every operation to it by
// os.Root, and removes it again if anything in the archive is not what a
// well-meant archive holds: what is refused is refused as a whole and named,
// since half an archive helps nobody. Refused are
//
//   - names that are absolute, climb with "..", or that some system reserves,
//     folds together or can not store;
//   - an entry twice, and an entry below a file or a link;
//   - everything that is not a file, a folder or a link, and set-id bits;
//   - links that leave the folder, dangle, or lead through other links;
//   - more bytes, entries, folders in folders or expansion than Limits allow.
//
// Files come out with mode 0755 or 0644 and folders with 0755, and all of them
// have reached the disk when Unpack returns (but see Limits.NoSync).
package unpack
