#include "cli/run/sixel.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/macro.h"
#include "base/unit.h"

#define HEAD "\033Pq\"1;1;4;7"
#define END  "\033\\"

static void test_pictures(void **state)
{
	static const struct str rows[] = {
		STR(HEAD END),
		STR(HEAD "#0;2;0;50;100#255;2;1;2;3" END),
		STR(HEAD "#0~~~~$#1!4?-#0!3@A-" END),
		STR("\033Pq\"1;1;1000;1000!1000~" END),
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_true(sixel_is_picture(rows[i]));
}

static void test_what_is_none(void **state)
{
	static const struct str rows[] = {
		STR(""),
		STR("\033"),
		STR("\033P"),
		STR(HEAD),
		STR(HEAD "~"),
		STR(HEAD "\033"),
		STR("a" HEAD END),
		STR(HEAD END "a"),
		STR(HEAD END HEAD END), /* two */
		STR(HEAD "\033[31m" END),
		STR(HEAD "~\n~" END),
		STR(HEAD "~\0~" END),
		STR(HEAD "\x18" END), /* CAN would end it for the terminal */
		STR(HEAD "\x9c" END), /* ST in eight bits */
		STR(HEAD "\"1;1;9;9" END),
		STR(HEAD "\x7f" END),
		STR(HEAD " " END),
		STR("\033P0;1q\"1;1;4;7" END),
		STR("\033Pq\"2;1;4;7" END),
		STR("\033Pq\"1;1;0;7" END),
		STR("\033Pq\"1;1;4;0" END),
		STR("\033Pq\"1;1;4" END),
		STR("\033Pq\"1;1;1001;7" END),
		STR("\033Pq\"1;1;4;1001" END),
		STR("\033Pq\"1;1;4;99999999999999999999" END),
		STR(HEAD "#" END),
		STR(HEAD "#256" END),
		STR(HEAD "#1;2" END),
		STR(HEAD "#1;2;0;0" END),
		STR(HEAD "#1;2;0;0;101" END),
		STR(HEAD "#1;1;0;0;0" END), /* HLS */
		STR(HEAD "!" END),
		STR(HEAD "!~" END),
		STR(HEAD "!0~" END),
		STR(HEAD "!5~" END),
		STR(HEAD "!2" END),
		STR(HEAD "!2$" END),
		STR(HEAD "~~~~~" END), /* beyond the right side, */
		STR(HEAD "---" END),   /* below the last row, */
		STR(HEAD "--~" END),
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (sixel_is_picture(rows[i]))
			fail_msg("row %zu passes", i);
}

/* Each colour once in a band is all that a picture needs. */
static void test_a_band_is_not_drawn_without_end(void **state)
{
	AUTO_BUF struct buf text = BUF_INIT(1 << 20);

	(void)buf_add_str(&text, HEAD);
	for (unsigned i = 0; i < SIXEL_COLOURS; i++)
		(void)buf_add_str(&text, "!4~$");
	(void)buf_add_str(&text, "-$" END);
	assert_true(sixel_is_picture(buf_get_slice(&text)));
	text.len -= 4;
	(void)buf_add_str(&text, "$" END);
	assert_true(sixel_is_picture(buf_get_slice(&text)) == false);
}

static void test_too_long(void **state)
{
	size_t n = SIXEL_BYTES_MAX + 1;
	AUTO_FREE char *text = xmalloc(n);

	memset(text, '#', n);
	memcpy(text, HEAD, sizeof(HEAD) - 1);
	for (size_t i = sizeof(HEAD); i < n; i += 2)
		text[i] = '1';
	memcpy(text + n - 3, "1" END, 3);
	assert_true(sixel_is_picture((struct str){ text, n }) == false);
	memcpy(text + n - 4, "1" END, 3);
	assert_true(sixel_is_picture((struct str){ text, n - 1 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pictures),
		cmocka_unit_test(test_what_is_none),
		cmocka_unit_test(test_a_band_is_not_drawn_without_end),
		cmocka_unit_test(test_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
