#pragma once

#include "jaild/jaild.h"
#include "wire/message.h"

#include <stdbool.h>

struct cell;
struct session;

/*
 * A session's live interpreter: a cell like a run's whose script goes on with call after call, and
 * stands still in between. While a call is under way its cell is also session->cell, so a session
 * has one run at a time, whichever kind.
 */

struct run_request;

/* Embedded in the session. */
struct live {
	struct cell *cell; /* the interpreter's, NULL: there is none */
	int pidfd;	   /* of the interpreter, to interrupt it */
	int freeze_fd;	   /* cgroup.freeze of its cell, once it was needed */
	uint32_t number;   /* of its last call */
	usec_t freeze_until_us;
	bool is_noted;	      /* of its last call: */
	uint64_t own_bytes;   /* memory without files when it was frozen last */
	uint64_t files_bytes; /* of files in memory that are not the home's, then */
	uint64_t n_processes; /* of its cell when the run beside it began; 0: not known */
	usec_t oom_until_us;  /* so long it is looked at whom the kernel killed; 0: nobody */
	bool is_oom_doubtful; /* it killed while the interpreter died, the run perhaps */
	enum wire_lost lost;  /* why the one before is gone; until the next one starts */
	bool is_lost_told;    /* in a RUN_ENDED; the next start tells it once more */
	bool has_started;     /* the start of the call under way is still to be told: */
	struct wire_run_started started;
	struct timer tell;
};

/* Descriptors that live takes of a session's share: init's two, the interpreter's, freeze_fd. */
#define LIVE_DESCRIPTORS 4

void live_init(struct live *live);

/* A client's call, whose turn it is (jaild/cell/turn.h); it waits for another turn while an
 * interpreter dies. Its descriptors are taken over when it returns true. Returns false with
 * *ret_failure when it could not even be begun: -EOPNOTSUPP without a tree to freeze in, -EINVAL
 * for an unknown flag. */
bool live_call(struct session *session, struct run_request *request, struct failure *ret_failure);

/* Gives the interpreter up; session_settle is called when it is gone. */
void live_end(struct session *session);

/* Reads what the interpreter holds while it stands still, once after each of its calls; to be done
 * before anything of a run beside it is made. */
void live_note(struct session *session);

/* Sets the session's memory limit for a run, and starts its counters. For a fresh run (is_beside)
 * the frozen interpreter's memory comes on top (decision 37). Returns 0 or -errno. */
int live_limit(struct session *session, bool is_beside);

/* Gives up an interpreter that stands still; the reason is told to the run beside it, and at the
 * next one's start. */
void live_lose(struct session *session, enum wire_lost lost);

/* What RUN_ENDED says of the live interpreter: the loss that no run has been told yet, and of its
 * own call the start, if that has not been told. */
void live_tell(const struct cell *cell, struct wire_run_ended *ended);

/* From the cell (cell.c). */

/* Has init start the interpreter. Returns 0 or -errno. */
int live_start(struct cell *cell);
/* It has been executed; pidfd is taken over. */
void live_started(struct cell *cell, int pidfd);
/* The call says that it is over, with this exit status. */
void live_done(struct cell *cell, int status);
/* Interrupts the call; it is killed when that does not end it. False when no call is under way. */
bool live_interrupt(struct cell *cell, enum wire_end end);
/* Nothing of the interpreter lives any more: answers a call that was under way. */
void live_finish(struct cell *cell);
/* Whether an interpreter is on its way out, so that a call has to wait. */
bool live_is_ending(const struct session *session);
