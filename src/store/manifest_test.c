#include "store/manifest.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/unit.h"

#include <errno.h>
#include <string.h>

static void put(
	struct manifest *manifest, const char *path, enum manifest_kind kind, const char *text)
{
	struct manifest_entry entry = { .path = xstrdup(path),
		.text = text ? xstrdup(text) : NULL,
		.kind = kind,
		.mode = 0644,
		.mtime_ns = 12345,
		.size_bytes = kind == MANIFEST_FILE ? 7 : 0 };

	manifest_put(manifest, &entry);
}

static void example_make(struct manifest *ret_manifest)
{
	*ret_manifest = (struct manifest){ .head = { .tenant = "t",
						   .key = "k",
						   .profile = "strict",
						   .generation = 3,
						   .runs = 2 } };
	put(ret_manifest, "b/file", MANIFEST_FILE, NULL);
	put(ret_manifest, "b", MANIFEST_FOLDER, NULL);
	put(ret_manifest, "a \n\xff", MANIFEST_FILE, NULL);
	put(ret_manifest, "link", MANIFEST_LINK, "/etc/passwd");
	put(ret_manifest, "same", MANIFEST_SAME, "b/file");
	put(ret_manifest, "b", MANIFEST_FOLDER, NULL); /* replaces */
}

static void test_round_trip(void **state)
{
	AUTO_BUF struct buf bytes = BUF_INIT(MANIFEST_SIZE_MAX);
	struct manifest manifest, again;
	struct manifest_head head;

	example_make(&manifest);
	assert_int_equal(manifest.n, 5);
	assert_int_equal(manifest_format(&manifest, &bytes), 0);
	assert_int_equal(manifest_parse(bytes.data, bytes.len, &again), 0);
	assert_int_equal(again.n, 5);
	assert_string_equal(again.entries[0].path, "a \n\xff");
	assert_string_equal(manifest_find(&again, STR("link"))->text, "/etc/passwd");
	assert_null(manifest_find(&again, STR("lin")));
	assert_int_equal(again.head.files, 3);
	assert_int_equal(again.head.objects, 2);
	assert_int_equal(again.head.files_bytes, 14);
	assert_int_equal(manifest_head_parse(bytes.data, manifest_head_size(), &head), 0);
	assert_string_equal(head.key, "k");
	assert_int_equal(head.generation, 3);
	manifest_remove(&again, 0);
	assert_string_equal(again.entries[0].path, "b");
	manifest_fini(&again);
	manifest_fini(&manifest);
}

static void test_every_cut_is_refused(void **state)
{
	AUTO_BUF struct buf bytes = BUF_INIT(MANIFEST_SIZE_MAX);
	struct manifest manifest, again;

	example_make(&manifest);
	assert_int_equal(manifest_format(&manifest, &bytes), 0);
	for (size_t n = 0; n < bytes.len; n++)
		assert_int_equal(manifest_parse(bytes.data, n, &again), -EBADMSG);
	assert_int_equal(buf_add_char(&bytes, '\0'), 0);
	assert_int_equal(manifest_parse(bytes.data, bytes.len, &again), -EBADMSG);
	manifest_fini(&manifest);
}

static void test_names_that_could_lead_out(void **state)
{
	static const char *const bad[] = { "/a", "a/", "..", "a/../b", "./a", "a//b", "" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(manifest_path_is_valid(str_from(bad[i])));
	assert_false(manifest_path_is_valid(STR("a\0b")));
	assert_true(manifest_path_is_valid(STR("a/..b/c.")));
}

/* A further name of nothing, and names out of order. */
static void test_what_does_not_fit_together(void **state)
{
	AUTO_BUF struct buf bytes = BUF_INIT(MANIFEST_SIZE_MAX);
	struct manifest manifest, again;
	struct manifest_entry entry;

	example_make(&manifest);
	put(&manifest, "same", MANIFEST_SAME, "nowhere");
	assert_int_equal(manifest_format(&manifest, &bytes), 0);
	assert_int_equal(manifest_parse(bytes.data, bytes.len, &again), -EBADMSG);
	put(&manifest, "same", MANIFEST_SAME, "b/file");
	entry = manifest.entries[0];
	manifest.entries[0] = manifest.entries[1];
	manifest.entries[1] = entry;
	buf_clear(&bytes);
	assert_int_equal(manifest_format(&manifest, &bytes), 0);
	assert_int_equal(manifest_parse(bytes.data, bytes.len, &again), -EBADMSG);
	manifest_fini(&manifest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_every_cut_is_refused),
		cmocka_unit_test(test_names_that_could_lead_out),
		cmocka_unit_test(test_what_does_not_fit_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
