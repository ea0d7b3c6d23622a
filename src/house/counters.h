#pragma once

#include <stdatomic.h>
#include <stdint.h>

/* What happened since the start, for metrics: atomic numbers without a lock. */

enum counter {
#define COUNTER(id, name, help) COUNTER_##id,
#include "house/counters.def"
#undef COUNTER
	COUNTER_MAX
};

struct counters {
	_Atomic uint64_t values[COUNTER_MAX];
};

/* Adds n to a counter; any thread. */
void counters_add(struct counters *counters, enum counter counter, uint64_t n);
uint64_t counters_get(struct counters *counters, enum counter counter);

/* "sessions_opened_total", and a sentence for people. Literals. */
const char *counter_name(enum counter counter);
const char *counter_help(enum counter counter);
