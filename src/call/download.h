#pragma once

#include "house/visit.h"

#include <stdint.h>

/* A file or archive on its way out: see call/files.h. */
struct files_download {
	struct visit visit;
	uint64_t memory_bytes; /* of an archive; taken off the bound at its end */
};

/* Begins a visit for a file call (call/files.c). Returns 0, or -errno with *ret_fault. */
struct files_at;
int files_visit(struct house *house, const struct files_at *at, struct visit *ret_visit,
	struct fault *ret_fault);

/* Gives back what an archive took (call/archive.c). */
void archive_forget(uint64_t memory_bytes);
