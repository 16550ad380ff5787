/*
 * SPDX-License-Identifier: MIT
 *
 * The public half of jansson's configuration: what jansson.h needs to know of
 * a C99 compiler with long long, a locale and the __atomic builtins.
 */
#ifndef JANSSON_CONFIG_H
#define JANSSON_CONFIG_H

#define JSON_INLINE inline
#define JSON_INTEGER_IS_LONG_LONG 1
#define JSON_HAVE_LOCALECONV 1
#define JSON_PARSER_MAX_DEPTH 2048
/* tcc has neither family of builtins; ctags has one thread and needs none. */
#ifdef __TINYC__
#define JSON_HAVE_ATOMIC_BUILTINS 0
#else
#define JSON_HAVE_ATOMIC_BUILTINS 1
#endif
#define JSON_HAVE_SYNC_BUILTINS 0

#endif
