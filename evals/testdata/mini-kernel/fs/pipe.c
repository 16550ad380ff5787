#include "file.h"
#include "macros.h"

static DEFINE_MUTEX(pipe_mutex);

static int check(struct file *f)
{
	return f->flags & 1;
}

static long pipe_read(struct file *f, char *buf, unsigned long n)
{
	return check(f) ? -1 : at_least(long, n, 1);
}

static int pipe_release(struct file *f)
{
	return check(f);
}

const struct file_ops pipe_ops = {
	.read = pipe_read,
	.release = pipe_release,
};
