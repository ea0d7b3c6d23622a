/* Bytes are cut at whole UTF-8 characters; a name that is not UTF-8 is cut anywhere. */
#include "jail/files/numbered.h"

#include "base/assert.h"
#include "base/str.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

#define EXTENSION_MAX 16 /* bytes: what is longer is a sentence with a dot in it */

/* Where the extension begins, or the name's end. ".tar" before another one belongs to it. */
static size_t extension_at(const char *name, size_t n)
{
	const char *dot = strrchr(name, '.');
	size_t at = dot ? (size_t)(dot - name) : n;

	if (at == 0 || n - at > EXTENSION_MAX || n - at == 1)
		return n;
	if (at > 4 && memcmp(name + at - 4, ".tar", 4) == 0)
		at -= 4;
	return at;
}

void numbered_name(const char *name, unsigned n, char ret_name[NAME_MAX + 1])
{
	size_t length = strnlen(name, NAME_MAX), stem = extension_at(name, length);
	size_t rest = length - stem, mark_length;
	char mark[16];
	int r;

	if (n <= 1) {
		r = str_copy(ret_name, NAME_MAX + 1, name);
		assert(r == 0);
		return;
	}
	r = snprintf(mark, sizeof(mark), " (%u)", n);
	assert(r > 0 && (size_t)r < sizeof(mark));
	mark_length = (size_t)r;
	if (stem + mark_length + rest > NAME_MAX) {
		stem = NAME_MAX - mark_length - rest;
		stem -= utf8_unfinished(name, stem);
	}
	r = str_format(
		ret_name, NAME_MAX + 1, "%.*s%s%s", (int)stem, name, mark, name + length - rest);
	assert(r == 0);
}
