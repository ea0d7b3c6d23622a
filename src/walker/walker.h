#pragma once

#include "extent/extent.h"

#include <stdint.h>

/* What the walker leaves behind the listing's last record. */
struct walker_result {
	uint32_t entries;
	uint32_t cut;	     /* enum listing_cut, as a set */
	uint64_t size_bytes; /* filled in by its reader */
};

/* What a walker that waits is told, with two descriptors: the home's and the listing's. */
struct walker_request {
	uint32_t flags; /* enum wire_list_flag */
	struct extent_key hash_key;
};

/* In a child of jaild: gives away all rights but reading the home, lists it (wire/listing.h) into
 * listing_fd, and exits. */
__attribute__((noreturn)) void walker_run(
	int home_fd, int listing_fd, const struct walker_request *request);

/* The same for a home that is told later over fd (wire/channel.h): it waits for its one request
 * with the rights and with no descriptor else but the log's, and exits when fd is hung up. */
__attribute__((noreturn)) void walker_wait(int fd);
