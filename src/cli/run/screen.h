#pragma once

#include "base/buf.h"
#include "base/str.h"
#include "sandbox/run.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Shows a run while it goes on: the script's bytes on our stdout and stderr as they come, a line of
 * progress on a terminal while nothing comes, and the signals that mean "stop".
 */

/* Bytes that wait, for each stream, while our reader is slow: then the script waits for it too, as
 * it would unjailed. Up to there a `| less` costs the script no time. */
#define SCREEN_QUEUE_MAX (16u * 1024 * 1024)

struct screen {
	int wake_fd; /* becomes readable when screen_turn has something to do */
	int signal_fd;
	int timer_fd;
	struct buf queue[RUN_STREAM_MAX];   /* not yet written */
	size_t written[RUN_STREAM_MAX];	    /* of the queue */
	bool is_waited_for[RUN_STREAM_MAX]; /* wake_fd tells when it can be written again */
	bool is_gone[RUN_STREAM_MAX];	    /* nobody reads it any more */
	bool is_terminal;		    /* stderr */
	bool is_line_open;		    /* the last byte shown was no newline */
	bool is_progress_shown;
	bool is_waiting; /* for a place: nothing runs yet */
	uint64_t started_us;
	uint64_t limit_ms; /* 0: not known */
};

/* Begins: from here to screen_fini SIGINT, SIGTERM and SIGHUP only wake. Returns 0 or -errno. */
int screen_init(struct screen *screen, uint64_t limit_ms);

/* Shows bytes of a stream. Returns 0, or -EPIPE once nobody reads it. */
int screen_show(struct screen *screen, enum run_stream stream, struct str bytes);

/* Waits for a place to run, or has got one: from then on the time counts anew. Wipes the line of
 * progress. */
void screen_wait(struct screen *screen, bool is_waiting);

/* Does what wake_fd is readable for. Returns 0, or the number of a signal that came. */
int screen_turn(struct screen *screen);

/* Writes what waits, however long it takes, unless a signal comes; lets signals act again. */
void screen_fini(struct screen *screen);
