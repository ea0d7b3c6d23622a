#include "call/spares.h"

#include "base/log.h"
#include "pool/pool.h"
#include "sandbox/profile.h"
#include "json/json.h"

void spares_ask(struct pool *pool, unsigned wanted, const char *profile)
{
	struct fault fault;
	struct jaild *jaild = pool_get(pool, 0, &fault);
	struct wire_limits limits;
	int r;

	if (!jaild)
		return;
	r = profile_get(profile, &limits, &fault);
	if (r == 0) {
		r = jaild_spares(jaild, wanted, &limits);
		fault = jaild->fault;
	}
	if (r < 0)
		log_error("msg=\"no spare sessions\" cause=%s", LOG_VALUE(fault.text));
	pool_put(pool, jaild);
}

void spares_status(struct pool *pool, struct wire_status_is *ret_status)
{
	struct fault fault;
	struct jaild *jaild = pool_get(pool, 0, &fault);

	if (!jaild || jaild_status(jaild, ret_status) < 0)
		*ret_status = (struct wire_status_is){ 0 };
	if (jaild)
		pool_put(pool, jaild);
}

void spares_tell(struct pool *pool, unsigned wanted, struct json *body)
{
	struct json *spares = json_set_object(body, "spares");
	struct wire_status_is now;

	spares_status(pool, &now);
	json_set_count(spares, "wanted", wanted);
	json_set_count(spares, "ready", now.spares);
}
