#pragma once

#include "base/buf.h"
#include "base/fault.h"
#include "base/str.h"
#include "jail/files/mime.h"

#include <stdint.h>
#include <sys/types.h>

/* Takes a file of a session out to a folder of the host. */

struct collect_request {
	int out_fd;	    /* the folder */
	struct str path;    /* as the script named it: the folders are kept below out_fd */
	uint32_t mode;	    /* the script's; only "executable" counts */
	int from_fd;	    /* the file, open for reading */
	uint64_t max_bytes; /* of data; holes cost nothing */
};

struct collected {
	char path[4096]; /* below the folder, with " (2)" where the name was taken; bytes */
	uint64_t size_bytes;
	uint64_t data_bytes; /* without its holes */
	const char *mime;    /* a literal */
};

/* What collect_file may answer beside 0 and -errno. */
#define COLLECT_REFUSED 1 /* the path leads through a folder of version control */

/* Copies the file. Nothing is ever overwritten and no link followed: a taken name becomes
 * `name (2).ext`, and the file appears whole or not at all where the file system has O_TMPFILE.
 * Returns 0; COLLECT_REFUSED for a path through a folder that version control runs commands out of
 * (.git);
 * the name HEAD is taken as taken; -EFBIG for more data than max_bytes; -EINVAL for a path with "."
 * or ".." or an empty part; -ENOTDIR or -ELOOP where a file or link stands in place of a folder;
 * -ENAMETOOLONG; or -errno of the host's file system. */
int collect_file(const struct collect_request *request, struct collected *ret_collected);
