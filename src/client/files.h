#pragma once

#include "client/sandbox.h"

/* The files of a session: paths are bytes, relative to its home. */

/* What the path of a file in an answer is: its bytes, even if they are no UTF-8. */
struct sandbox_path {
	char bytes[4096 + 1]; /* ends with NUL */
	size_t n;
};

/* Reads the members path and path_b64 of an object. Returns 0, or -EBADMSG when there is no path,
 * an empty or too long one, or one with a NUL. */
int sandbox_path_read(const struct json *object, struct sandbox_path *ret_path);

/* A page of the files, as the supervisor wrote it, after the path (.n 0: from the start). The
 * caller frees *ret_json. */
int sandbox_files(const struct sandbox *sandbox, const char *key, struct str after,
	struct json **ret_json, struct sandbox_trouble *ret_trouble);

/* Copies a file to the descriptor; what has come of it before a failure stays there. */
int sandbox_file_get(const struct sandbox *sandbox, const char *key, struct str path, int out_fd,
	struct sandbox_trouble *ret_trouble);

/* Copies a session as a tar to the descriptor, as sandbox_file_get does. */
int sandbox_session_export(const struct sandbox *sandbox, const char *key, int out_fd,
	struct sandbox_trouble *ret_trouble);

struct sandbox_put {
	const char *key; /* the session; opened when it is not open */
	struct str path;
	const char *profile; /* for opening it; NULL: the default */
	const char *policy;  /* the same */
	bool is_executable;
	int fd; /* size_bytes are read from here */
	uint64_t size_bytes;
};

/* Makes a session out of a tar of put->size_bytes, whole or not at all; put->path and is_executable
 * are not used. The supervisor's answer says how much of it was passed over ("skipped"); the caller
 * frees *ret_json. */
int sandbox_session_import(const struct sandbox *sandbox, const struct sandbox_put *put,
	struct json **ret_json, struct sandbox_trouble *ret_trouble);

/* Writes a file, whole or not at all. */
int sandbox_file_put(const struct sandbox *sandbox, const struct sandbox_put *put,
	struct sandbox_trouble *ret_trouble);

int sandbox_file_remove(const struct sandbox *sandbox, const char *key, struct str path,
	struct sandbox_trouble *ret_trouble);

struct sandbox_file_head {
	uint64_t size_bytes;
	char mime[96];
};

/* Looks at a file without reading it. */
int sandbox_file_head(const struct sandbox *sandbox, const char *key, struct str path,
	struct sandbox_file_head *ret_head, struct sandbox_trouble *ret_trouble);
