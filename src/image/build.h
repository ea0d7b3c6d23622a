#pragma once

#include <stdbool.h>

/*
 * Makes an image: a tree of system files that jails use in place of the host's /usr. By mmdebstrap,
 * apt-get and pip of this host, as root, from a recipe folder (docs/image.md).
 */

enum image_locking {
	IMAGE_LOCK_PREFERRED, /* the recipe's versions as long as the archive or the cache has them
			       */
	IMAGE_LOCK_ONLY,      /* those or nothing */
	IMAGE_LOCK_UPDATE,    /* the newest, and the recipe's lock files are written */
};

struct image_options {
	const char *recipe; /* a folder with packages.in and the rest */
	const char *place;  /* the folder of images (image/place/place.h); NULL with out */
	const char *out;    /* a tree of its own instead, which must not exist or be an image */
	const char *cache;  /* downloads are kept below it */
	enum image_locking locking;
	const char *package; /* with IMAGE_LOCK_UPDATE: this Python package alone; NULL: all */
	void (*tell)(const char *line); /* of progress */
};

struct image_trouble {
	char what[768];	  /* one sentence, may have lines of a program's own words */
	char remedy[256]; /* one sentence, or "" */
	int signal;	  /* that stopped it, or 0 */
};

/* Returns 0 with the image in its place and its path in *ret_path (PATH_MAX), 1 if an image of the
 * same recipe is there already, or -EIO with *ret_trouble. An image in use stays in use until the
 * new one is whole. */
int image_build(
	const struct image_options *options, char *ret_path, struct image_trouble *ret_trouble);
