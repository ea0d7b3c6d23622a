#pragma once

#include "base/str.h"
#include "house/live.h"
#include "wire/message.h"

struct visit;

/* Of a visit with a run; each takes the house's lock. */

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
