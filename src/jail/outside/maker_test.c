#include "jail/outside/maker.h"

#include "base/unit.h"

#include <errno.h>
#include <seccomp.h>
#include <stdbool.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* -EPERM is -1, which is also what "no descriptor" looks like: a group that the kernel refuses must
 * never be taken for a back end without groups. In a child, in which openat fails. */

enum {
	REFUSED = 40,
	OPENED,
	NOT_PREPARED
};

static int openat_refuse(void)
{
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);

	if (!context)
		return -ENOMEM;
	if (seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(openat), 0) < 0 ||
		seccomp_rule_add(context, SCMP_ACT_ERRNO(ENOTTY), SCMP_SYS(sendmsg), 0) < 0)
		return -EINVAL;
	return seccomp_load(context);
}

/* How a child ends that is to start a cell in a tree that nothing can be opened in. */
static int spawn_in_child(const struct cgroup_root *root)
{
	struct cgroup_cell cell;
	const struct network none = { -1, -1 };
	const struct maker_cell wanted = {
		.control_fd = -1, .network = &none, .cgroups = root, .cgroup = &cell
	};
	struct maker maker;
	pid_t pid = fork(), born;
	int status, pidfd, r;

	if (pid == 0) {
		cgroup_cell_init(&cell);
		if (openat_refuse() < 0)
			_exit(NOT_PREPARED);
		maker_init(&maker);
		r = maker_make(&maker, &wanted, &born, &pidfd);
		/* the order comes behind the groups, with sendmsg */
		_exit(r == -EPERM ? REFUSED : r == -ENOTTY ? OPENED : NOT_PREPARED);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_no_cell_is_born_outside_of_a_group_that_is_refused(void **state)
{
	const struct cgroup_root v2 = { WIRE_CGROUP_V2, 0, -1, -1, -1 };
	const struct cgroup_root v1 = { WIRE_CGROUP_V1, 0, 0, 0, 0 };
	const struct cgroup_root v1_alone = { WIRE_CGROUP_V1, -1, 0, 0, 0 };

	assert_int_equal(spawn_in_child(&v2), REFUSED);
	assert_int_equal(spawn_in_child(&v1), REFUSED);
	assert_int_equal(spawn_in_child(&v1_alone), REFUSED);
}

static void test_a_back_end_without_groups_goes_on_without_them(void **state)
{
	const struct cgroup_root none = { WIRE_CGROUP_NONE, -1, -1, -1, -1 };

	assert_int_equal(spawn_in_child(&none), OPENED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_cell_is_born_outside_of_a_group_that_is_refused),
		cmocka_unit_test(test_a_back_end_without_groups_goes_on_without_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
