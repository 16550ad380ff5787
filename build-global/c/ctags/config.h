/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The answers Universal Ctags' configure would find on 64-bit Linux (glibc or
 * musl) and macOS with JSON on and libxml2, libyaml, PCRE2 and libseccomp off.
 * The recipe passes CTAGS_VERSION as a string.
 */
#ifndef GTAGSMCP_CTAGS_CONFIG_H
#define GTAGSMCP_CTAGS_CONFIG_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#ifdef __APPLE__
#define _DARWIN_C_SOURCE 1
#endif

#define PACKAGE "universal-ctags"
#define PACKAGE_NAME PACKAGE
#define PACKAGE_VERSION CTAGS_VERSION
#define VERSION CTAGS_VERSION

#define DEFAULT_FILE_FORMAT 2
#define ETAGS "etags"
#define TMPDIR "/tmp"

#define HAVE_JANSSON 1
#define HAVE_ICONV 1
/* The five parsers that packcc generates from peg/. */
#define HAVE_PACKCC 1
#define USE_SYSTEM_STRNLEN 1

#define HAVE_DIRENT_H 1
#define HAVE_FCNTL_H 1
#define HAVE_FNMATCH_H 1
#define HAVE_LIMITS_H 1
#define HAVE_STDBOOL_H 1
#define HAVE_STDINT_H 1
#define HAVE_STDLIB_H 1
#define HAVE_STRING_H 1
#define HAVE_STRINGS_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_SYS_WAIT_H 1
#define HAVE_UNISTD_H 1
#define HAVE_WCHAR_H 1
#define HAVE_WCTYPE_H 1

#define HAVE_ASPRINTF 1
#define HAVE_FNMATCH 1
#define HAVE_MBLEN 1
#define HAVE_MKSTEMP 1
#define HAVE_OPENDIR 1
#define HAVE_SCANDIR 1
#define HAVE_SETENV 1
#define HAVE_STAT_ST_INO 1
#define HAVE_STRCASECMP 1
#define HAVE_STRERROR 1
#define HAVE_STRNCASECMP 1
#define HAVE_STRSIGNAL 1
#define HAVE_TRUNCATE 1
#define HAVE_STATEMENT_EXPRESSION_EXT 1
#define HAVE_TYPEOF 1
#ifdef __APPLE__
#define HAVE_DECL___ENVIRON 0
#define HAVE_DECL__NSGETENVIRON 1
#else
/* musl has no __environ; both C libraries declare environ for _GNU_SOURCE. */
#define __environ environ
#define HAVE_DECL___ENVIRON 1
#define HAVE_DECL__NSGETENVIRON 0
#endif

/*
 * The regular expressions are gnulib's on every system, so that a pattern means
 * the same everywhere. Its functions get names of their own: the C library has
 * some with the same names and another struct behind them.
 */
#define _REGEX_INCLUDE_LIMITS_H 1
#define _REGEX_LARGE_OFFSETS 1
#define HAVE_ISBLANK 1
#define HAVE_DECL_ISBLANK 1
#define re_comp gnulib_re_comp
#define re_compile_fastmap gnulib_re_compile_fastmap
#define re_compile_pattern gnulib_re_compile_pattern
#define re_exec gnulib_re_exec
#define re_match gnulib_re_match
#define re_match_2 gnulib_re_match_2
#define re_search gnulib_re_search
#define re_search_2 gnulib_re_search_2
#define re_set_registers gnulib_re_set_registers
#define re_set_syntax gnulib_re_set_syntax
#define re_syntax_options gnulib_re_syntax_options
#define regcomp gnulib_regcomp
#define regerror gnulib_regerror
#define regexec gnulib_regexec
#define regfree gnulib_regfree

/* Attributes gnulib's own config.h macros would spell out for old compilers. */
#define _GL_ATTRIBUTE_FALLTHROUGH __attribute__((__fallthrough__))
#define _GL_ATTRIBUTE_MAYBE_UNUSED __attribute__((__unused__))
#define _GL_ATTRIBUTE_NODISCARD __attribute__((__warn_unused_result__))
#define _GL_ATTRIBUTE_NONNULL(args) __attribute__((__nonnull__ args))
#define _GL_ATTRIBUTE_PURE __attribute__((__pure__))
#define _GL_UNUSED _GL_ATTRIBUTE_MAYBE_UNUSED

#endif
