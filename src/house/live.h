#pragma once

#include "base/fault.h"

#include <stdbool.h>
#include <stdint.h>

struct house;
struct house_session;

/*
 * What the house knows of live interpreters: which sessions have one, the names of its globals, and
 * of those that are gone why, and which names were lost with them. jaild knows neither; the names
 * are the script's own word (wire/report.h) and are only passed on.
 */

/* Sessions that are gone whose next call is told what its interpreter held; of all tenants, see
 * turns/slots.h. */
#define LIVE_REMEMBERED 1024
/* Of all names of one interpreter, as the bootstrap bounds them too. */
#define LIVE_NAMES_MAX 4096

struct live_loss {
	const char *reason; /* a literal, NULL: nothing was lost */
	char *names;	    /* a newline between them; owned, NULL: none is known */
};

void live_loss_fini(struct live_loss *loss);

/* In a session. */
struct house_live {
	bool is_decided; /* by its first run */
	bool is_on;
	bool was_on; /* of the one of its key before: its first run goes on so, if it asks for
			nothing */
	char *names; /* of the interpreter that lives, NULL */
	struct live_loss loss; /* of the one before, until the next has started */
};

/* These with the house's lock held. */

/* What a run asks for (NULL: as the session is, or was before it was stopped, or "fresh") against
 * what the session is; its first run decides. Returns 0, or -EINVAL with INVALID_FIELD. */
int live_check(const struct house_session *session, const char *state, struct fault *ret_fault);
void live_decide(struct house_session *session, const char *state);
/* Whether it is, or would be if its first run asked for nothing. */
bool live_is_on(const struct house_session *session);

/* The interpreter is gone, for a reason (a literal); what is known of an earlier one that has not
 * been told is older. */
void live_lose(struct house_live *live, const char *reason);

/* The session goes; reason as for house_drop. And it, or another one of its key, is opened. */
void live_leave(struct house *house, struct house_session *session, const char *reason);
void live_recall(struct house *house, struct house_session *session);
void live_fini(struct house_session *session);
void live_memory_fini(struct house *house);
