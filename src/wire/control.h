#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * What `cloche up` and the supervisor say to each other over a SEQPACKET socket, each a message
 * with descriptors. `up` has the rights to open things; the supervisor is handed what it needs:
 * first START, then KNOWN, TOKENS and JAILD; the last two and AUDIT whenever they change.
 */

#define CONTROL_LISTENERS_MAX 4
#define CONTROL_KNOWN_SIZE    24584 /* turns/known.h */

enum control_type {
	CONTROL_NONE,
	/* up to supervisor */
	CONTROL_START,	/* the audit log for appending, then 1 to CONTROL_LISTENERS_MAX listeners */
	CONTROL_TOKENS, /* a sealed memfd with the lines of token/token.h */
	CONTROL_JAILD,	/* the first connection to a jaild whose word nobody has read yet */
	CONTROL_AUDIT,	/* the audit log anew, after it was moved away */
	CONTROL_KNOWN,	/* memory that outlives supervisors: turns/known.h */
	/* supervisor to up */
	CONTROL_READY, /* a canary has worked, requests are served */
	CONTROL_TYPE_MAX
};

struct control {
	uint32_t type;
	uint32_t owner_uid; /* START: whom the unix socket lets in, besides root; else 0 */
};

/* Checks a received message: its size, its type and the number of its descriptors. Returns 0 or
 * -EBADMSG. */
int control_check(const struct control *control, ssize_t size, size_t n_fds);
