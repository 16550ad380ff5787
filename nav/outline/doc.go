// Package outline keeps what csource sees in every C-like file of a tree in one
// file, so that queries need not read and scan sources again: the definitions of
// each name, of any kind, and for each file its symbols, the #if conditions of
// its lines and what encloses them.
//
// [Build] writes the store of one layer of the index, [Open] maps it, and
// [NewSet] puts the stores of several layers together; every question is asked
// of the [Set]:
//
//	stats, err := outline.Build(ctx, dir, root, files, outline.Options{})
//	store, err := outline.Open(dir)
//	set := outline.NewSet(outline.Member{Store: store})
//	refs, err := set.Lookup("tcp_v4_rcv", nil)
//	file, ok, err := set.File("net/ipv4/tcp_ipv4.c")
//	conds, err := file.Guards(120)
//
// # What is promised
//
// The answers are those of a csource scan of the file as it was when the store
// was built. What a macro invocation defines is told by [Options.Mint]; such
// names are found like others and say the family they come from.
//
// No mapped byte leaves the package: what is returned is on the heap and stays
// valid after [Store.Close]. Close waits for running calls; a call made
// afterwards fails with an error that wraps [fs.ErrClosed].
//
// The file is not trusted. Whatever it holds, no call panics, loops without end
// or hands out a path that leaves the root. Every part that is read carries a
// checksum; what cannot be right is a [*CorruptError] that names file and offset.
//
// Stores, sets and outlines are safe for concurrent use. A store is never
// written again once it has its name.
//
// # How it is built
//
// From the bottom: format.go describes the file; reader.go takes values from
// bytes; symbols.go, guards.go and steps.go are the three parts of a file's
// record, each with its writer above its reader, and record.go joins them;
// observe.go learns from a scan what a record needs; run.go sorts names in bounded memory and merge.go joins
// the sorted runs into the directory of names; build.go drives the workers;
// store.go maps and checks, names.go seeks, file.go and set.go answer.
package outline
