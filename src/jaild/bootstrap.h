#pragma once

#include <stddef.h>

/* The text of zygote/bootstrap.py, which every Python run starts with; static storage, *ret_size
 * bytes. */
const char *bootstrap_get(size_t *ret_size);
