#include "sandbox/results.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/utf8.h"
#include "jail/files/snapshot.h"
#include "wire/listing.h"
#include "json/json.h"

/* The entries are sorted by path. */
static bool holds_file(const struct snapshot *home, struct str path)
{
	size_t low = 0, high = home->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = snapshot_compare(home->entries[middle].path, path);

		if (order == 0)
			return home->entries[middle].is->kind == LISTING_FILE;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

size_t results_pick(
	const struct report *report, const struct snapshot *home, struct report_result *out)
{
	size_t n = 0;

	for (size_t i = 0; i < report->n_results; i++) {
		const struct report_result *result = &report->results[i];

		if (!result->is_path || (home && holds_file(home, result->value)))
			out[n++] = *result;
	}
	return n;
}

static void fill(struct json *object, const struct report_result *result)
{
	AUTO_BUF struct buf encoded = BUF_INIT(BASE64_SIZE(REPORT_PATH_MAX));

	json_set_text(object, "mime", result->mime);
	json_set_text(object, result->is_path ? "path" : "text", result->value);
	if (result->is_path && !utf8_is_valid(result->value.p, result->value.n) &&
		base64_encode(result->value, &encoded) == 0)
		json_set_text(object, "path_b64", buf_get_slice(&encoded));
	json_set_bool(object, "main", result->is_main);
}

struct json *results_make_one(const struct report_result *result)
{
	struct json *object = json_object_new();

	fill(object, result);
	return object;
}

void results_set(struct json *object, const struct report_result *results, size_t n)
{
	struct json *list = json_set_array(object, "results");

	for (size_t i = 0; i < n; i++)
		fill(json_add_object(list), &results[i]);
}
