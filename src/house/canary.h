#pragma once

#include "base/fault.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The canary: a real run, print(6*7) by python in a session of its own with the profile strict,
 * again and again. It takes no place from anybody. Every function may be called from any thread.
 */

struct canary;
struct pool;

#define CANARY_EVERY_MS                                                                            \
	50000		     /* after one that worked: "within the last minute" has 10 s to spare */
#define CANARY_RETRY_MS 2000 /* after one that did not, or when no jaild is there */
#define CANARY_FRESH_MS 60000 /* a result is worth so long */

struct canary_result {
	bool is_ok;
	bool is_known;	    /* false: none has ended yet */
	uint64_t ms_ago;    /* since it ended */
	uint64_t took_ms;   /* from the session's opening to its closing */
	struct fault fault; /* why not, with the stage; code FAULT_NONE when it worked */
	uint64_t ok_total;  /* since the start */
	uint64_t failed_total;
};

/* Starts its thread, which tries at once; the pool must outlive it. canary_free ends the thread: it
 * waits for a run under way, some seconds at most. */
struct canary *canary_new(struct pool *pool);
void canary_free(struct canary *canary);

/* Tries again now: after pool_attach. */
void canary_wake(struct canary *canary);

/* The last result. */
void canary_get(struct canary *canary, struct canary_result *ret_result);

/* True if a jaild is there and a run within the last minute worked: what GET /ready says. */
bool canary_is_ready(struct canary *canary);

/* Waits until canary_is_ready, at most timeout_ms. Returns what it is then. */
bool canary_wait(struct canary *canary, uint64_t timeout_ms);
