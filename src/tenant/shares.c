/*
 * Theory of operation: a table of the tenants that have a request under way, walked under one
 * mutex: there are at most as many as requests. A share is its tenant's row and stays where it is
 * while one of its requests lives, so requests keep a pointer to it.
 *
 * Who waits (for bytes of answers, for a turn to parse) holds its request's place and no lock; what
 * it waits for ends by itself: readers have a deadline (http_limits.answer_ms), parsing is short.
 */
#include "tenant/shares.h"

#include "base/assert.h"
#include "base/macro.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define WORK_MORE 16u /* than sessions: calls that wait, and transfers */
#define WORK_MAX  96u /* of one tenant, of 112 */

struct shares_limits shares_limits_for(unsigned max_sessions)
{
	struct shares_limits limits = SHARES_LIMITS_DEFAULT;
	unsigned looks = limits.tenant_all - limits.tenant_work;
	unsigned work = MIN(max_sessions + WORK_MORE, WORK_MAX);

	limits.tenant_work = MAX(limits.tenant_work, work);
	limits.tenant_all = limits.tenant_work + looks;
	return limits;
}

void shares_init(struct shares *shares, const struct shares_limits *limits)
{
	pthread_condattr_t attributes;
	int r;

	memset(shares, 0, sizeof(*shares));
	shares->limits = *limits;
	(void)pthread_mutex_init(&shares->mutex, NULL);
	r = pthread_condattr_init(&attributes);
	if (r == 0)
		r = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	if (r == 0)
		r = pthread_cond_init(&shares->changed, &attributes);
	assert(r == 0);
	(void)pthread_condattr_destroy(&attributes);
}

/* The tenant's row, or one for it; NULL when all are in use. Under the lock. */
static struct share *share_find(struct shares *shares, const char *tenant)
{
	struct share *unused = NULL;

	for (size_t i = 0; i < SHARES_TENANTS_MAX; i++) {
		struct share *at = &shares->tenants[i];

		if (at->work + at->look == 0)
			unused = unused ? unused : at;
		else if (strcmp(at->tenant, tenant) == 0)
			return at;
	}
	if (unused)
		(void)str_copy(unused->tenant, sizeof(unused->tenant), tenant);
	return unused;
}

/* Under the lock. */
static int enter_check(const struct shares *shares, const struct share *share,
	enum shares_kind kind, bool is_admin)
{
	const struct shares_limits *limits = &shares->limits;

	if (kind == SHARES_LOOK && is_admin)
		return 0;
	if (kind == SHARES_WORK && share->work >= limits->tenant_work)
		return -EDQUOT;
	if (share->work + share->look >= limits->tenant_all)
		return -EDQUOT;
	if (kind == SHARES_WORK && shares->work >= limits->work)
		return -EBUSY;
	return shares->work + shares->look >= limits->all ? -EBUSY : 0;
}

int shares_enter(struct shares *shares, const char *tenant, enum shares_kind kind, bool is_admin,
	struct share **ret_share)
{
	struct share *share;
	int r;

	assert(kind != SHARES_FREE);
	(void)pthread_mutex_lock(&shares->mutex);
	share = share_find(shares, tenant);
	r = share ? enter_check(shares, share, kind, is_admin) : -EBUSY;
	if (r == 0) {
		share->work += kind == SHARES_WORK;
		share->look += kind == SHARES_LOOK;
		shares->work += kind == SHARES_WORK;
		shares->look += kind == SHARES_LOOK;
		*ret_share = share;
	}
	(void)pthread_mutex_unlock(&shares->mutex);
	return r;
}

void shares_leave(struct shares *shares, struct share *share, enum shares_kind kind)
{
	(void)pthread_mutex_lock(&shares->mutex);
	assert(kind == SHARES_WORK ? share->work > 0 : share->look > 0);
	share->work -= kind == SHARES_WORK;
	share->look -= kind == SHARES_LOOK;
	shares->work -= kind == SHARES_WORK;
	shares->look -= kind == SHARES_LOOK;
	(void)pthread_mutex_unlock(&shares->mutex);
}

bool shares_take_body(struct shares *shares, struct share *share, size_t n)
{
	bool is_left;

	(void)pthread_mutex_lock(&shares->mutex);
	is_left = n <= shares->limits.tenant_body_bytes - share->body_bytes;
	if (is_left)
		share->body_bytes += n;
	(void)pthread_mutex_unlock(&shares->mutex);
	return is_left;
}

void shares_give_body(struct shares *shares, struct share *share, size_t n)
{
	(void)pthread_mutex_lock(&shares->mutex);
	assert(n <= share->body_bytes);
	share->body_bytes -= n;
	(void)pthread_mutex_unlock(&shares->mutex);
}

/* Sums, not differences: what was taken as certain may be over the bounds. Under the lock. */
static int answer_check(const struct shares *shares, const struct share *share, size_t n)
{
	if (share->answer_bytes + n > shares->limits.tenant_answer_bytes)
		return -EDQUOT;
	return shares->answer_bytes + n > shares->limits.answer_bytes ? -EBUSY : 0;
}

int shares_take_answer(
	struct shares *shares, struct share *share, size_t n, usec_t until_us, bool is_certain)
{
	const struct timespec until = { .tv_sec = (time_t)(until_us / USEC_PER_S),
		.tv_nsec = (long)(until_us % USEC_PER_S * 1000) };
	int r;

	(void)pthread_mutex_lock(&shares->mutex);
	while ((r = answer_check(shares, share, n)) < 0)
		if (pthread_cond_timedwait(&shares->changed, &shares->mutex, &until) != 0)
			break;
	if (is_certain)
		r = 0;
	if (r == 0) {
		share->answer_bytes += n;
		shares->answer_bytes += n;
	}
	(void)pthread_mutex_unlock(&shares->mutex);
	return r;
}

void shares_give_answer(struct shares *shares, struct share *share, size_t n)
{
	(void)pthread_mutex_lock(&shares->mutex);
	assert(n <= share->answer_bytes && n <= shares->answer_bytes);
	share->answer_bytes -= n;
	shares->answer_bytes -= n;
	(void)pthread_cond_broadcast(&shares->changed);
	(void)pthread_mutex_unlock(&shares->mutex);
}

void shares_parse_begin(struct shares *shares, struct share *share)
{
	(void)pthread_mutex_lock(&shares->mutex);
	while (share->is_parsing || shares->parsing >= shares->limits.parsing)
		(void)pthread_cond_wait(&shares->changed, &shares->mutex);
	share->is_parsing = true;
	shares->parsing++;
	(void)pthread_mutex_unlock(&shares->mutex);
}

void shares_parse_end(struct shares *shares, struct share *share)
{
	(void)pthread_mutex_lock(&shares->mutex);
	share->is_parsing = false;
	shares->parsing--;
	(void)pthread_cond_broadcast(&shares->changed);
	(void)pthread_mutex_unlock(&shares->mutex);
}
