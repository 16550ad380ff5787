#include <linux/fs.h>
extern int counter;
int proto(int a);
static int table[] = { 1, 2 };
struct file;
struct file {
	const struct file_operations *f_op;
	union { int u1; long u2; };
};
enum color { RED, GREEN = 2 };
typedef int (*handler_t)(int, void *);
#define MAX(a, b) \
	((a) > (b) ? (a) : (b))
static inline int
twice(int x)
{
	int local = x;
	return local + x;
}
