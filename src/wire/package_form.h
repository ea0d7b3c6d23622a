#pragma once

#include <stdint.h>

/* The head of a package in memory, shared by its writer and its reader. */

#define PACKAGE_MAGIC 0x31504c43u /* "CLP1" */

struct package_head {
	uint32_t magic;
	uint32_t language;
	uint32_t n_args;
	uint32_t n_env;
	uint32_t strings_size; /* bytes of all strings with their NULs */
	uint32_t code_size;
};
