/*
 * Theory of operation: runs under way are a list, as there are no more than places and waiters; the
 * ended ones are a ring of ids for each tenant, so that nobody makes another tenant's forgotten;
 * tenants are as many as an administrator has made tokens for. An id is looked for by its hash,
 * since a thousand strings all over the heap are a thousand misses of the cache. One mutex guards
 * both. A cancel raises the run's attention under it, which is a write to an eventfd that never
 * blocks, so the attention cannot go away meanwhile: runs_end takes the same mutex. The mutex is a
 * leaf: nothing else is locked under it.
 */
#include "turns/runs.h"

#include "base/alloc.h"
#include "base/str.h"
#include "turns/attention.h"
#include "turns/queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	struct entry *next;
	struct attention *attention;
	char tenant[QUEUE_TENANT_SIZE];
	char id[RUNS_ID_MAX + 1];
};

/* What a tenant has had. */
struct past {
	struct past *next;
	char tenant[QUEUE_TENANT_SIZE];
	char *ended[RUNS_REMEMBERED]; /* ids, owned */
	uint32_t hashes[RUNS_REMEMBERED];
	size_t at; /* the oldest, which is replaced next */
};

struct runs {
	pthread_mutex_t mutex;
	struct entry *first; /* under way */
	struct past *pasts;
};

struct runs *runs_new(void)
{
	struct runs *runs = xcalloc(1, sizeof(*runs));

	(void)pthread_mutex_init(&runs->mutex, NULL);
	return runs;
}

void runs_free(struct runs *runs)
{
	if (!runs)
		return;
	while (runs->first) {
		struct entry *next = runs->first->next;

		free(runs->first);
		runs->first = next;
	}
	while (runs->pasts) {
		struct past *next = runs->pasts->next;

		for (size_t i = 0; i < RUNS_REMEMBERED; i++)
			free(runs->pasts->ended[i]);
		free(runs->pasts);
		runs->pasts = next;
	}
	(void)pthread_mutex_destroy(&runs->mutex);
	free(runs);
}

bool runs_id_is_valid(const char *id)
{
	static const char allowed[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
	size_t n = strlen(id);

	return n > 0 && n <= RUNS_ID_MAX && strspn(id, allowed) == n;
}

static struct entry *find(const struct runs *runs, const char *tenant, const char *id)
{
	for (struct entry *at = runs->first; at; at = at->next)
		if (strcmp(at->id, id) == 0 && (!tenant || strcmp(at->tenant, tenant) == 0))
			return at;
	return NULL;
}

/* FNV-1a. Who finds ids of one hash makes his own calls slower. */
static uint32_t hash_of(const char *id)
{
	uint32_t hash = 2166136261u;

	for (const char *p = id; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 16777619u;
	return hash;
}

static bool has_ended(const struct runs *runs, const char *tenant, const char *id)
{
	uint32_t hash = hash_of(id);

	for (const struct past *past = runs->pasts; past; past = past->next) {
		if (tenant && strcmp(past->tenant, tenant) != 0)
			continue;
		for (size_t i = 0; i < RUNS_REMEMBERED; i++)
			if (past->hashes[i] == hash && past->ended[i] &&
				strcmp(past->ended[i], id) == 0)
				return true;
	}
	return false;
}

/* The tenant's; made with its first run. */
static struct past *past_get(struct runs *runs, const char *tenant)
{
	struct past *past = runs->pasts;

	while (past && strcmp(past->tenant, tenant) != 0)
		past = past->next;
	if (past)
		return past;
	past = xcalloc(1, sizeof(*past));
	(void)str_copy(past->tenant, sizeof(past->tenant), tenant);
	past->next = runs->pasts;
	runs->pasts = past;
	return past;
}

int runs_begin(struct runs *runs, const char *tenant, const char *id, struct attention *attention)
{
	struct entry *entry = xcalloc(1, sizeof(*entry));
	int r = 0;

	entry->attention = attention;
	if (str_copy(entry->tenant, sizeof(entry->tenant), tenant) < 0 ||
		str_copy(entry->id, sizeof(entry->id), id) < 0) {
		free(entry);
		return -ENAMETOOLONG;
	}
	(void)pthread_mutex_lock(&runs->mutex);
	if (find(runs, tenant, id) || has_ended(runs, tenant, id)) {
		r = -EEXIST;
	} else {
		entry->next = runs->first;
		runs->first = TAKE_PTR(entry);
	}
	(void)pthread_mutex_unlock(&runs->mutex);
	free(entry);
	return r;
}

void runs_end(struct runs *runs, const char *tenant, const char *id)
{
	struct entry *entry = NULL;
	char *ended = xstrdup(id), *forgotten;
	struct past *past;

	(void)pthread_mutex_lock(&runs->mutex);
	for (struct entry **at = &runs->first; *at; at = &(*at)->next)
		if (strcmp((*at)->id, id) == 0 && strcmp((*at)->tenant, tenant) == 0) {
			entry = *at;
			*at = entry->next;
			break;
		}
	past = past_get(runs, tenant);
	forgotten = past->ended[past->at];
	past->ended[past->at] = ended;
	past->hashes[past->at] = hash_of(id);
	past->at = (past->at + 1) % RUNS_REMEMBERED;
	(void)pthread_mutex_unlock(&runs->mutex);
	free(entry);
	free(forgotten);
}

int runs_cancel(struct runs *runs, const char *tenant, const char *id)
{
	struct entry *entry;
	int r = 0;

	(void)pthread_mutex_lock(&runs->mutex);
	entry = find(runs, tenant, id);
	if (entry)
		attention_raise(entry->attention, ATTENTION_CANCEL);
	else
		r = has_ended(runs, tenant, id) ? -EALREADY : -ENOENT;
	(void)pthread_mutex_unlock(&runs->mutex);
	return r;
}
