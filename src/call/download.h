#pragma once

#include "house/visit/visit.h"

#include <stdint.h>

struct archive_share;

/* A file or archive on its way out: see call/files.h. */
struct files_download {
	struct visit visit;
	struct archive_share *share; /* of an archive, which has memory_bytes of it; NULL: a file */
	uint64_t memory_bytes;
};

/* Begins a visit for a file call (call/files.c). Returns 0, or -errno with *ret_fault. */
struct files_at;
int files_visit(struct house *house, const struct files_at *at, struct visit *ret_visit,
	struct fault *ret_fault);
