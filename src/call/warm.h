#pragma once

#include "base/clock.h"

#include <stdbool.h>

struct buf;
struct house;
struct json;

/* What jaild says of the interpreters that runs start from. Both ask it, which takes no run. */

/* Whether the small zygote serves, or there is none to wait for, and a spare session is ready if
 * any are wanted; or whether that has been waited for long enough. */
bool warm_is_settled(struct house *house, unsigned spares_wanted, usec_t since_us);

/* "warm" of GET /v1/info; null while no jaild is there. */
void warm_set(struct house *house, struct json *body);

/* Its lines of GET /metrics; none while no jaild is there. */
void warm_metrics_write(struct house *house, struct buf *out);
