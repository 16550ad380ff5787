#ifndef MINI_MACROS_H
#define MINI_MACROS_H

#define at_least(type, a, b) ({		\
	type __a = (a);			\
	type __b = (b);			\
	__a > __b ? __a : __b;		\
})

#define read_checked(f, buf, n)		\
	(file_is_open(f) ? mini_read(f, buf, n) : -1)

#define DEFINE_MUTEX(name) struct mutex name = { 0 }
#define EXPORT_SYMBOL(name)
#define EXPORT_SYMBOL_GPL(name)

#endif
