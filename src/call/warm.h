#pragma once

struct buf;
struct house;
struct json;

/* What jaild says of the interpreters that runs start from. Both ask it, which takes no run. */

/* "warm" of GET /v1/info; null while no jaild is there. */
void warm_set(struct house *house, struct json *body);

/* Its lines of GET /metrics; none while no jaild is there. */
void warm_metrics_write(struct house *house, struct buf *out);
