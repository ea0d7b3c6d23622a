/*
 * Two texts, mountinfo and /proc/self/cgroup, with a NUL between them. What is found is ended by
 * NUL, and the back end is one whose places are known.
 */
#include "launch/cgroup_find.h"

#include "base/assert.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void place_is_whole(const char *place)
{
	assert(strnlen(place, PATH_MAX) < PATH_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct cgroup_host host;
	char *text = malloc(size + 1);
	const char *own;

	assert(text);
	memcpy(text, data, size);
	text[size] = '\0';
	own = strlen(text) < size ? text + strlen(text) + 1 : text + size;
	memset(&host, 0xaa, sizeof(host));
	cgroup_find_in(text, own, &host);
	place_is_whole(host.unified);
	place_is_whole(host.memory);
	place_is_whole(host.pids);
	place_is_whole(host.cpu);
	assert(strnlen(host.text, sizeof(host.text)) < sizeof(host.text));
	assert((host.backend == WIRE_CGROUP_NONE) == (host.text[0] != '\0'));
	if (host.backend == WIRE_CGROUP_V1)
		assert(host.memory[0] && host.pids[0] && host.cpu[0]);
	if (host.backend == WIRE_CGROUP_V2)
		assert(host.unified[0]);
	free(text);
	return 0;
}
