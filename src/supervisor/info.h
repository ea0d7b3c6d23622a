#pragma once

#include <stdatomic.h>
#include <stddef.h>

struct house;
struct json;

/* What is inside the jail: found out once, by running a script in it. */

#define INFO_PACKAGES_MAX 1000
#define INFO_FONTS_MAX	  1000
#define INFO_NAME_SIZE	  64
#define INFO_VERSION_SIZE 32

struct info_package {
	char name[INFO_NAME_SIZE];
	char version[INFO_VERSION_SIZE];
};

struct info {
	atomic_bool is_found;		/* the rest does not change any more */
	char python[INFO_VERSION_SIZE]; /* "3.11.2"; "" if it is not there */
	char bash[INFO_VERSION_SIZE];
	struct info_package *packages; /* of Python, owned */
	size_t n_packages;
	char image[INFO_VERSION_SIZE]; /* its id; "" with other system files */
	char (*fonts)[INFO_NAME_SIZE]; /* families, of an image; owned */
	size_t n_fonts;
};

/* Runs the scripts; what does not work is logged and left empty. Takes some tenths of a second; on
 * a bad machine as long as a run may. */
void info_find(struct info *info, struct house *house);

/* Adds "languages", "packages", "image" and "fonts" to the object; without versions, empty and null
 * until it is found. */
void info_set(const struct info *info, struct json *object);
