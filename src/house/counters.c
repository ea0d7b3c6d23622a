/* One row for each counter; the order of the numbers does not matter to anybody, so no fences. */
#include "house/counters.h"

#include "base/assert.h"

static const struct {
	const char *name;
	const char *help;
} rows[] = {
#define COUNTER(id, name, help) { name, help },
#include "house/counters.def"
#undef COUNTER
};

void counters_add(struct counters *counters, enum counter counter, uint64_t n)
{
	(void)atomic_fetch_add_explicit(&counters->values[counter], n, memory_order_relaxed);
}

uint64_t counters_get(struct counters *counters, enum counter counter)
{
	return atomic_load_explicit(&counters->values[counter], memory_order_relaxed);
}

const char *counter_name(enum counter counter)
{
	assert(counter < COUNTER_MAX);
	return rows[counter].name;
}

const char *counter_help(enum counter counter)
{
	assert(counter < COUNTER_MAX);
	return rows[counter].help;
}
