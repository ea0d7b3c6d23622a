#include "extent/extent.h"

#include "base/fd.h"
#include "base/macro.h"
#include "base/unit.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB (1024u * 1024)

/* A file with data at 1 MiB and 3 MiB, 4 MiB + 1 byte long; a memfd lies on tmpfs, as homes do. */
static int holes_make(void)
{
	int fd = memfd_create("holes", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "one", 3, MIB), 3);
	assert_int_equal(pwrite(fd, "two", 3, (off_t)3 * MIB), 3);
	assert_int_equal(ftruncate(fd, (off_t)4 * MIB + 1), 0);
	return fd;
}

static void test_holes_are_left_out(void **state)
{
	AUTO_CLOSE int fd = holes_make();
	struct extent extent;
	uint64_t at = 0, bytes = 0;
	unsigned n = 0;

	while (extent_next(fd, at, (uint64_t)4 * MIB + 1, &extent) > 0) {
		assert_true(extent.offset == MIB || extent.offset == (uint64_t)3 * MIB);
		bytes += extent.size;
		at = extent.offset + extent.size;
		n++;
	}
	assert_int_equal(n, 2);
	assert_true(bytes < MIB);
	/* cut at the end that is asked for */
	assert_int_equal(extent_next(fd, 0, MIB + 2, &extent), 1);
	assert_int_equal(extent.size, 2);
	assert_int_equal(extent_next(fd, 0, MIB, &extent), 0);
}

static const struct extent_key one = { .bytes = { 1 } }, two = { .bytes = { 2 } };

static void hash_of(const char *text, size_t split, uint64_t offset, uint64_t ret_hash[2])
{
	struct extent_hash *hash = extent_hash_new(&one);

	extent_hash_begin(hash, offset);
	extent_hash_add(hash, text, split);
	extent_hash_add(hash, text + split, strlen(text) - split);
	extent_hash_end(hash, strlen(text), ret_hash);
	extent_hash_free(hash);
}

static void test_hash_is_of_bytes_and_places(void **state)
{
	uint64_t a[2], b[2];

	hash_of("some bytes", 3, 0, a);
	hash_of("some bytes", 9, 0, b);
	assert_memory_equal(a, b, sizeof(a));
	hash_of("some bytes", 3, 4096, b);
	assert_memory_not_equal(a, b, sizeof(a));
	hash_of("some Bytes", 3, 0, b);
	assert_memory_not_equal(a, b, sizeof(a));
}

static void test_hash_is_of_the_key(void **state)
{
	const struct extent_key *keys[] = { &one, &two, &one };
	uint64_t hashes[ARRAY_SIZE(keys)][2];

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		struct extent_hash *hash = extent_hash_new(keys[i]);

		for (int again = 0; again < 2; again++) { /* one serves file after file */
			uint64_t before[2] = { hashes[i][0], hashes[i][1] };

			extent_hash_begin(hash, 0);
			extent_hash_add(hash, "bytes", 5);
			extent_hash_end(hash, 5, hashes[i]);
			if (again)
				assert_memory_equal(before, hashes[i], sizeof(before));
		}
		extent_hash_free(hash);
	}
	assert_memory_not_equal(hashes[0], hashes[1], sizeof(hashes[0]));
	assert_memory_equal(hashes[0], hashes[2], sizeof(hashes[0]));
}

static void test_keys_are_random(void **state)
{
	struct extent_key a, b;

	extent_key_make(&a);
	extent_key_make(&b);
	assert_memory_not_equal(a.bytes, b.bytes, sizeof(a.bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holes_are_left_out),
		cmocka_unit_test(test_hash_is_of_bytes_and_places),
		cmocka_unit_test(test_hash_is_of_the_key),
		cmocka_unit_test(test_keys_are_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
