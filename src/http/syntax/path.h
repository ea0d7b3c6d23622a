#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Paths and queries of request targets: percent-decoded once, each part by itself, so that no
 * encoded byte ever becomes a separator. RFC 3986 sections 2 and 3.3
 */

#define PATH_PARAMETERS_MAX 4
#define QUERY_FIELDS_MAX    16

struct path_parameter {
	struct str name; /* in the pattern */
	struct str value;
};

struct path_parameters {
	struct path_parameter items[PATH_PARAMETERS_MAX];
	size_t n;
};

struct query {
	struct path_parameter items[QUERY_FIELDS_MAX];
	size_t n;
};

/*
 * Decodes an absolute path into out, of at least path.n bytes. *ret points there; its "/" are the
 * separators, since %2f is refused. Returns 0, or -EBADMSG with *ret_wrong, a literal: bad
 * encoding, NUL, %2f, an empty segment ("//", or "/" at the end), "." and "..".
 */
int path_decode(struct str path, char *out, struct str *ret, const char **ret_wrong);

/* True if the pattern (http/server.h) fits the decoded path; then *ret has its parameters. */
bool path_match(const char *pattern, struct str path, struct path_parameters *ret);

/* Splits and decodes a query into out, of at least query.n bytes; "+" is a space. Returns 0, or
 * -EBADMSG with *ret_wrong: bad encoding, NUL, a name twice, more than QUERY_FIELDS_MAX. */
int query_decode(struct str query, char *out, struct query *ret, const char **ret_wrong);
