// Package index keeps the index of one source tree: which files belong to it,
// how GNU Global databases are made of them, how a query sees every edit, and
// how any number of processes share one index.
//
// [Open] first; it costs nothing. [Index.Acquire] for each question: it returns
// a [Snapshot], which shows the tree as it is and stays as it is until
// [Snapshot.Release]. [Index.Update] is the barrier: when it returns, everything
// that was in the tree at the call is in the index. An existing index needs no
// toolchain; [Options.Tools] is asked only when something must be built.
//
// # On disk
//
//	<root>/.gtags-mcp/        or a folder below the user's cache, for a root that cannot be written to
//	    .gitignore            "*"
//	    CURRENT               names the base and the deltas that are the present generation
//	    lock, builder         flocks of writers, with the holder's name in them; readers take neither
//	    base-000003/          a layer: manifest.json, files (the table of table.go), pin,
//	        shard-00/ …       and GNU Global databases: GTAGS, GRTAGS, GPATH, and SUMS of their pages
//	    delta-000017/         a layer of the files that changed since, which mask those of the base
//	    tmp-*                 what is being built, or was when its process died
//
// A base is split over as many gtags processes as there are cores. A generation
// is a base and its deltas; the newest layer that has a path counts for it. The
// newest deltas are folded together when they are of similar size, so there are
// few; when they hold a quarter of the base, a new base is built in the
// background.
//
// # What is promised
//
// A published file is never written again, so a reader needs no lock. A layer is
// built under another name, checked against what was to be written (gtags exits
// with 0 on a full disk, too), synced, renamed, and then CURRENT is replaced by a
// rename. Whatever dies at whatever moment leaves the last generation whole.
//
// A reader holds a shared flock on the pin of each layer that it has open; a
// layer that CURRENT does not name and that nobody has pinned is removed by its
// last reader or the next writer. Numbers of layers are not used again while the
// folder exists.
//
// A query that follows an edit sees it, or its answer carries a warning. What
// has changed is known from the table of size, times, inode and, for a file seen
// within the tick of a clock after its change, its content. Notifications make
// that knowledge cheap where they work; a scan gives it everywhere.
//
// A file that gtags fails on, hangs on or needs too much memory for is found,
// left out, reported, and not tried again until its content changes.
//
// # What is not
//
// A write through a shared memory mapping, or through another name of a file
// outside the tree, causes no notification; such an edit is found by the next
// full check, at most two minutes and one query later. On a file system without
// flock two processes may build the same index twice; both results are whole.
package index
