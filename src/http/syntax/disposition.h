#pragma once

#include "base/str.h"

/* A file name of up to 255 bytes, each perhaps three, twice, and the words around it. */
#define DISPOSITION_SIZE 1200

/* The value of Content-Disposition for the last part of a path: to be saved under its name,
 * whatever bytes it has. RFC 6266, RFC 8187 */
void disposition_make(struct str path, char ret_value[DISPOSITION_SIZE]);
