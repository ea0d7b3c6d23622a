#include "base/alloc.h"

#include "base/unit.h"

#include <signal.h>
#include <sys/wait.h>

static void test_zero_sizes_give_memory(void **state)
{
	AUTO_FREE void *a = xmalloc(0);
	AUTO_FREE void *b = xcalloc(0, 8);

	assert_non_null(a);
	assert_non_null(b);
}

static void test_calloc_clears(void **state)
{
	AUTO_FREE unsigned char *p = xcalloc(100, 3);

	for (size_t i = 0; i < 300; i++)
		assert_int_equal(p[i], 0);
}

static void test_take_leaves_null(void **state)
{
	AUTO_FREE char *a = xasprintf("%s-%d", "run", 7);
	AUTO_FREE char *b = TAKE_PTR(a);

	assert_null(a);
	assert_string_equal(b, "run-7");
	b = xrealloc(b, 1000);
	assert_string_equal(b, "run-7");
}

static void test_out_of_memory_aborts(void **state)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		volatile size_t n = SIZE_MAX / 2;

		(void)!freopen("/dev/null", "w", stderr);
		signal(SIGABRT, SIG_DFL);
		free(xcalloc(n, 16));
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zero_sizes_give_memory),
		cmocka_unit_test(test_calloc_clears),
		cmocka_unit_test(test_take_leaves_null),
		cmocka_unit_test(test_out_of_memory_aborts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
