/*
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The part of libltdl's interface that GNU Global's libparser/parser.c uses.
 * linked-parsers.c implements it without loading anything.
 */
#ifndef GTAGSMCP_LTDL_H
#define GTAGSMCP_LTDL_H

typedef const struct linked_parser *lt_dlhandle;

int lt_dlinit(void);
int lt_dlexit(void);
lt_dlhandle lt_dlopen(const char *name);
lt_dlhandle lt_dlopenext(const char *name);
void *lt_dlsym(lt_dlhandle handle, const char *symbol);
int lt_dlclose(lt_dlhandle handle);
const char *lt_dlerror(void);

#endif
