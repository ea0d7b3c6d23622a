#pragma once

#include "base/str.h"
#include "crypt/hash.h"

#include <stdint.h>

struct buf;
struct fault;

/* A list of Debian packages, each in one version: packages.lock, or what the archive has now. Also
 * what `apt-get --print-uris` says. */

#define LOCK_PACKAGES_MAX 2000		 /* an image has 350 */
#define LOCK_TEXT_MAX	  (1024u * 1024) /* bytes of the file */
#define LOCK_SIZE_MAX	  (1ull << 32)	 /* bytes of a package */

struct lock_package {
	char name[96];
	char version[96];
	char arch[16];
	uint64_t size_bytes;
	struct hash sha256;
};

struct lock {
	struct lock_package *packages; /* sorted by name; owned */
	size_t n;
};

#define AUTO_LOCK __attribute__((cleanup(lock_fini)))

void lock_fini(struct lock *lock);

/* Reads the text of a packages.lock: lines of name, version, architecture, size, SHA-256; # begins
 * a comment. Returns 0 or -EINVAL with *ret_fault naming the line. *ret_lock is empty before. */
int lock_parse(struct str text, struct lock *ret_lock, struct fault *ret_fault);

/* Appends the text that lock_parse reads. Returns 0 or -ENOBUFS. */
int lock_format(const struct lock *lock, struct buf *out);

/* Reads what `apt-get --print-uris` prints: 'URI' FILE SIZE SHA256:HASH on each line, the file
 * called NAME_VERSION_ARCH.deb with %3a for a colon. Lines of another kind are passed over.
 * apt-get(8). Returns 0, or -EINVAL for a package without such a name or hash. */
int lock_parse_uris(struct str text, struct lock *ret_lock);

/* The package of that name, or NULL. */
const struct lock_package *lock_find(const struct lock *lock, const char *name);

/* True if both name the same packages with the same hashes. */
bool lock_is_equal(const struct lock *a, const struct lock *b);

/* The package's file name as apt gives it. Returns 0 or -ENOSPC. */
int lock_file_name(const struct lock_package *package, char *ret_name, size_t size);
