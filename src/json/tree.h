#pragma once

#include <jansson.h>

struct json;

/* The two names of one value, for this folder only. tree_to takes a new reference over and aborts
 * on NULL, which jansson returns only when memory is gone. */
json_t *tree_from(const struct json *j);
struct json *tree_to(json_t *tree);
