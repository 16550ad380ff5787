// Package gtagsdb reads the database files of GNU Global (GTAGS, GRTAGS, GPATH)
// in process, from memory-mapped pages, with no process started and no lock taken.
//
// [Open] maps one directory of three files. [NewSet] puts one or more of them
// together into one logical index; every question is asked of the [Set]:
//
//	db, err := gtagsdb.Open(dir)
//	set, err := gtagsdb.NewSet(gtagsdb.Member{DB: db})
//	sites, err := set.Definitions("tcp_v4_rcv")
//
// # What is promised
//
// Answers are those of `global` on one database of the same files, in the same
// order, with the exceptions that the tests name.
//
// No mapped byte leaves the package: every string and slice returned is on the
// heap and stays valid after [DB.Close]. Close waits for running calls; a call
// made afterwards fails with an error that wraps [fs.ErrClosed].
//
// The files are not trusted. Whatever they hold, no call panics, loops without
// end or hands out a path that leaves the project root. What cannot be right is
// a [*CorruptError], what is another format a [*FormatError]; both name the file
// and the offset. A file that shrinks or cannot be read while it is mapped is a
// CorruptError too. The files carry no checksum, so damage inside the text of a
// record is noticed only if the record or the order of keys becomes impossible,
// unless whoever built them called [WriteSums]: then no damaged page is answered from.
//
// DB and Set are safe for concurrent use. The files must not be written while
// they are mapped (`gtags -i` does that): publish an update as new files.
//
// # How it is built
//
// From the bottom: tree.go is the btree container, in files that nav/mapped maps, and
// all reads of mapped bytes pass its checks, with the page sums of sums.go;
// record.go and compress.go decode the text of a record, and tags.go what a file
// says of its records; paths.go holds GPATH in memory; db.go opens the three and
// turns a fault into an error; member.go answers for one database; set.go and
// walk.go put the answers of several together; verify.go reads everything.
package gtagsdb
