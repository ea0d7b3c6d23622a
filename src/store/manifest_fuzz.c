/*
 * Any bytes are parsed. What is accepted keeps the promises of store/manifest.h and is written back
 * as the same bytes, but for the counts of the head and what the form leaves out.
 */
#include "store/manifest.h"

#include "base/assert.h"
#include "base/buf.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_BUF struct buf bytes = BUF_INIT(MANIFEST_SIZE_MAX + 8192);
	struct manifest manifest, again;
	int r;

	if (manifest_parse(data, size, &manifest) < 0)
		return 0;
	for (size_t i = 0; i < manifest.n; i++) {
		struct str path = { manifest.entries[i].path, strlen(manifest.entries[i].path) };

		assert(manifest_path_is_valid(path));
		assert(manifest_find(&manifest, path) == &manifest.entries[i]);
	}
	r = manifest_format(&manifest, &bytes);
	assert(r == 0 && bytes.len == size);
	r = manifest_parse(bytes.data, bytes.len, &again);
	assert(r == 0 && again.n == manifest.n);
	manifest_fini(&again);
	manifest_fini(&manifest);
	return 0;
}
