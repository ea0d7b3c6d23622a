#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Where images are. A place is a folder with images, each under the beginning of its recipe's hash,
 * and a link `current` to the one in use, which is changed by a rename. What begins with a dot in
 * it is a build's, under way or given up.
 */

#define IMAGE_PYTHON_DIR   "/usr/local/lib/python3.14/dist-packages"
#define IMAGE_SHARE_DIR	   "/usr/share/cloche"
#define IMAGE_MANIFEST	   IMAGE_SHARE_DIR "/image.json" /* its hash, languages, packages, fonts */
#define IMAGE_MANIFEST_MAX (1024u * 1024)
#define IMAGE_ID_LEN	   16
#define IMAGE_CURRENT	   "current"
#define IMAGE_WORK_PREFIX  ".build-"
#define IMAGES_MAX	   64

struct image_id {
	char text[IMAGE_ID_LEN + 1];
};

/* The path of the image in use in a place, without the link: 0, or -ENOENT if there is none. */
int image_current(const char *place, char ret_path[PATH_MAX]);

/* True if path is the tree of an image: it has a manifest. */
bool image_is(const char *path);

/* The images of a place, oldest first; at most IMAGES_MAX. Returns how many, 0 also when there is
 * no place, or -errno. */
int image_list(const char *place, struct image_id ret_ids[IMAGES_MAX]);

/* Makes the image of that name the one in use. Returns 0 or -errno. */
int image_use(const char *place, const char *id);

/* Removes the image at path, which lies in a place or by itself, and the link `current` to it.
 * Returns 0; -ENOENT if that is none; -EBUSY if another command changes the folder that it is in;
 * -ETXTBSY if somebody uses it (image/place/hold.h); or -errno. */
int image_remove(const char *path);

/* Removes what builds that were cut short have left in a folder that the caller has locked. Returns
 * how many there were, or -errno with the path of the one that could not be removed, or of the
 * folder. */
int image_remains_remove(const char *folder, char ret_path[PATH_MAX]);

/* True for the name of an image in a place. */
bool image_id_is_valid(const char *text);

/* Locks the place against other commands, by a file in it that nobody but its owner can open: who
 * can only read the place keeps nobody out. Returns a descriptor for image_unlock, which takes the
 * file away too; -ENOENT if there is no place; -EBUSY; or -errno, as where we may not write. */
int image_lock(const char *place);
void image_unlock(const char *place, int fd);
