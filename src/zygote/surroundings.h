#pragma once

#include <stdbool.h>

/*
 * What a copy finds around it when its run comes: whether that is what its zygote was made for. In
 * C, because each line of Python writes pages of the zygote's, which are copied for it.
 */

/* Notes a file or folder that the interpreter is loaded from, or that there is none. Returns 0, or
 * -E2BIG when there are too many. In the zygote. */
int surroundings_note(const char *path);

/* False once one of them has been replaced or changed, is gone, or is there. */
bool surroundings_are_same(void);

/* True if nothing lies in the script's home: then nothing there can change what an interpreter
 * loads. */
bool surroundings_home_is_empty(void);

/* Bit N is set if descriptor N is what almost every run has there: /dev/null as stdin, pipes as
 * stdout and stderr. */
unsigned surroundings_streams(void);
