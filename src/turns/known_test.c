#include "turns/known.h"

#include "base/fd.h"
#include "base/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static int memory_make(off_t size, int seals)
{
	int fd = memfd_create("known", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static unsigned count(const struct known *known, uint64_t hash)
{
	unsigned n = 0;

	for (size_t i = 0; i < KNOWN_MAX; i++)
		n += known->slots[i].hash == hash;
	return n;
}

static void test_what_one_writes_the_next_one_reads(void **state)
{
	AUTO_CLOSE int fd = memory_make(KNOWN_SIZE, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	struct known *first, *second;

	assert_int_equal(known_open(fd_dup_above(fd, 3), &first), 0);
	assert_int_equal(first->seed, 0);
	first->seed = 9;
	known_add(first, 7, 1);
	known_add(first, 5, 1);
	known_add(first, 7, 1);
	known_remove(first, 5);
	assert_int_equal(known_open(fd_dup_above(fd, 3), &second), 0);
	assert_int_equal(second->seed, 9);
	assert_int_equal(count(second, 7), 1);
	assert_int_equal(count(second, 5), 0);
}

static void test_no_tenant_has_the_others_forgotten(void **state)
{
	struct known *known;

	assert_int_equal(known_open(-1, &known), 0);
	known_add(known, 1, 1);
	for (uint64_t hash = 2; hash <= 2 * KNOWN_MAX; hash++)
		known_add(known, hash, 2);
	assert_int_equal(count(known, 1), 1);
	assert_int_equal(count(known, 2), 0);
	assert_int_equal(count(known, KNOWN_MAX + 1), 0);
	assert_int_equal(count(known, KNOWN_MAX + 2), 1);
	assert_int_equal(count(known, 2 * KNOWN_MAX), 1);
	for (uint64_t hash = 2; hash <= 2 * KNOWN_MAX; hash++)
		known_remove(known, hash);
	assert_int_equal(count(known, 0), KNOWN_MAX - 1);
}

static void test_memory_of_another_form_is_refused(void **state)
{
	struct known *known = NULL;

	assert_int_equal(known_open(memory_make(KNOWN_SIZE, F_SEAL_GROW), &known), -EINVAL);
	assert_int_equal(known_open(memory_make(KNOWN_SIZE - 1, F_SEAL_SHRINK), &known), -EINVAL);
	assert_int_equal(known_open(open("/dev/null", O_RDWR | O_CLOEXEC), &known), -EINVAL);
	assert_null(known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_one_writes_the_next_one_reads),
		cmocka_unit_test(test_no_tenant_has_the_others_forgotten),
		cmocka_unit_test(test_memory_of_another_form_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
