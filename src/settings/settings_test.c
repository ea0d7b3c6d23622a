#include "settings/settings.h"

#include "base/fault.h"
#include "base/unit.h"

#include <errno.h>

static void test_defaults(void **state)
{
	struct settings settings;

	settings_init(&settings);
	assert_string_equal(settings.listen, "127.0.0.1:17600");
	assert_int_equal(settings.max_sessions, 4);
	assert_int_equal(settings.session_idle_s, 60);
	assert_int_equal(settings.session_max_s, 300);
	assert_int_equal(settings.queue_wait_s, 5);
	assert_int_equal(settings.queue_max, 32);
	assert_string_equal(settings.profile, "strict");
	assert_string_equal(settings.rootfs, "");
}

static void test_file(void **state)
{
	struct settings settings;
	struct fault fault;

	settings_init(&settings);
	assert_int_equal(settings_parse(&settings,
				 STR("max_sessions = 7\n[kept]\nstore_max_bytes = 2G\n"
				     "[jail]\nrootfs = /srv/image # ours\n"),
				 &fault),
		0);
	assert_int_equal(settings.max_sessions, 7);
	assert_int_equal(settings.store_max_bytes, 2ULL << 30);
	assert_string_equal(settings.rootfs, "/srv/image");
}

static void test_refusals_name_the_line(void **state)
{
	static const char *const texts[] = { "\nmax_session = 7", "\nmax_sessions = 0",
		"\nmax_sessions = 4x", "\nlog_level = loud", "[kept]\nmax_sessions = 4",
		"\nmax_sessions" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct settings settings;
		struct fault fault;

		settings_init(&settings);
		assert_int_equal(settings_parse(&settings, str_from(texts[i]), &fault), -EBADMSG);
		assert_non_null(strstr(fault.text, "line 2: "));
	}
}

/* What is got can be set: so the supervisor is given what up has read. */
static void test_get_and_set(void **state)
{
	struct settings a, b;
	char value[SETTING_TEXT_SIZE];
	const char *key;
	struct fault fault;
	unsigned i;

	settings_init(&a);
	settings_init(&b);
	assert_int_equal(settings_set(&a, STR(""), STR("session-idle-s"), STR("5"), &fault), 0);
	for (i = 0; settings_get(&a, i, &key, value) == 0; i++)
		assert_int_equal(
			settings_set(&b, STR(""), str_from(key), str_from(value), &fault), 0);
	assert_int_equal(b.session_idle_s, 5);
	assert_memory_equal(&a, &b, sizeof(a));
	assert_non_null(settings_help(i - 1));
	assert_null(settings_help(i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_refusals_name_the_line),
		cmocka_unit_test(test_get_and_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
