#include "cli/run/graphics.h"

#include "base/alloc.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/macro.h"
#include "base/unit.h"

#include <errno.h>
#include <string.h>

static void test_replies(void **state)
{
	static const struct {
		struct str reply;
		bool is_whole;
		enum graphics graphics;
	} rows[] = {
		{ STR(""), false, GRAPHICS_NONE },
		{ STR("\033_Gi=31;OK\033\\\033[?62;4c"), true, GRAPHICS_KITTY },
		{ STR("\033_Gi=31;ENOTSUPPORTED\033\\\033[?62c"), true, GRAPHICS_NONE },
		{ STR("\033_Gi=31;ENOTSUPPORTED\033\\\033[?62;4c"), true, GRAPHICS_SIXEL },
		{ STR("\033[?1;2c"), true, GRAPHICS_NONE },
		{ STR("\033[?62;1;4;22c"), true, GRAPHICS_SIXEL },
		{ STR("\033[?63;1;2;4c"), true, GRAPHICS_SIXEL },
		{ STR("\033[?4;6c"), true, GRAPHICS_NONE }, /* a VT132 */
		{ STR("\033[?62;14;40;24c"), true, GRAPHICS_NONE },
		{ STR("\033[?62;;c"), true, GRAPHICS_NONE },
		{ STR("\033[?c;4"), true, GRAPHICS_NONE },
		{ STR("\033[?62;4"), false, GRAPHICS_NONE },
		{ STR("abc\033[?1;2"), false, GRAPHICS_NONE },
		{ STR("c\033[?"), false, GRAPHICS_NONE },
		{ STR("typed ahead\033_Gi=31;OK\033\\"), false, GRAPHICS_KITTY },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(graphics_is_whole(rows[i].reply), rows[i].is_whole);
		assert_int_equal(graphics_from(rows[i].reply), rows[i].graphics);
	}
}

static void test_a_small_png_is_one_chunk(void **state)
{
	AUTO_BUF struct buf out = BUF_INIT(4096);

	assert_int_equal(graphics_add_png(STR("\x89PNG\r\n\x1a\nX"), &out), 0);
	assert_string_equal(buf_get_cstr(&out), "\033_Ga=T,f=100,m=0;iVBORw0KGgpY\033\\\n");
}

static void test_what_is_no_png_is_not_sent(void **state)
{
	AUTO_BUF struct buf out = BUF_INIT(4096);

	assert_int_equal(graphics_add_png(STR("\033[31mhello world"), &out), -EINVAL);
	assert_int_equal(graphics_add_png(STR(""), &out), -EINVAL);
	assert_int_equal(out.len, 0);
}

/* All chunks together are the picture, none is over the bound, and no byte of it is itself there.
 */
static void test_a_large_png_is_cut_into_chunks(void **state)
{
	static char png[30000] = "\x89PNG\r\n\x1a\n";
	AUTO_BUF struct buf out = BUF_INIT(1 << 20), joined = BUF_INIT(1 << 20),
			    back = BUF_INIT(1 << 20);
	const char *p;

	memset(png + 8, '\033', sizeof(png) - 8);
	assert_int_equal(graphics_add_png((struct str){ .p = png, .n = sizeof(png) }, &out), 0);
	p = buf_get_cstr(&out);
	for (int i = 0; *p != '\n'; i++) {
		const char *text = strchr(p, ';') + 1, *end = strchr(text, '\033');
		bool is_last = end[2] == '\n';

		assert_int_equal(
			strncmp(p, i == 0 ? "\033_Ga=T,f=100,m=1;" : "\033_Gm=", i == 0 ? 17 : 5),
			0);
		assert_int_equal(text[-2], is_last ? '0' : '1');
		assert_true(end - text <= 4096 && end[1] == '\\');
		assert_int_equal(buf_add(&joined, text, (size_t)(end - text)), 0);
		p = end + 2;
	}
	assert_int_equal(base64_decode(buf_get_slice(&joined), &back), 0);
	assert_int_equal(back.len, sizeof(png));
	assert_memory_equal(back.data, png, sizeof(png));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replies),
		cmocka_unit_test(test_a_small_png_is_one_chunk),
		cmocka_unit_test(test_what_is_no_png_is_not_sent),
		cmocka_unit_test(test_a_large_png_is_cut_into_chunks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
