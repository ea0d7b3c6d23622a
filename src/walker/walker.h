#pragma once

#include <stdint.h>

/* What the walker leaves behind the listing's last record. */
struct walker_result {
	uint32_t entries;
	uint32_t cut;	     /* enum listing_cut, as a set */
	uint64_t size_bytes; /* filled in by its reader */
};

/* In a child of jaild: gives away all rights but reading the home, lists it (wire/listing.h) into
 * listing_fd, and exits. flags are enum wire_list_flag. */
__attribute__((noreturn)) void walker_run(int home_fd, int listing_fd, uint32_t flags);
