#pragma once

#include "jail/client/jaild.h"

#include <stdint.h>

/* Brings a file of the host into a session's home. */

struct put_request {
	uint64_t session;
	const char *path;   /* in the home; folders on the way are made by jaild */
	uint64_t max_bytes; /* more is refused while it is copied */
	bool is_executable; /* 0755, else 0644 */
};

/* Copies all of fd (open for reading) to the session at constant memory; the name appears only when
 * the file is whole. Returns 0 with *ret_bytes, or -errno with jaild->fault (-ENOSPC: the home is
 * full; -EFBIG: over max_bytes): then nothing of it stays. */
int put_file(struct jaild *jaild, int fd, const struct put_request *request, uint64_t *ret_bytes);
