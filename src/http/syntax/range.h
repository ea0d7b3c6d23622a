#pragma once

#include "base/str.h"

#include <stdint.h>

/* What a Range header means for a representation of a given size. RFC 9110 section 14 */

enum range {
	RANGE_WHOLE, /* no range of ours: several, another unit, malformed; send all (200) */
	RANGE_PART,  /* one range: 206 */
	RANGE_UNSATISFIABLE, /* nothing of it exists: 416 */
};

/* Reads the header's value. RANGE_PART gives the first byte and how many, at least 1. */
enum range range_parse(struct str header, uint64_t size, uint64_t *ret_first, uint64_t *ret_length);
