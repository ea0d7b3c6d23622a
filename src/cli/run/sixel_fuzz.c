/*
 * Any bytes as a picture: what passes begins and ends as one, and has between nothing that a
 * terminal could take for the end of it, for another sequence or for a control character.
 */
#include "cli/run/sixel.h"

#include "base/assert.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };

	if (!sixel_is_picture(text))
		return 0;
	assert(str_starts(text, STR("\033Pq\"1;1;")) && str_ends(text, STR("\033\\")));
	for (size_t i = 1; i < size - 2; i++)
		assert(data[i] >= '!' && data[i] <= '~');
	return 0;
}
