#pragma once

#include "jail/cgroup/cgroup.h"
#include "jail/plan/zygote.h"
#include "jaild/loop.h"
#include "wire/message.h"
#include "wire/stage.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Zygotes as jaild sees them: processes without any right that it starts, watches, asks for copies
 * and replaces. What they say is never more than a wish to be believed: a zygote that says
 * something odd, answers late, has grown a thread or dies is ended, and until another one serves,
 * runs are executed as ever. Which process a run becomes is for the cell's init to check.
 */

struct jaild;
struct zygote;

/* The zygotes of one kind. */
struct zygote_place {
	struct jaild *jaild;
	enum zygote_kind kind;
	struct zygote *serving; /* asked for copies, NULL */
	struct zygote *coming;	/* loads, and will take its place, NULL */
	struct timer retry;
	unsigned failures;   /* in a row: the next start waits longer */
	uint32_t generation; /* how many have served */
	uint64_t loaded;     /* what the one that serves has; rows of preload.def */
	uint32_t hot_pages;  /* that its copies have ahead */
	int lesson;	     /* a positive errno: why it has not learnt which, 0 if it has */
	uint64_t copies;     /* that all of them have been asked for */
	uint64_t used;	     /* runs that started as a copy */
	uint64_t missed;     /* runs that could have, and were executed */
	uint64_t kills;	     /* for memory, in their group: as last looked at */
	enum stage stage;    /* of the last failure, STAGE_NONE */
	int error;
};

/* Embedded in struct jaild. */
struct nursery {
	unsigned max_runs; /* copies of one zygote; 0: there are none */
	int filter_fd;
	uint32_t filter_count;
	uint32_t next_pid;
	struct timer orphans; /* while processes of a zygote that was killed may still come to us */
	usec_t orphans_pause_us;
	struct zygote_place places[ZYGOTE_KINDS];
};

void nursery_init(struct jaild *jaild, unsigned max_runs);

/* Starts one zygote of each kind, if there are to be any; they serve a while later. */
void nursery_start(struct jaild *jaild);

/* What a client is told of the zygotes of a kind. */
void nursery_tell(
	const struct nursery *nursery, enum zygote_kind kind, struct wire_zygote *ret_told);

/* Waits for processes that have become jaild's because their parent was killed: a zygote's helper,
 * or the helper's child, without whose end the cell that it was on its way to cannot end. Children
 * that others wait for are left to them. */
void nursery_reap(const struct jaild *jaild);

/* A run of the kind has started: as a copy, or it was executed although it could have been one. */
void nursery_count(struct jaild *jaild, enum zygote_kind kind, bool is_copy);

/* A cell for zygote_ask. */
struct zygote_cell {
	int pidfd; /* of its init, which nothing of a client has run beside */
	const struct cgroup_cell *cgroup;
	int socket; /* the copy's end of the socket to init */
};

/* Asks for a copy in a cell. Returns 0 if it is on its way, or may be: the descriptors stay the
 * caller's; -EAGAIN if no zygote of the kind serves, or -errno. */
int zygote_ask(struct jaild *jaild, enum zygote_kind kind, const struct zygote_cell *cell);

/* Kills a cell's init, whose pidfd this is, and waits for its end; and so for those. */
void nursery_end_init(const struct jaild *jaild, int pidfd);
