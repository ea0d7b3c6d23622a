#pragma once

#include "extent/extent.h"
#include "store/manifest.h"
#include "store/sealed.h"
#include "store/store.h"

#include <pthread.h>

/* What the files of this module share. */

struct store_list {
	struct store_generation {
		char name[STORE_NAME_SIZE];
		uint64_t generation;
	} * list; /* owned */
	size_t n;
};

struct store {
	int dir_fd;
	struct key secret;
	struct extent_key hash_key;
	struct sealed_budget budget;
	_Atomic uint64_t syncs;
	pthread_mutex_t writing;       /* one writer of the file "generations" at a time */
	pthread_mutex_t mutex;	       /* a leaf, never held over the disk; guards what follows */
	struct store_list generations; /* what that file has, */
	struct store_list next;	       /* and what is being written to it: both may be true */
};

#define FOLDER_NAME_SIZE 80 /* of any file there */

void folder_object_name(
	const char *name, const struct manifest_entry *entry, char ret_file[FOLDER_NAME_SIZE]);

/* The words of a key; the strings must live as long. */
struct sealed_name folder_manifest_key(const struct store *store, const char *name);
struct sealed_name folder_object_key(
	const struct store *store, const char *name, const struct manifest_entry *entry);

/* Removes a file and takes its bytes off the budget; one that is not there is fine. */
int folder_unlink(struct store *store, const char *file);

/* fsync(2), counted. */
int folder_sync(struct store *store, int fd);

/* Writes a sealed file whole, under its name from one moment to the next. With is_durable it is
 * there for good afterwards. Bytes beyond the budget are fine: these files are small. Returns 0,
 * -EINPROGRESS when it has its name but the folder could not be synced, or -errno. */
int folder_write(struct store *store, const char *file, const struct sealed_name *key,
	struct str bytes, bool is_durable);

/* Reads a sealed file whole. Returns 0, -ENOENT, -EBADMSG, or -errno. */
int folder_read(
	struct store *store, const char *file, const struct sealed_name *key, struct buf *out);

/* The least generation that a session's manifest may have, by the list of the last life. */
uint64_t folder_least_generation(struct store *store, const char *name);

/* The list (taken over) is about to be written, and then is or is not. In between, a slow disk
 * delays no commit: of both lists the higher generation counts. Under `writing`. */
void folder_generations_begin(struct store *store, struct store_list *list);
void folder_generations_end(struct store *store, bool is_written);

/* 0 if no session's file is in the folder, -EKEYREJECTED if there is one, or -errno. */
int folder_is_unused(const struct store *store);

/* Whom store_scan tells. */
struct store_scan_target {
	store_on_session *on_session;
	void *context;
};
