/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * gnulib's build makes this file from malloc/dynarray-skeleton.c by renaming
 * glibc's macros. Here the old names are defined as the new ones.
 */
#include <malloc/dynarray.gl.h>
#undef __attribute_maybe_unused__
#undef __attribute_nonnull__
#undef __attribute_warn_unused_result__
#undef __glibc_likely
#undef __glibc_unlikely
#define __attribute_maybe_unused__ _GL_ATTRIBUTE_MAYBE_UNUSED
#define __attribute_nonnull__(args) _GL_ATTRIBUTE_NONNULL(args)
#define __attribute_warn_unused_result__ _GL_ATTRIBUTE_NODISCARD
#define __glibc_likely(cond) _GL_LIKELY(cond)
#define __glibc_unlikely(cond) _GL_UNLIKELY(cond)
#include <malloc/dynarray-skeleton.c>
