#pragma once

#include "base/str.h"

struct buf;

/* Bytes that n bytes become. */
#define BASE64_SIZE(n) (((size_t)(n) + 2) / 3 * 4)

/* Appends the bytes as base64 with padding. Returns 0 or -ENOBUFS. RFC 4648 section 4 */
int base64_encode(struct str bytes, struct buf *out);

/* Appends the bytes that text stands for: the alphabet of section 4, whole groups of four with
 * their padding, no line breaks, unused bits zero. Returns 0; -EBADMSG for anything else, -ENOBUFS:
 * then a part may have been added. RFC 4648 section 3.5 */
int base64_decode(struct str text, struct buf *out);
