#ifndef MINI_FILE_H
#define MINI_FILE_H

struct file;

typedef long (*read_fn_t)(struct file *f, char *buf, unsigned long n);
typedef unsigned int mini_flags_t;

enum file_state {
	FILE_CLOSED,
	FILE_OPEN = 4,
};

struct file_ops {
	read_fn_t read;
	int (*release)(struct file *f);
};

struct file {
	const struct file_ops *ops;
	mini_flags_t flags;
	enum file_state state;
};

extern const struct file_ops pipe_ops;
extern int open_files;

long mini_read(struct file *f, char *buf, unsigned long n);
void file_lock(struct file *f) __acquires(f);
static inline int file_is_open(const struct file *f)
{
	return f->state == FILE_OPEN;
}

#ifdef CONFIG_AUDIT
int audit_read(struct file *f);
#else
static inline int audit_read(struct file *f) { return 0; }
#endif

#endif
