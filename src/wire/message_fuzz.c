/*
 * Any bytes as a message, the first byte being the number of descriptors that came with it. What is
 * let through must have the exact form of its type.
 */
#include "wire/message.h"

#include "base/assert.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void name_is_whole(const char *name, size_t room)
{
	size_t n = strnlen(name, room);

	assert(n < room);
	for (size_t i = n; i < room; i++)
		assert(name[i] == '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static union wire_any message;
	unsigned type;

	if (size < 1 || size - 1 > sizeof(message))
		return 0;
	/* what lies behind the message is the one before it, as in jaild */
	memcpy(&message, data + 1, size - 1);
	if (wire_check(&message, size - 1, data[0]) < 0)
		return 0;
	type = message.header.type;
	assert(wire_size(type) == size - 1 && message.header.version == WIRE_VERSION);
	assert(strcmp(wire_name(type), "unknown") != 0 && data[0] <= WIRE_RUN_FDS);
	if (type == WIRE_SESSION_OPEN)
		name_is_whole(message.session_open.key, WIRE_KEY_SIZE);
	if (type == WIRE_FILE_OPEN || type == WIRE_FILE_CREATE || type == WIRE_FILE_REMOVE)
		name_is_whole(message.file.path, WIRE_PATH_SIZE);
	return 0;
}
