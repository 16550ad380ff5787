// Package toolchain gets GNU Global, Universal Ctags and Pygments onto the
// machine without root, as a ladder of rungs: what is managed already, what the
// system has, a prebuilt release, a build from source, the distribution's own
// packages unpacked in user space. Every candidate is proved by running it.
//
// Start with Locate, which only looks, or Install, which climbs.
package toolchain
