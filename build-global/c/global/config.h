/*
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The answers GNU Global's configure would find on any 64-bit Linux (glibc or
 * musl) and on macOS. All of them offer POSIX.1-2008 and the old BSD string
 * names, so one file serves every target and configure need not run.
 */
#ifndef GTAGSMCP_GLOBAL_CONFIG_H
#define GTAGSMCP_GLOBAL_CONFIG_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

/* GLOBAL_VERSION is a string that the recipe passes. */
#define PACKAGE "global"
#define PACKAGE_NAME "GNU Global"
#define VERSION GLOBAL_VERSION
#define COPYRIGHT_YEAR "1996-2024"

/*
 * Folders compiled in can not be right for a tree that may be moved, so they
 * name places that can not exist. gtags.conf and GTAGSCONF say the real ones.
 */
#define BINDIR "/dev/null/bin"
#define DATADIR "/dev/null/share"
#define LIBDIR "/dev/null/lib"
#define LOCALSTATEDIR "/dev/null/var"
#define SYSCONFDIR "/dev/null/etc"

/* Bare names are searched in PATH; gtags.conf's ctagscom replaces them. */
#define UNIVERSAL_CTAGS "ctags"
#define EXUBERANT_CTAGS "ctags"
#define LID "no"
/* Where it is absent, gtags warns and sorts more slowly by itself. */
#define POSIX_SORT "/usr/bin/sort"

#define STDC_HEADERS 1
#define TIME_WITH_SYS_TIME 1

#define HAVE_DIRENT_H 1
#define HAVE_FCNTL_H 1
#define HAVE_LIMITS_H 1
#define HAVE_STRING_H 1
#define HAVE_SYS_RESOURCE_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_UNISTD_H 1
#define HAVE_WCHAR_H 1
#define HAVE_WCTYPE_H 1

#define HAVE_BCMP 1
#define HAVE_BCOPY 1
#define HAVE_BZERO 1
#define HAVE_GETCWD 1
#define HAVE_GETC_UNLOCKED 1
#define HAVE_GETTIMEOFDAY 1
#define HAVE_INDEX 1
#define HAVE_LSTAT 1
#define HAVE_MEMCMP 1
#define HAVE_MEMMOVE 1
#define HAVE_MEMSET 1
#define HAVE_MMAP 1
#define HAVE_PREAD 1
#define HAVE_PUTC_UNLOCKED 1
#define HAVE_PUTENV 1
#define HAVE_PWRITE 1
#define HAVE_RINDEX 1
#define HAVE_SNPRINTF 1
#define HAVE_STRCHR 1
#define HAVE_STRFTIME 1
#define HAVE_STRRCHR 1
#define HAVE_STRUCT_STAT_ST_BLKSIZE 1

#endif
