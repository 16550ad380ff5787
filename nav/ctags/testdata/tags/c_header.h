/*
 * Every driver has a class
 * using the template of its bus.
 */
struct device {
	struct class *class;
	struct entry { int x; } __packed __aligned(4);
	int template;
};
