#pragma once

#include <stdbool.h>
#include <stddef.h>

struct attention;
struct runs;

/* Which runs there are, by tenant and id, so that a cancel finds them, and which there were. */

/* Ended runs of each tenant whose ids are known: a late cancel is told 409 and not 404, and an id
 * is not used twice meanwhile. */
#define RUNS_REMEMBERED 1024

/* The caller frees it once no run is in it. */
struct runs *runs_new(void);
void runs_free(struct runs *runs);

/* Characters of a run's id; decision 22. */
#define RUNS_ID_MAX 64

/* True for 1 to RUNS_ID_MAX of A-Za-z0-9_-. */
bool runs_id_is_valid(const char *id);

/* Enters a run; attention (borrowed until runs_end) is raised by a cancel. Returns 0, or -EEXIST if
 * the tenant has or had a run of this id. */
int runs_begin(struct runs *runs, const char *tenant, const char *id, struct attention *attention);

/* The run has ended: remembers its id. Nobody touches its attention afterwards. */
void runs_end(struct runs *runs, const char *tenant, const char *id);

/* Raises ATTENTION_CANCEL for the run of the tenant (NULL: of any). Returns 0, -ENOENT for an
 * unknown one, -EALREADY for one that has ended. */
int runs_cancel(struct runs *runs, const char *tenant, const char *id);
