#pragma once

#include "base/assert.h"

/* The head of an entry, as it is in an archive: text in fixed fields. POSIX.1-2017 pax, "ustar
 * Interchange Format" */
struct tar_block {
	char name[100];
	char mode[8], uid[8], gid[8];
	char size[12], mtime[12];
	char checksum[8];
	char type;
	char target[100];
	char magic[8]; /* "ustar", NUL, "00" */
	char user[32], group[32];
	char major[8], minor[8];
	char prefix[155];
	char padding[12];
};

static_assert(sizeof(struct tar_block) == 512, "a block");
