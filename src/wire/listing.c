#include "wire/listing.h"

#include <errno.h>
#include <string.h>

/* The reader checks each record against the end of the bytes: the walker saw a hostile home. */

size_t listing_record_size(size_t names_size)
{
	return sizeof(struct listing_entry) + ((names_size + 7) & ~(size_t)7);
}

int listing_next(const void *data, size_t size, size_t *at, const struct listing_entry **ret_entry,
	const char **ret_path)
{
	const char *bytes = data;
	const struct listing_entry *entry;

	if (*at == size)
		return 0;
	if (*at > size || size - *at < sizeof(*entry))
		return -EBADMSG;
	entry = (const struct listing_entry *)(const void *)(bytes + *at);
	if (entry->kind >= LISTING_KIND_MAX || entry->path_size == 0)
		return -EBADMSG;
	if (entry->target_size > LISTING_TARGET_MAX || entry->reserved != 0 ||
		(entry->target_size > 0 && entry->kind != LISTING_LINK))
		return -EBADMSG;
	if (entry->record_size !=
			listing_record_size((size_t)entry->path_size + entry->target_size) ||
		entry->record_size > size - *at)
		return -EBADMSG;
	*ret_path = bytes + *at + sizeof(*entry);
	if (memchr(*ret_path, '\0', (size_t)entry->path_size + entry->target_size))
		return -EBADMSG;
	*ret_entry = entry;
	*at += entry->record_size;
	return 1;
}
