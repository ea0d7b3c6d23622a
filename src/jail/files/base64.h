#pragma once

#include "base/str.h"

struct buf;

/* Bytes that n bytes become. */
#define BASE64_SIZE(n) (((size_t)(n) + 2) / 3 * 4)

/* Appends the bytes as base64 with padding. Returns 0 or -ENOBUFS. RFC 4648 section 4 */
int base64_encode(struct str bytes, struct buf *out);
