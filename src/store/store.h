#pragma once

#include "crypt/key.h"
#include "store/manifest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The files of kept sessions on disk: in one folder, for each session a manifest and an object for
 * each regular file, all sealed (store/sealed.h) under keys derived from the server's secret.
 *
 *	check			   says that the folder belongs to this secret
 *	generations		   the least generation that each manifest may have
 *	SSSS.manifest		   one session (S: 32 hexadecimal digits of its name's key)
 *	SSSS.OOOO		   one file of it (O: 32 digits, random)
 *	*.new			   on its way; left over only by a crash, and swept
 *
 * Any thread may call anything; what belongs to one session is for one thread at a time. Durable
 * means: fsync of every new object, of the manifest, rename, fsync of the folder.
 */

struct extent_key;
struct store;

#define STORE_NAME_SIZE 33 /* of a session in the folder, with NUL */

/* Opens the store in a folder (taken over, also on an error), for at most max_bytes. Makes what is
 * missing. Returns 0, -EKEYREJECTED when it belongs to another secret, or -errno. End it with
 * store_free. */
int store_open(int dir_fd, const struct key *secret, uint64_t max_bytes, struct store **ret_store);
void store_free(struct store *store);

/* The key of the hashes in manifests, made out of the secret: the same over restarts. Hashes of
 * another key, or of an earlier version, are as good as those of other contents. Borrowed. */
const struct extent_key *store_hash_key(const struct store *store);

/* The name of a tenant's session in the folder; nobody without the secret can tell whose it is. */
void store_name(const struct store *store, const char *tenant, const char *key,
	char ret_name[STORE_NAME_SIZE]);

/* What the walk over the folder tells of each session. */
typedef void store_on_session(
	void *context, const char *name, const struct manifest_head *head, int error);

/* Looks at every session: error 0 and its head, or -EBADMSG and NULL for one that does not open.
 * Sweeps what a crash left: files on their way, objects that no manifest names. Counts what is
 * there against max_bytes. Once, before anything else. Returns 0 or -errno. */
int store_scan(struct store *store, store_on_session *on_session, void *context);

/* Reads a manifest; least_generation: an older one was put back. Returns 0, -ENOENT, -EBADMSG, or
 * -errno. manifest_fini ends *ret_manifest. */
int store_load(struct store *store, const char *name, uint64_t least_generation,
	struct manifest *ret_manifest);

/*
 * Makes a manifest durable, with its next generation: everything that its entries name as new, then
 * itself. At most three calls of fsync for a session with one new file. Objects that `old` (or
 * NULL) has and it has not are removed afterwards. Returns 0, -ENOSPC, -EDQUOT, -E2BIG or -errno:
 * then the store is as it was, and the manifest too but for its counts. After -EINPROGRESS the new
 * state is in place and only its durability is not known.
 */
int store_commit(struct store *store, struct manifest *manifest, const struct manifest *old);

/* Removes the objects that a manifest names as new: it will not be committed. */
void store_discard(struct store *store, const struct manifest *manifest);

/* Removes a session, durably, whatever state it is in. Returns 0, -ENOENT, or -errno. */
int store_remove(struct store *store, const char *name);

/* Notes the generation that a session has, for the next start: an older manifest is then known to
 * be put back. Not durable by itself. Costs a write of the whole list. */
int store_generations_write(struct store *store, const struct manifest_head *heads, size_t n);

/* Says when a session was last used, for the next start. */
void store_touch(struct store *store, const char *name);

/* Bytes in use, and how often fsync(2) was called. */
uint64_t store_used_bytes(struct store *store);
uint64_t store_syncs(struct store *store);
