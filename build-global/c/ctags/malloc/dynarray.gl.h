/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * gnulib's build makes this file from malloc/dynarray.h by deleting the lines
 * that only make sense inside glibc. Defining their macro as nothing does the same.
 */
#define libc_hidden_proto(name)
#include <malloc/dynarray.h>
