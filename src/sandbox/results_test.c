#include "sandbox/results.h"

#include "base/buf.h"
#include "base/macro.h"
#include "base/unit.h"
#include "jail/files/snapshot.h"
#include "wire/listing.h"
#include "json/json.h"

static const struct listing_entry regular = { .kind = LISTING_FILE };
static const struct listing_entry linked = { .kind = LISTING_LINK };

static struct snapshot_entry entries[] = {
	{ STR("a.png"), &regular },
	{ STR("b"), &regular },
	{ STR("link.png"), &linked },
	{ STR("z/figure-1.png"), &regular },
};

static const struct snapshot home = { .entries = entries, .n = ARRAY_SIZE(entries) };

static struct report_result of(const char *value, bool is_path)
{
	return (struct report_result){
		.mime = STR("image/png"), .value = str_from(value), .is_path = is_path
	};
}

static void test_only_regular_files_of_the_home_are_told(void **state)
{
	static const char *const names[] = { "a.png", "link.png", "/etc/passwd", "../b", "b", "b/",
		"z/figure-1.png", "z", "nope", "a.pn" };
	struct report report = { .n_results = 0 };
	struct report_result out[REPORT_RESULTS_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		report.results[report.n_results++] = of(names[i], true);
	report.results[report.n_results++] = of("/etc/passwd", false);
	assert_int_equal(results_pick(&report, &home, out), 4);
	assert_true(str_eq(out[0].value, STR("a.png")));
	assert_true(str_eq(out[1].value, STR("b")));
	assert_true(str_eq(out[2].value, STR("z/figure-1.png")));
	assert_true(str_eq(out[3].value, STR("/etc/passwd")) && !out[3].is_path);
	assert_int_equal(results_pick(&report, NULL, out), 1);
	assert_true(!out[0].is_path);
}

static void test_bytes_become_text(void **state)
{
	struct report_result results[] = { of("x\xff\n", false), of("p\xff", true) };
	AUTO_JSON struct json *object = json_object_new();
	AUTO_BUF struct buf out = BUF_INIT(4096);

	results[1].is_main = true;
	results_set(object, results, ARRAY_SIZE(results));
	assert_int_equal(json_write(object, &out), 0);
	assert_string_equal(buf_get_cstr(&out),
		"{\"results\":[{\"mime\":\"image/"
		"png\",\"text\":\"x\xef\xbf\xbd\\n\",\"main\":false},"
		"{\"mime\":\"image/png\",\"path\":\"p\xef\xbf\xbd\",\"path_b64\":\"cP8=\","
		"\"main\":true}]}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_regular_files_of_the_home_are_told),
		cmocka_unit_test(test_bytes_become_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
