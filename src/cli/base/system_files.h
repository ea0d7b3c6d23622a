#pragma once

#include <limits.h>

struct buf;
struct json;

/* Which system files jails show, for people and programs that ask. */

enum system_kind {
	SYSTEM_HOST,  /* this machine's /usr */
	SYSTEM_IMAGE, /* made by `cloche image build` */
	SYSTEM_TREE,  /* another tree of the person's */
};

struct system_files {
	enum system_kind kind;
	char path[PATH_MAX];
	char id[32];	 /* of an image, or "" */
	char python[32]; /* "3.14.2" of an image, else "3.11" by the name of the program; "" if
			    there is none */
};

/* Looks at rootfs, or at this machine's /usr if it is NULL. What cannot be read is left empty. */
void system_files_look(const char *rootfs, struct system_files *ret);

/* Appends "image /path (Python 3.14.2)". */
void system_files_tell(const struct system_files *files, struct buf *out);

/* Sets the object's member "system": {kind, path, id, python}; cloche-run(1). */
void system_files_set(const struct system_files *files, struct json *object);
