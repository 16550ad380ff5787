#include "file.h"

#ifdef CONFIG_AUDIT
int audit_read(struct file *f)
{
	mini_schedule();
	return f->flags != 0;
}
#endif
