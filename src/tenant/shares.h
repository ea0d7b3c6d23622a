#pragma once

#include "base/clock.h"
#include "token/token.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * What all tenants of a server have in common and none may take alone: requests at once, bytes of
 * bodies and of answers in memory, the parsing of large bodies. Each has a bound for one tenant and
 * one for all (of bodies that is http_limits.bodies_max_bytes).
 */

enum shares_kind {
	SHARES_FREE, /* answers at once with few bytes: never counted */
	SHARES_LOOK, /* short, of a bounded length: looks, closes, cancels */
	SHARES_WORK, /* may last: runs and files */
};

struct shares_limits {
	unsigned tenant_work, tenant_all; /* requests of one tenant: works; and looks with them */
	unsigned work, all;		  /* of all tenants */
	size_t tenant_body_bytes;
	size_t tenant_answer_bytes, answer_bytes;
	unsigned parsing; /* of all; one of each tenant */
};

/* Of the 128 requests that are served at once (http/server.h) a quarter is for one tenant: more
 * than the places and waiters that it is likely to have. Eight more are for looks, so that a tenant
 * can cancel what fills its quarter; of the 128, sixteen are never for works, and the last eight
 * for administrators and for what has no token alone. Bodies: two of the largest. Answers: the
 * largest is a page of files, up to 7 MiB if every byte of its names is escaped. */
#define SHARES_LIMITS_DEFAULT                                                                      \
	((struct shares_limits){ .tenant_work = 32,                                                \
		.tenant_all = 40,                                                                  \
		.work = 112,                                                                       \
		.all = 120,                                                                        \
		.tenant_body_bytes = (size_t)24 * 1024 * 1024,                                     \
		.tenant_answer_bytes = (size_t)16 * 1024 * 1024,                                   \
		.answer_bytes = (size_t)64 * 1024 * 1024,                                          \
		.parsing = 4 })

/* SHARES_LIMITS_DEFAULT, but with more for one tenant where so many sessions may be open that it
 * could not use them all: sixteen works more than sessions, up to 96. */
struct shares_limits shares_limits_for(unsigned max_sessions);

#define SHARES_TENANTS_MAX 256 /* with a request under way: more than requests at once */

struct share {
	char tenant[TOKEN_TENANT_MAX + 1];
	unsigned work, look; /* requests; free when both are 0 */
	size_t body_bytes, answer_bytes;
	bool is_parsing;
};

struct shares {
	struct shares_limits limits;
	pthread_mutex_t mutex; /* a leaf; guards all below */
	pthread_cond_t changed;
	unsigned work, look;
	size_t answer_bytes;
	unsigned parsing;
	struct share tenants[SHARES_TENANTS_MAX];
};

/* Until the end of the process. */
void shares_init(struct shares *shares, const struct shares_limits *limits);

/* Begins a request that is a look or a work of a tenant ("": whoever has no token). Returns 0 with
 * *ret_share, which shares_leave gives back; -EDQUOT when the tenant has as many as it may, -EBUSY
 * when all have. A look of an administrator is never refused. */
int shares_enter(struct shares *shares, const char *tenant, enum shares_kind kind, bool is_admin,
	struct share **ret_share);
void shares_leave(struct shares *shares, struct share *share, enum shares_kind kind);

/* Takes n bytes for a body; false: the tenant has no more. */
bool shares_take_body(struct shares *shares, struct share *share, size_t n);
void shares_give_body(struct shares *shares, struct share *share, size_t n);

/* Takes n bytes for an answer, waiting until others are taken by their readers, at most until
 * until_us (clock_now_us). Returns 0; -EDQUOT or -EBUSY as above. With is_certain they are taken in
 * the end whatever the bounds say, and 0 is returned always: the answer is not to be lost. */
int shares_take_answer(
	struct shares *shares, struct share *share, size_t n, usec_t until_us, bool is_certain);
void shares_give_answer(struct shares *shares, struct share *share, size_t n);

/* Waits for the turn to parse a large body: decision 31. */
void shares_parse_begin(struct shares *shares, struct share *share);
void shares_parse_end(struct shares *shares, struct share *share);
