// Package kconfig works out how a source tree that is configured by Kconfig is
// usually built: the Linux kernel, U-Boot, BusyBox and their like.
//
// Load reads the Kconfig files and the defconfig of one architecture and computes
// what `make defconfig` would: values, defaults, selects, choices. State then says
// of an option whether that configuration has it on, whether it is certainly off,
// or whether it is open: a feature that the defconfig leaves out, and that many
// builds have nevertheless.
//
// Certainly off is what a defconfig leaves out and
//
//   - is for debugging: declared in a Kconfig.debug or in what that includes, or
//     with DEBUG in its name;
//   - lost a choice, as SLOB against SLUB;
//   - cannot be had: its dependencies name another architecture or contradict
//     what is always on;
//   - belongs to the architecture itself: declared below arch/;
//   - comes with nothing but such options;
//   - or is declared nowhere.
//
// Nothing is run. The tests of compiler and linker in Kconfig files are answered
// as GCC would have them answered: everything is supported, and it is not Clang.
package kconfig
