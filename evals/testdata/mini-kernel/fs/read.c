#include "file.h"
#include "macros.h"

int open_files;

static int check(struct file *f)
{
	/* mini_read() and { are only words here */
	return audit_read(f) || !f->ops ? -1 : 0;
}

long mini_read(struct file *f, char *buf, unsigned long n)
{
	long got;

	if (check(f))
		return -1;
#ifdef CONFIG_BOUNCE
	if (n > 16) {
		got = bounce_read(f, buf, 16);
#else
	if (n) {
#endif
		got = f->ops->read(f, buf, n);
	}
	trace_mini_switch(0, 1);
	return got;
}
EXPORT_SYMBOL_GPL(mini_read);

SYSCALL_DEFINE3(mini_read, struct file *, f, char *, buf, unsigned long, n)
{
	return mini_read(f, buf, n);
}

COMPAT_SYSCALL_DEFINE1(mini_close, struct file *, f)
{
	return f->ops->release(f);
}

long read_twice(struct file *f, char *buf)
{
	read_checked(f, buf, 1);
	return mini_read(f, buf, 1) + mini_read(f, buf, 1);
}
