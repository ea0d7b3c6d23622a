#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * How a thread that waits, for a place or for its run, learns that something happened: two
 * descriptors to poll, of a set of reasons that others raise and of the client's connection.
 * Owned by the waiting thread; others may call attention_raise while they know that it lives.
 */

enum attention_reason {
	ATTENTION_CANCEL = 1, /* the run was cancelled */
	ATTENTION_CLOSE = 2,  /* its session is being closed */
	ATTENTION_DRAIN = 4,  /* the house is */
	ATTENTION_GONE = 8,   /* the client is gone */
	ATTENTION_QUEUE = 16, /* the queue moved: look again */
};

/* Those that end a run. */
#define ATTENTION_END (ATTENTION_CANCEL | ATTENTION_CLOSE | ATTENTION_DRAIN | ATTENTION_GONE)

struct attention {
	int event_fd;  /* readable when a reason is new */
	int client_fd; /* hangs up (POLLRDHUP); borrowed; -1: none, or known to be gone */
	_Atomic uint32_t reasons;
};

/* Starts watching; client_fd -1: no client. Returns 0 or -errno. End it with attention_fini. */
int attention_init(struct attention *attention, int client_fd);
void attention_fini(struct attention *attention);

/* Adds a reason and wakes the owner. Any thread; never blocks. */
void attention_raise(struct attention *attention, enum attention_reason reason);

/* All reasons up to now, of which QUEUE is forgotten; the descriptors are quiet again. The owner.
 */
uint32_t attention_take(struct attention *attention);

/* Waits until a reason is new, at most timeout_us. The owner. Returns as attention_take. */
uint32_t attention_wait(struct attention *attention, uint64_t timeout_us);
