#include "tar/read.h"

#include "base/macro.h"
#include "base/unit.h"
#include "tar/write.h"

#include <errno.h>
#include <string.h>

/* What was told, as text. */
struct told {
	struct tar_sink sink;
	struct buf text;
};

static int on_entry(struct tar_sink *sink, const struct tar_entry *entry)
{
	struct told *told = container_of(sink, struct told, sink);

	return buf_addf(&told->text, "%d %.*s %.*s %o %lld %llu:", (int)entry->kind,
		STR_ARG(entry->path), STR_ARG(entry->target), entry->mode,
		(long long)entry->mtime_ns, (unsigned long long)entry->size_bytes);
}

static int on_data(struct tar_sink *sink, struct str bytes)
{
	return buf_add_slice(&container_of(sink, struct told, sink)->text, bytes);
}

static int on_end(struct tar_sink *sink)
{
	return buf_add_char(&container_of(sink, struct told, sink)->text, '|');
}

/* Reads an archive in pieces of `step` bytes. Returns what the reader did; the text in told. */
static int read_all(struct str tar, size_t step, struct told *told)
{
	struct tar_reader reader;
	int r = 0;

	told->sink = (struct tar_sink){ on_entry, on_data, on_end };
	buf_init(&told->text, 1u << 20);
	tar_reader_init(&reader, &told->sink);
	for (size_t at = 0; r == 0 && at < tar.n; at += step)
		r = tar_reader_feed(&reader, tar.p + at, MIN(step, tar.n - at));
	if (r == 0)
		r = tar_reader_end(&reader);
	tar_reader_fini(&reader);
	return r;
}

static void entry_write(struct buf *tar, const struct tar_entry *entry, const char *bytes)
{
	static const char zeros[TAR_BLOCK];

	assert_int_equal(tar_write_head(entry, tar), 0);
	assert_int_equal(buf_add(tar, bytes, (size_t)entry->size_bytes), 0);
	assert_int_equal(buf_add(tar, zeros, (size_t)tar_padding(entry->size_bytes)), 0);
}

static char long_name[300];

static void example_write(struct buf *tar)
{
	static const char zeros[TAR_END_SIZE];

	memset(long_name, 'n', sizeof(long_name) - 1);
	long_name[150] = '/';
	entry_write(tar,
		&(struct tar_entry){ .path = STR("a file"),
			.target = STR(""),
			.mode = 0640,
			.mtime_ns = 1234567890000000000,
			.size_bytes = 5 },
		"bytes");
	entry_write(tar,
		&(struct tar_entry){ .path = { long_name, 299 },
			.target = STR(""),
			.mode = 0755,
			.mtime_ns = -1500000000,
			.size_bytes = 512 },
		(char[512]){ "x" });
	entry_write(tar,
		&(struct tar_entry){ .kind = TAR_FOLDER,
			.path = STR("folder"),
			.target = STR(""),
			.mode = 0700,
			.mtime_ns = 1 },
		"");
	entry_write(tar,
		&(struct tar_entry){
			.kind = TAR_LINK, .path = STR("link"), .target = { long_name, 200 } },
		"");
	entry_write(tar,
		&(struct tar_entry){
			.kind = TAR_SAME, .path = STR("again\n\xff"), .target = STR("a file") },
		"");
	assert_int_equal(buf_add(tar, zeros, sizeof(zeros)), 0);
}

static void test_round_trip(void **state)
{
	AUTO_BUF struct buf tar = BUF_INIT(1u << 20), expected = BUF_INIT(1u << 20);
	static const size_t steps[] = { 1, 7, 512, 100000 };

	example_write(&tar);
	(void)buf_addf(&expected, "0 a file  640 1234567890000000000 5:bytes|");
	(void)buf_addf(&expected, "0 %s  755 -1500000000 512:", long_name);
	(void)buf_add(&expected, (char[512]){ "x" }, 512);
	(void)buf_addf(&expected, "|1 folder  700 1 0:2 link %.200s 0 0 0:", long_name);
	(void)buf_addf(&expected, "3 again\n\xff a file 0 0 0:");
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		struct told told;

		assert_int_equal(read_all(buf_get_slice(&tar), steps[i], &told), 0);
		assert_int_equal(told.text.len, expected.len);
		assert_memory_equal(told.text.data, expected.data, expected.len);
		buf_fini(&told.text);
	}
}

static void test_every_cut_is_noticed(void **state)
{
	AUTO_BUF struct buf tar = BUF_INIT(1u << 20);
	struct told told;

	example_write(&tar);
	for (size_t n = 0; n < tar.len - TAR_BLOCK; n += 64) {
		assert_int_equal(read_all((struct str){ tar.data, n }, 4096, &told), -EBADMSG);
		buf_fini(&told.text);
	}
}

/* A byte of a head that is another one: the checksum says so. */
static void test_damaged_heads(void **state)
{
	AUTO_BUF struct buf tar = BUF_INIT(1u << 20);
	struct told told;

	example_write(&tar);
	for (size_t i = 0; i < TAR_BLOCK; i += 3) {
		tar.data[i] = (char)(tar.data[i] ^ 0x40);
		assert_int_equal(read_all(buf_get_slice(&tar), 4096, &told), -EBADMSG);
		buf_fini(&told.text);
		tar.data[i] = (char)(tar.data[i] ^ 0x40);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_every_cut_is_noticed),
		cmocka_unit_test(test_damaged_heads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
