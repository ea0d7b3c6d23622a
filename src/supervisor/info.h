#pragma once

#include <stddef.h>

struct house;
struct json;

/* What is inside the jail: found out once, by running a script in it. */

#define INFO_PACKAGES_MAX 1000
#define INFO_NAME_SIZE	  64
#define INFO_VERSION_SIZE 32

struct info_package {
	char name[INFO_NAME_SIZE];
	char version[INFO_VERSION_SIZE];
};

struct info {
	char python[INFO_VERSION_SIZE]; /* "3.11.2"; "" if it is not there */
	char bash[INFO_VERSION_SIZE];
	struct info_package *packages; /* of Python, owned */
	size_t n_packages;
};

/* Runs the scripts; what does not work is logged and left empty. Takes some tenths of a second. */
void info_find(struct info *info, struct house *house);

/* Adds "languages" and "packages" to the object. */
void info_set(const struct info *info, struct json *object);
