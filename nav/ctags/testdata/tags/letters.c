int café_func(int é) { return 0; }
int über, plain; /* é */
int nul; @NUL@
int after;
typedef struct größe größe_t;
