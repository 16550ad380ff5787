// Package toolchain gets GNU Global, Universal Ctags and Pygments onto the
// machine without root, as a ladder of rungs: what is managed already, what the
// system has, a prebuilt release, a build from source, the distribution's own
// packages unpacked in user space. Every candidate is proved by running it.
//
// Start with Locate, which only looks, or Install, which climbs.
//
// # What is promised
//
// A Set was proved with the environment and the label that it carries: its gtags
// indexed a sample in C and Python under awkward names, its global found a
// definition and a reference, its ctags told where a function ends. What a Set
// cannot do stands in Missing. The files of an installed Set are never changed or
// replaced, so a server may keep one for as long as it runs.
//
// Install publishes by rename after the proof; a kill at any moment leaves what
// was there or the new toolchain. One process installs at a time.
//
// # Relocation
//
// Nothing in the managed home holds its own path. gtags.conf names the plugin and
// the parser helper by bare names, which LTDL_LIBRARY_PATH and PATH of Set.Env
// resolve. The helper is our own binary under the name HelperName, a hard link
// in the managed home (see publishHelper), which dispatches on that name; package
// ctagscom is what it does.
//
// # Prebuilt archives
//
// lock.json, embedded, holds the size and SHA-256 of each archive of one release of
// the toolchain; nothing else is unpacked, whoever serves it. The set that uses the
// system's glibc comes before the static one. Where no connection to the server
// comes about the next rung follows at once. Config.From installs from a file, in
// place of the ladder.
//
// # Source build
//
// The pinned sources come from beside the archives or from their homes, and are
// compiled file by file with the first C compiler that makes a program which runs.
// A machine without a compiler, or a network without the sources, costs the climb a
// moment. What the compiler said stands in source-build.log in the home.
//
// # Adding a rung
//
// An entry of ladder: its install stages a folder with bin, lib, lib/gtags and a
// manifest, and returns the name of the generation. The ladder proves, publishes
// and reports.
package toolchain
