#include "cli/base/image_manifest.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/str.h"
#include "image/place/place.h"
#include "json/parse.h"

#include <fcntl.h>
#include <string.h>

int image_manifest_read(const char *path, struct json **ret_manifest, struct fault *ret_fault)
{
	AUTO_BUF struct buf text = BUF_INIT(IMAGE_MANIFEST_MAX);
	AUTO_FREE char *name = xasprintf("%s" IMAGE_MANIFEST, path);
	int r = buf_add_file(&text, AT_FDCWD, name);

	if (r < 0) {
		fault_set(ret_fault, FAULT_NOT_FOUND, "%s", strerror(-r));
		return r;
	}
	return json_parse(str_trim(buf_get_slice(&text)), ret_manifest, ret_fault);
}
