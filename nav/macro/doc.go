// Package macro knows the families of macros that mint names: that
// SYSCALL_DEFINE3(read, …) makes sys_read and __x64_sys_read, and DEVICE_ATTR_RO(x)
// makes dev_attr_x. No parser without a preprocessor finds these names, because
// they stand nowhere in the source.
//
// The families are data, one Table of them: Builtin for those of the Linux kernel,
// New to put a project's own before them. Two questions are asked of a table, and
// agree:
//
//   - Candidates turns a wanted name into the calls that would mint it. The index
//     knows where the argument of such a call is mentioned.
//   - Minted turns a call that stands in the source into the names that it makes,
//     which decides whether such a mention is a call that mints the wanted name.
//
// So: candidates, look each argument up, ParseCall on the source line, Minted.
// A Weak name is a guess from the macro's name (DEFINE_X(a) makes a); MintedBy reads
// the macro's own #define and knows, also for the wrappers that every subsystem has.
// Whether a call inside a function body makes a local variable, and one inside a
// struct a member, is not visible from the call: the caller knows where it stands.
//
// # Families
//
// A family has patterns of macro names and templates of minted names. A pattern is
// a name, or has one * for any text. A template holds {1}, {2}, … for the
// arguments of the call:
//
//	[[macro]]
//	label = "MY_QUEUE"
//	macros = ["MY_QUEUE", "MY_QUEUE_*"]
//	names = ["{1}_push", "{1}_pop"]
//
// Of all patterns that match a macro's name only the longest count, so that
// DEFINE_PER_CPU(type, name) is none of the DEFINE_*(name). A family without
// names says that its macros mint none.
package macro
