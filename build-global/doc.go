// Package buildglobal is the recipe for the prebuilt toolchain: GNU Global,
// Universal Ctags and Pygments as one archive a platform, made from pinned
// sources with a pinned compiler. cmd/build-global runs it, on a developer's
// machine and in the release workflow alike.
//
// Start with Build. It goes
//
//	sources   found by size and SHA-256 in a folder, in Debian's source packages,
//	          or at their home (Sources)
//	compiler  zig, which carries the C libraries of all targets, so that one
//	          machine builds for every Linux (Zig); or the system's cc for its own
//	compile   one cc -c a file and one link a program, with the config.h files in
//	          c/ in place of configure and make (Compile)
//	ceiling   no ELF file needs more than glibc 2.28, or anything at all in the
//	          static set (CheckELF)
//	archive   sorted, dated 1980, owned by nobody: equal input, equal bytes
//	proof     the archive is unpacked and indexes a sample, where it can run (Prove)
//
// CompileHere stops after compiling: an installation from source.
//
// What differs from upstream is only what c/ holds: which answers configure would
// have found, and linked-parsers.c, a table in place of libltdl. gtags therefore
// has its plug-in parser inside, needs no file beside itself and knows no path of
// its own, and the tree may be moved anywhere.
//
// GNU Global is under the GPL, so the exact sources and this recipe lie beside
// the archives in the output folder and belong to the same release.
package buildglobal
