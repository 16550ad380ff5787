// Package upgrade replaces the program by another release of itself.
//
// Start with Check, which only looks, or Run. Rollback goes back to the program
// that Run replaced. What a command line may tell its user about a newer release
// now and then is Notice.
//
// At any moment, also when the process is killed or the disk is full, the
// program's file is the whole old program or the whole new one:
//
//	dir/gtagsmcp                     the program; only ever replaced by rename
//	dir/.gtagsmcp.previous           the program before, a hard link where possible
//	dir/.gtagsmcp-upgrade-NNN/       what an upgrade is working on; the next one sweeps it
//
// The new program is started twice, before and after it gets its name. A file
// that something else looks after (a package manager, the owner of a symbolic
// link, root) is refused with the command to use instead: see Refusal.
package upgrade
