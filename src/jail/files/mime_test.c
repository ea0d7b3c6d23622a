#include "jail/files/mime.h"

#include "base/unit.h"

struct row {
	const char *name;
	struct str head;
	const char *type;
};

static void test_by_bytes_and_name(void **state)
{
	const struct row rows[] = {
		{ "chart.png", STR("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), "image/png" },
		{ "chart.PNG", STR("\x89PNG\r\n\x1a\n"), "image/png" },
		{ "no extension", STR("%PDF-1.7\n"), "application/pdf" },
		{ "t.xlsx", STR("PK\x03\x04\x14"),
			"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" },
		{ "t.zip", STR("PK\x03\x04"), "application/zip" },
		{ "old.xls", STR("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "application/vnd.ms-excel" },
		{ "v.mp4", STR("\0\0\0 ftypisom\0\0\2\0"), "video/mp4" },
		{ "v.mkv", STR("\x1a\x45\xdf\xa3"), "video/x-matroska" },
		{ "a.wav", STR("RIFF\x24\0\0\0WAVEfmt "), "audio/wav" },
		{ "data.csv", STR("a;b\n1;2\n"), "text/csv" },
		{ "plan.svg", STR("<?xml version='1.0'"), "image/svg+xml" },
		{ "README", STR("hello\n"), "text/plain" },
		{ "empty", STR(""), "text/plain" },
		{ "blob", STR("\0\1\2"), "application/octet-stream" },
		{ "a.tar.gz", STR("\x1f\x8b\x08"), "application/gzip" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(mime_guess(str_from(rows[i].name), rows[i].head), rows[i].type);
}

static void test_bytes_win_over_a_false_name(void **state)
{
	/* A page that shows it as an image must not get a page of its own. */
	assert_string_equal(mime_guess(STR("x.png"), STR("<html><script>")), "text/plain");
	assert_string_equal(mime_guess(STR("x.csv"), STR("\x89PNG\r\n\x1a\n")), "image/png");
	assert_string_equal(
		mime_guess(STR("x.docx"), STR("MZ\x90\0\3")), "application/octet-stream");
	assert_string_equal(mime_guess(STR("x.docx"), STR("%PDF-1.4")), "application/pdf");
}

static void test_short_and_odd_names(void **state)
{
	assert_string_equal(mime_guess(STR(""), STR("")), "text/plain");
	assert_string_equal(mime_guess(STR("."), STR("P")), "text/plain");
	assert_string_equal(mime_guess(STR(".csv"), STR("a,b")), "text/csv");
	assert_string_equal(mime_guess(STR("dir.csv/file"), STR("a,b")), "text/plain");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_bytes_and_name),
		cmocka_unit_test(test_bytes_win_over_a_false_name),
		cmocka_unit_test(test_short_and_odd_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
