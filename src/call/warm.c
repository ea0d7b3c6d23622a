#include "call/warm.h"

#include "base/buf.h"
#include "base/fault.h"
#include "base/macro.h"
#include "house/house.h"
#include "pool/pool.h"
#include "wire/stage.h"
#include "json/json.h"

#include <string.h>

/* Runs work without them, so they are not waited for ever. */
#define SETTLE_LIMIT_US (20 * USEC_PER_S)

/* The modules are told by rows of a table that is built into jaild's zygotes and into us. */
static const struct {
	bool is_data;
	const char *name;
} modules[] = {
#define SMALL		    false
#define DATA		    true
#define PRELOAD(kind, name) { kind, name },
#include "jail/plan/preload.def"
#undef PRELOAD
#undef SMALL
#undef DATA
};

static const char *const kinds[WIRE_ZYGOTES] = { "small", "data" };
static const char *const states[] = { "off", "loading", "serving", "failed" };

static bool status_ask(struct house *house, struct wire_status_is *ret_status)
{
	struct pool *pool = house_pool_get(house);
	struct fault fault;
	struct jaild *jaild = pool_get(pool, 0, &fault);
	int r;

	if (!jaild)
		return false;
	r = jaild_status(jaild, ret_status);
	pool_put(pool, jaild);
	return r == 0;
}

bool warm_is_settled(struct house *house, unsigned spares_wanted, usec_t since_us)
{
	struct wire_status_is status;

	if (clock_now_us() - since_us > SETTLE_LIMIT_US)
		return true;
	return status_ask(house, &status) && status.zygotes[0].state != WIRE_ZYGOTE_LOADING &&
	       (spares_wanted == 0 || status.spares > 0);
}

static void modules_set(struct json *row, const struct wire_zygote *zygote, bool is_data)
{
	struct json *loaded = json_set_array(row, "loaded");
	struct json *absent = json_set_array(row, "absent");

	for (unsigned i = 0; i < ARRAY_SIZE(modules); i++) {
		bool is_there = zygote->loaded & (1ULL << i);

		if (zygote->generation > 0 && modules[i].is_data <= is_data)
			json_add_text(is_there ? loaded : absent, str_from(modules[i].name));
	}
}

void warm_set(struct house *house, struct json *body)
{
	struct wire_status_is status;
	struct json *warm;

	if (!status_ask(house, &status)) {
		json_set_null(body, "warm");
		return;
	}
	warm = json_set_object(body, "warm");
	for (unsigned i = 0; i < WIRE_ZYGOTES; i++) {
		const struct wire_zygote *zygote = &status.zygotes[i];
		struct json *row = json_set_object(warm, kinds[i]);

		json_set_cstr(row, "state",
			zygote->state < ARRAY_SIZE(states) ? states[zygote->state] : "unknown");
		json_set_count(row, "generation", zygote->generation);
		modules_set(row, zygote, i == 1);
		if (zygote->stage != STAGE_NONE)
			json_set_cstr(row, "last_failure", stage_name(zygote->stage));
		else
			json_set_null(row, "last_failure");
		json_set_count(row, "hot_pages", zygote->hot_pages);
		if (zygote->lesson > 0)
			json_set_cstr(row, "lesson_failure", strerror(zygote->lesson));
		else
			json_set_null(row, "lesson_failure");
	}
}

static void metric_head(struct buf *out, const char *name, const char *type, const char *help)
{
	(void)buf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void count_add(struct buf *out, const char *what, const char *kind, uint64_t value)
{
	(void)buf_addf(out, "cloche_zygote_%s_total{kind=\"%s\"} %llu\n", what, kind,
		(unsigned long long)value);
}

void warm_metrics_write(struct house *house, struct buf *out)
{
	struct wire_status_is status;

	if (!status_ask(house, &status))
		return;
	metric_head(out, "cloche_zygote_serving", "gauge", "1 while an interpreter is prepared.");
	for (unsigned i = 0; i < WIRE_ZYGOTES; i++)
		(void)buf_addf(out, "cloche_zygote_serving{kind=\"%s\"} %d\n", kinds[i],
			status.zygotes[i].state == WIRE_ZYGOTE_SERVES);
	metric_head(out, "cloche_zygote_generations_total", "counter",
		"Interpreters that have been prepared.");
	for (unsigned i = 0; i < WIRE_ZYGOTES; i++)
		(void)buf_addf(out, "cloche_zygote_generations_total{kind=\"%s\"} %u\n", kinds[i],
			status.zygotes[i].generation);
	metric_head(out, "cloche_zygote_copies_total", "counter",
		"Copies of them that were asked for.");
	for (unsigned i = 0; i < WIRE_ZYGOTES; i++)
		count_add(out, "copies", kinds[i], status.zygotes[i].copies);
	metric_head(out, "cloche_zygote_runs_total", "counter", "Runs that started as a copy.");
	for (unsigned i = 0; i < WIRE_ZYGOTES; i++)
		count_add(out, "runs", kinds[i], status.zygotes[i].used);
	metric_head(out, "cloche_zygote_memory_kills_total", "counter",
		"Times that the kernel ended one for being over its memory limit.");
	for (unsigned i = 0; i < WIRE_ZYGOTES; i++)
		count_add(out, "memory_kills", kinds[i], status.zygotes[i].kills);
	metric_head(out, "cloche_zygote_missed_total", "counter",
		"Runs that could have started as a copy, and were executed.");
	for (unsigned i = 0; i < WIRE_ZYGOTES; i++)
		count_add(out, "missed", kinds[i], status.zygotes[i].missed);
}
