/*
 * Any bytes as a subuid(5) file: a range that is found has its size and overlaps itself.
 */
#include "launch/id_range.h"

#include "base/assert.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	uint32_t first = 7, count = 0;

	if (id_range_parse(text, "ann", 1000, &first, &count) < 0) {
		assert(first == 7 && count == 0);
	} else {
		assert(count >= ID_RANGE_MIN && count <= ID_RANGE_COUNT);
		assert(id_range_overlaps(text, first, count) == 1);
	}
	if (id_range_overlaps(text, 1879048192u, ID_RANGE_COUNT))
		assert(id_range_overlaps(text, 0, UINT32_MAX) == 1);
	return 0;
}
