#pragma once

#include "base/fault.h"
#include "base/str.h"
#include "wire/message.h"

#include <stdbool.h>
#include <stdint.h>

struct house;
struct house_session;
struct visit;

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
	char *names;	       /* of the interpreter that lives, NULL */
	struct live_loss loss; /* of the one before, until the next has started */
};

/* These with the house's lock held. */

/* What a run asks for (NULL: as the session is, or "fresh") against what the session is; its first
 * run decides. Returns 0, or -EINVAL with INVALID_FIELD. */
int live_check(const struct house_session *session, const char *state, struct fault *ret_fault);
void live_decide(struct house_session *session, const char *state);

/* The session goes; reason as for house_drop. And it, or another one of its key, is opened. */
void live_leave(struct house *house, struct house_session *session, const char *reason);
void live_recall(struct house *house, struct house_session *session);
void live_fini(struct house_session *session);
void live_memory_fini(struct house *house);

/* These are a visit's, with a run, and take the lock. */

/* The host has no live state: the session's next run decides. */
void visit_live_refuse(struct visit *visit);

/* A call of the interpreter has begun: of a new one (lost: enum wire_lost of RUN_STARTED) or not.
 * *ret_loss is what is lost with the one before; the caller ends it with live_loss_fini. */
void visit_live_started(
	struct visit *visit, const struct wire_run_started *started, struct live_loss *ret_loss);

/* A run of either kind has ended, with the names that the interpreter has told (.p NULL: the
 * same as before). *ret_loss as above; it will be told to the next interpreter's start once more.
 */
void visit_live_ended(struct visit *visit, const struct wire_run_ended *ended, struct str names,
	struct live_loss *ret_loss);
