#pragma once

#include "jaild/zygote/zygote.h"

#include <sys/types.h>

/* Between zygote.c (a zygote's life) and zygote_ask.c (what is asked of it and said by it). */

struct zygote {
	struct zygote_place *place; /* borrowed; outlives it */
	pid_t pid;		    /* in jaild's pid namespace */
	int pidfd;
	int fd;
	struct watch control;
	struct watch death;
	struct timer timer; /* start limit, then that of its answers */
	bool serves;
	bool is_retired;  /* killed; its death is waited for */
	enum stage stage; /* that it is in, as far as it has said */
	uint32_t asked;
	uint32_t answered;
};

/* Begins one; a failure is noted in the place, and tried again later. */
void zygote_begin(struct zygote_place *place);

/* It has loaded everything. Takes the place of the one that serves, if it is in order. */
void zygote_serves(struct zygote *zygote, const struct zygote_event *event);

/* Ends it, with another one begun later (doubt) or not (retire). It is freed when it is dead. */
void zygote_doubt(struct zygote *zygote, enum stage stage, int error);
void zygote_retire(struct zygote *zygote);

/* Takes one word of it. False if there is none; its hang-up, or what is not in order, ends it. */
bool zygote_listen(struct zygote *zygote);
void zygote_on_control(struct watch *watch);

/* True if somebody waits for this child of jaild's. */
bool child_is_known(const struct jaild *jaild, pid_t pid);
