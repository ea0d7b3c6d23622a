#include "sandbox/human.h"

#include "base/buf.h"
#include "base/macro.h"

#include <inttypes.h>

/* value with at most `decimals` digits behind the point, without zeros at the end. */
static void number_add(struct buf *out, double value, int decimals)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%.*f", decimals, value);

	while (decimals > 0 && n > 0 && (text[n - 1] == '0' || text[n - 1] == '.')) {
		decimals = text[n - 1] == '.' ? 0 : decimals;
		n--;
	}
	(void)buf_add(out, text, n > 0 ? (size_t)n : 0);
}

void human_bytes(struct buf *out, uint64_t bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
	double value = (double)bytes;
	size_t unit = 0;

	/* 1023.95 would be shown as 1024.0 of the smaller unit. */
	while (value >= 1023.95 && unit < 4) {
		value /= 1024;
		unit++;
	}
	number_add(out, value, unit > 0 && value < 100 ? 1 : 0);
	(void)buf_addf(out, " %s", bytes == 1 ? "byte" : units[unit]);
}

void human_duration(struct buf *out, uint64_t us)
{
	static const struct {
		const char *name;
		double s, from_s; /* from_s: where the next one begins */
	} units[] = { { "min", 60, 7200 }, { "h", 3600, 172800 }, { "d", 86400, 0 } };
	double seconds = (double)us / 1e6;

	if (us < 100000) {
		(void)buf_addf(out, "%" PRIu64 " ms", us / 1000);
		return;
	}
	if (seconds < 600) {
		number_add(out, seconds, seconds < 10 ? 2 : seconds < 100 ? 1 : 0);
		(void)buf_add_str(out, " s");
		return;
	}
	/* Nobody reads 2591963 s as a month. */
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (seconds >= units[i].from_s && i + 1 < ARRAY_SIZE(units))
			continue;
		number_add(out, seconds / units[i].s, 0);
		(void)buf_addf(out, " %s", units[i].name);
		return;
	}
}
