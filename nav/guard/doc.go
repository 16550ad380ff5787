// Package guard evaluates preprocessor conditions three-valued against a
// configuration.
//
// ParseConfig reads what the user gave, a kernel .config or a list of macros;
// Eval answers for a stack of conditions: False when the code is certainly
// compiled out, True when it is certainly in, Unknown when that hangs on
// something that the configuration does not say. A nil *Config knows nothing; it
// still decides #if 0.
//
// # What is promised
//
// Knowing more never turns a decided answer around: if one configuration says
// all that another says and more, then every answer that the other decided is
// the same. So whatever is wrong or odd about an expression (a syntax error, an
// overflow, a division by zero, a macro with arguments that nobody knows) is
// Unknown and never an error.
//
// # Conditions
//
// A condition is an expression in the language of #if: defined X, constants of
// all bases and suffixes, character constants, all operators including ?: and the
// comma, in 64-bit arithmetic as the C standard wants it. #ifdef X is given as
// defined(X), #else after #if E as !(E).
//
// # Configurations
//
// A .config is a closed world for the names that begin with CONFIG_: what it does
// not set is not defined. About all other names it says nothing (MODULE depends
// on the file that is compiled), but for LINUX_VERSION_CODE, which stands in its
// head, and GCC_VERSION, when it names the compiler. A file whose name ends in
// defconfig leaves out what has its default, and is an open world.
//
// A list such as CONFIG_SMP,BITS_PER_LONG=64,!CONFIG_DEBUG is an open world: what
// it does not name is unknown. Its elements:
//
//	NAME          defined as 1
//	NAME=y        the same
//	NAME=VALUE    defined as VALUE: a number, a name, a string, (an expression)
//	!NAME         not defined
//	NAME=n        the same
//	CONFIG_X=m    CONFIG_X_MODULE is defined as 1, CONFIG_X is not defined
//
// In both forms, saying something about CONFIG_X says what follows for
// CONFIG_X_MODULE: only =m defines it.
package guard
