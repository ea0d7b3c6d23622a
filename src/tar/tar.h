#pragma once

#include "base/str.h"

#include <stdint.h>

/* One entry of an archive: what of a tar a home can hold. POSIX.1-2017 pax, "ustar" and "pax" */

enum tar_kind {
	TAR_FILE,
	TAR_FOLDER,
	TAR_LINK, /* to target, as it is */
	TAR_SAME, /* a further name of the file target */
	TAR_KIND_MAX
};

struct tar_entry {
	enum tar_kind kind;
	struct str path;   /* bytes, relative */
	struct str target; /* of a link or further name */
	uint32_t mode;	   /* permission bits */
	int64_t mtime_ns;
	uint64_t size_bytes; /* of a file */
};

#define TAR_BLOCK    512u
#define TAR_NAME_MAX 4096u /* bytes of a path or target */
