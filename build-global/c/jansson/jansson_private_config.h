/*
 * SPDX-License-Identifier: MIT
 *
 * The private half of jansson's configuration. The hash seed needs no
 * randomness from the system: ctags only prints JSON that it made itself and
 * reads requests from the program that started it.
 */
#define HAVE_FCNTL_H 1
#define HAVE_GETPID 1
#define HAVE_GETTIMEOFDAY 1
#define HAVE_LOCALECONV 1
#define HAVE_LOCALE_H 1
#define HAVE_SCHED_H 1
#define HAVE_SCHED_YIELD 1
#define HAVE_STDINT_H 1
#define HAVE_SYS_PARAM_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_UNISTD_H 1
#ifndef __TINYC__
#define HAVE_ATOMIC_BUILTINS 1
#endif
#define INITIAL_HASHTABLE_ORDER 3
