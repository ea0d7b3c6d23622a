#pragma once

#include "base/str.h"

#include <stdint.h>

/*
 * The ids that the outer user namespace is made of (decision 13): for an ordinary user his
 * subordinate ids, for root a range that nobody else has.
 */

#define ID_RANGE_COUNT 65536u
/* Where root's range is looked for: above all that systemd (its document "Users, Groups, UIDs and
 * GIDs on systemd Systems") and distributions hand out. Every second range, as the id after the
 * first is the supervisor's (cli/up_store.c). */
#define ID_BASE	      1879048192u
#define ID_BASE_STEP  (2 * ID_RANGE_COUNT)
#define ID_BASE_TRIES 64u
/* jaild itself and a few sessions. */
#define ID_RANGE_MIN 64u

struct id_range {
	uint32_t first_uid;
	uint32_t first_gid;
	uint32_t count;
};

/* Looks the range up. Returns 0, or -errno with a sentence of cause and remedy in text (size
 * bytes). subuid(5) */
int id_range_find(struct id_range *ret_range, char *text, size_t size);

/* The first of root's ranges that neither subuid(5) text gives to anybody. Returns 0 or
 * -EADDRINUSE.
 */
int id_range_choose(struct str uids, struct str gids, uint32_t *ret_first);

/* The first range of at least ID_RANGE_MIN ids that the subuid(5) text gives to the user, by name
 * or number. Returns 0 or -ENOENT. */
int id_range_parse(
	struct str text, const char *name, uint32_t uid, uint32_t *ret_first, uint32_t *ret_count);

/* 1 if the subuid(5) text has a range that overlaps first .. first + count, else 0. */
int id_range_overlaps(struct str text, uint32_t first, uint32_t count);
