/*
 * Theory of operation: a hash table with open addressing, at most half full, so that a home whose
 * 16,000 names are all further names of files costs 16,000 steps and not their square. The kernel
 * chooses inode numbers, mostly one after the other; a script cannot aim them at one row.
 */
#include "jail/files/links.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <errno.h>
#include <stdlib.h>

#define SIZE_MIN 64

/* The row of the inode, or the free one where it belongs. */
static struct links_row *row_of(const struct links *links, uint64_t inode)
{
	uint64_t hash = inode * UINT64_C(0x9E3779B97F4A7C15); /* Fibonacci hashing */
	size_t at = (size_t)(hash >> 32) & (links->size - 1);

	while (links->rows[at].first != 0 && links->rows[at].inode != inode)
		at = (at + 1) & (links->size - 1);
	return &links->rows[at];
}

static void grow(struct links *links)
{
	struct links old = *links;

	links->size = old.size ? old.size * 2 : SIZE_MIN;
	links->rows = xcalloc(links->size, sizeof(links->rows[0]));
	for (size_t i = 0; i < old.size; i++)
		if (old.rows[i].first != 0)
			*row_of(links, old.rows[i].inode) = old.rows[i];
	free(old.rows);
}

void links_add(struct links *links, uint64_t inode, size_t first)
{
	struct links_row *row;

	if (links->n * 2 >= links->size)
		grow(links);
	row = row_of(links, inode);
	assert(row->first == 0);
	*row = (struct links_row){ .inode = inode, .first = first + 1 };
	links->n++;
}

int links_find(const struct links *links, uint64_t inode, size_t *ret_first)
{
	const struct links_row *row = links->n > 0 ? row_of(links, inode) : NULL;

	if (!row || row->first == 0)
		return -ENOENT;
	*ret_first = row->first - 1;
	return 0;
}

void links_fini(struct links *links)
{
	free(links->rows);
	*links = (struct links)LINKS_INIT;
}
