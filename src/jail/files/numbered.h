#pragma once

#include <limits.h>

/* Names for a second file of the same name: `name (2).ext` (B6). */

/* The most tries before a folder counts as full of such names. */
#define NUMBERED_MAX 10000

/* Writes name with " (n)" before its extension; n 1 is the name itself. A name that would be longer
 * than NAME_MAX bytes loses characters before the number. "a.tar.gz" is "a (2).tar.gz"; a leading
 * dot begins no extension. */
void numbered_name(const char *name, unsigned n, char ret_name[NAME_MAX + 1]);
