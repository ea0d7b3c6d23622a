#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* UTF-8 as the Unicode Standard 15.0 has it, table 3-7: no surrogates, nothing over U+10FFFF, no
 * overlong forms. NUL is a character like others. */

/* True if the n bytes at p are UTF-8 and whole. */
bool utf8_is_valid(const char *p, size_t n);

/* Appends the n bytes at p to out with U+FFFD for each maximal invalid subpart (Unicode 15.0,
 * section 3.9, "substitution of maximal subparts"; the same as Python's errors="replace").
 * Returns 0, or -ENOBUFS: then what fitted is in out. At most 3 bytes are added for one read. */
int utf8_repair(struct buf *out, const char *p, size_t n);

/* Bytes of the first character of the n at p if it may be shown on a terminal, else 0: it is whole,
 * no control (C0, DEL, C1), and none that turns the direction of the text around it, is invisible
 * or ends a line on some terminals (U+061C, U+200B to U+200F, U+2028 to U+202E, U+2060 to U+206F,
 * U+FEFF). */
size_t utf8_shown(const char *p, size_t n);

/* Makes foreign text harmless for a terminal or a line of a log: each byte of what must not be
 * shown (utf8_shown) becomes '?'. */
void utf8_clean(char *text);

/* How many bytes at the end of a chunk (0 to 3) begin a sequence that later bytes may finish: hold
 * them back and put them before the next chunk. */
size_t utf8_unfinished(const char *p, size_t n);
