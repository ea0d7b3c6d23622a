#include "jail/cgroup/cgroup.h"

#include "base/fd.h"

#include "base/unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A v2 tree, played by a temporary folder. */

static char folder[32];
static struct cgroup_root root = { .backend = WIRE_CGROUP_V2, .unified_fd = -1 };

static int folder_make(void **state)
{
	memcpy(folder, "/tmp/cloche-cgroup-XXXXXX", 26);
	if (!mkdtemp(folder))
		return -1;
	root.unified_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return mkdirat(root.unified_fd, "s7", 0700);
}

static int folder_remove(void **state)
{
	(void)unlinkat(root.unified_fd, "s7/memory.peak", 0);
	(void)unlinkat(root.unified_fd, "s7", AT_REMOVEDIR);
	root.unified_fd = fd_close(root.unified_fd);
	return rmdir(folder);
}

static void peak_put(void)
{
	AUTO_CLOSE int fd =
		openat(root.unified_fd, "s7/memory.peak", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_int_equal(fd_write_full(fd, "4096\n", 5), 0);
}

static void test_a_peak_can_be_told_where_the_kernel_has_one(void **state)
{
	struct cgroup_session session;

	cgroup_session_init(&session);
	session.number = 7;
	assert_false(cgroup_run_has_peak(&root, &session)); /* before Linux 5.19 */
	peak_put();
	assert_true(cgroup_run_has_peak(&root, &session));
	session.had_run = true; /* it is of all runs by now */
	assert_false(cgroup_run_has_peak(&root, &session));
	session.peak_fd = 0; /* from 6.12 on it is of the run */
	assert_true(cgroup_run_has_peak(&root, &session));
}

static void test_a_peak_by_back_end(void **state)
{
	const struct cgroup_root none = { .backend = WIRE_CGROUP_NONE, .unified_fd = -1 };
	const struct cgroup_root v1 = { .backend = WIRE_CGROUP_V1, .unified_fd = -1 };
	struct cgroup_session session;

	cgroup_session_init(&session);
	assert_false(cgroup_run_has_peak(&none, &session));
	assert_true(cgroup_run_has_peak(&v1, &session));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_peak_can_be_told_where_the_kernel_has_one,
			folder_make, folder_remove),
		cmocka_unit_test(test_a_peak_by_back_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
