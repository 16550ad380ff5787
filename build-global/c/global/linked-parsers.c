/*
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Plug-in parsers as a table of functions linked into the program, in place of
 * libltdl. A static program can not call dlopen, and a plug-in file would be one
 * more path that changes when the tree is moved.
 *
 * A parser is found by the last element of the configured path without its
 * extension, so "universal-ctags", "universal-ctags.so" and
 * "$libdir/gtags/universal-ctags.la" of a stock gtags.conf all select the same
 * one. No file of that name is ever opened.
 */
#include <stddef.h>
#include <string.h>

#include "ltdl.h"

struct parser_param;

/*
 * Every plug-in calls its entry function "parser". The recipe compiles this one
 * with -Dparser=universal_ctags_parser.
 */
extern void universal_ctags_parser(const struct parser_param *);

struct linked_parser {
	const char *name;
	void (*parse)(const struct parser_param *);
};

static const struct linked_parser linked[] = {
	{ "universal-ctags", universal_ctags_parser },
};

static const char *error;

int
lt_dlinit(void)
{
	return 0;
}

int
lt_dlexit(void)
{
	return 0;
}

lt_dlhandle
lt_dlopen(const char *name)
{
	const char *base = strrchr(name, '/');
	const char *dot;
	size_t i, length;

	base = base ? base + 1 : name;
	dot = strrchr(base, '.');
	length = dot ? (size_t)(dot - base) : strlen(base);
	for (i = 0; i < sizeof(linked) / sizeof(linked[0]); i++)
		if (strlen(linked[i].name) == length && !memcmp(linked[i].name, base, length))
			return &linked[i];
	error = "no parser of that name is linked in";
	return NULL;
}

lt_dlhandle
lt_dlopenext(const char *name)
{
	return lt_dlopen(name);
}

void *
lt_dlsym(lt_dlhandle handle, const char *symbol)
{
	if (handle != NULL && !strcmp(symbol, "parser"))
		return (void *)handle->parse;
	error = "a linked-in parser has one symbol, parser";
	return NULL;
}

int
lt_dlclose(lt_dlhandle handle)
{
	(void)handle;
	return 0;
}

const char *
lt_dlerror(void)
{
	const char *last = error;

	error = NULL;
	return last;
}
