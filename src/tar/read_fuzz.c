/*
 * Any bytes are read, in pieces whose size the first byte gives; what is told must lie within the
 * bounds of tar/tar.h, and the bytes of a file must be as many as its entry said.
 */
#include "tar/read.h"

#include "base/assert.h"
#include "base/macro.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct told {
	struct tar_sink sink;
	uint64_t left;
};

static int on_entry(struct tar_sink *sink, const struct tar_entry *entry)
{
	struct told *told = container_of(sink, struct told, sink);

	assert(told->left == 0 && entry->kind < TAR_KIND_MAX && entry->mode <= 0777);
	assert(entry->path.n <= TAR_NAME_MAX + 1 && entry->target.n <= TAR_NAME_MAX + 1);
	assert(entry->kind == TAR_FILE || entry->size_bytes == 0);
	told->left = entry->size_bytes;
	return 0;
}

static int on_data(struct tar_sink *sink, struct str bytes)
{
	struct told *told = container_of(sink, struct told, sink);

	assert(bytes.n > 0 && bytes.n <= told->left);
	told->left -= bytes.n;
	return 0;
}

static int on_end(struct tar_sink *sink)
{
	assert(container_of(sink, struct told, sink)->left == 0);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct told told = { .sink = { on_entry, on_data, on_end } };
	struct tar_reader reader;
	size_t step = size > 0 ? (size_t)data[0] * 8 + 1 : 1;
	int r = 0;

	tar_reader_init(&reader, &told.sink);
	for (size_t at = 1; r == 0 && at < size; at += step)
		r = tar_reader_feed(&reader, data + at, MIN(step, size - at));
	(void)tar_reader_end(&reader);
	tar_reader_fini(&reader);
	return 0;
}
