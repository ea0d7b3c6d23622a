#pragma once

#include <stdint.h>

struct manifest_entry;
struct store;

/* The bytes of one regular file in the store. Holes are not stored. */

/* Reads a file (open for reading, a regular one) into a new object of the session, and fills in
 * size, stored bytes, hash and object of the entry, whose path is set; is_new. A file that changes
 * meanwhile is stored as it was read. Returns 0, -EDQUOT over the store's bytes, -ENOSPC, or
 * -errno: then nothing of it stays. */
int object_write(
	struct store *store, const char *name, int from_fd, struct manifest_entry *ret_entry);

/* Writes an object's bytes to a file (empty, open for writing) and gives it its size. Returns 0,
 * -EBADMSG when the object is not what the entry says, whole and unchanged, or -errno of the file.
 */
int object_read(
	struct store *store, const char *name, const struct manifest_entry *entry, int to_fd);
