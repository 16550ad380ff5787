#include "file.h"

static void slow_path(int *lock) __acquires(lock);
static void after_annotation(int *lock)
{
	slow_path(lock);
}

static __printf(1, 2) void say(const char *format, ...)
{
}

int __init old_style(a, b)
	int a;
	char *b;
{
	say(b);
	return a;
}

void mini_schedule(void)
{
	trace_mini_wakeup(1);
	after_annotation(0);
	old_style(1, "{");
}
EXPORT_SYMBOL(mini_schedule);
