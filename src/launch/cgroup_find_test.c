#include "launch/cgroup_find.h"

#include "base/macro.h"

#include "base/unit.h"

/* Samples of real hosts, shortened to a few lines that are not cgroups. */

static struct cgroup_host host;

#define OTHERS                                                                                     \
	"22 28 0:20 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw\n"            \
	"23 28 0:21 / /proc rw,nosuid,nodev,noexec,relatime shared:12 - proc proc rw\n"            \
	"28 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,errors=remount-ro\n"

/* Debian 12, systemd's default */
#define V2                                                                                         \
	OTHERS                                                                                     \
	"30 22 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 "  \
	"rw,nsdelegate,memory_recursiveprot\n"

/* The machines we build on */
#define V1                                                                                         \
	OTHERS                                                                                     \
	"31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"                      \
	"32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"                     \
	"33 31 0:30 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct\n"             \
	"34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"               \
	"35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"               \
	"39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"                   \
	"40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd\n"

/* Debian 10: controllers on v1, the tree without controllers beside them */
#define HYBRID                                                                                     \
	OTHERS                                                                                     \
	"29 25 0:25 / /sys/fs/cgroup ro,nosuid,nodev,noexec shared:9 - tmpfs tmpfs ro,mode=755\n"  \
	"30 29 0:26 / /sys/fs/cgroup/unified rw,nosuid,nodev,noexec,relatime shared:10 - cgroup2 " \
	"cgroup2 rw,nsdelegate\n"                                                                  \
	"31 29 0:27 / /sys/fs/cgroup/systemd rw,nosuid,nodev shared:11 - cgroup cgroup "           \
	"rw,xattr,name=systemd\n"                                                                  \
	"35 29 0:31 / /sys/fs/cgroup/pids rw,nosuid,nodev shared:15 - cgroup cgroup rw,pids\n"     \
	"36 29 0:32 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:16 - cgroup cgroup "             \
	"rw,cpu,cpuacct\n"                                                                         \
	"37 29 0:33 / /sys/fs/cgroup/cpuset rw,nosuid,nodev shared:17 - cgroup cgroup rw,cpuset\n" \
	"40 29 0:36 / /sys/fs/cgroup/memory rw,nosuid,nodev shared:20 - cgroup cgroup rw,memory\n"

#define HYBRID_OWN                                                                                 \
	"11:memory:/user.slice/user-1000.slice/session-2.scope\n"                                  \
	"7:cpu,cpuacct:/user.slice\n"                                                              \
	"6:cpuset:/\n"                                                                             \
	"5:pids:/user.slice/user-1000.slice/session-2.scope\n"                                     \
	"1:name=systemd:/user.slice/user-1000.slice/session-2.scope\n"                             \
	"0::/user.slice/user-1000.slice/session-2.scope\n"

static void find(const char *mountinfo, const char *own)
{
	memset(&host, 0xaa, sizeof(host));
	cgroup_find_in(mountinfo, own, &host);
}

static void assert_no_v1(void)
{
	assert_string_equal(host.memory, "");
	assert_string_equal(host.pids, "");
	assert_string_equal(host.cpu, "");
}

static void test_v2_in_a_scope_of_the_user(void **state)
{
	find(V2, "0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-r1.scope\n");
	assert_int_equal(host.backend, WIRE_CGROUP_V2);
	assert_string_equal(host.unified, "/sys/fs/cgroup/user.slice/user-1000.slice/"
					  "user@1000.service/app.slice/run-r1.scope");
	assert_no_v1();
	assert_string_equal(host.text, "");
}

static void test_v2_in_the_root_group(void **state)
{
	find(V2, "0::/\n");
	assert_int_equal(host.backend, WIRE_CGROUP_V2);
	assert_string_equal(host.unified, "/sys/fs/cgroup");
}

static void test_v1_with_each_controller_in_its_own_group(void **state)
{
	find(V1, "9:name=systemd:/\n8:pids:/\n4:memory:/process_api/b76e\n3:cpuset:/\n"
		 "2:cpuacct:/\n1:cpu:/cpu/group\n");
	assert_int_equal(host.backend, WIRE_CGROUP_V1);
	assert_string_equal(host.memory, "/sys/fs/cgroup/memory/process_api/b76e");
	assert_string_equal(host.pids, "/sys/fs/cgroup/pids");
	assert_string_equal(host.cpu, "/sys/fs/cgroup/cpu/cpu/group");
	assert_string_equal(host.unified, "");
}

static void test_hybrid_has_both_and_joint_controllers(void **state)
{
	find(HYBRID, HYBRID_OWN);
	assert_int_equal(host.backend, WIRE_CGROUP_V1);
	assert_string_equal(
		host.memory, "/sys/fs/cgroup/memory/user.slice/user-1000.slice/session-2.scope");
	assert_string_equal(host.cpu, "/sys/fs/cgroup/cpu,cpuacct/user.slice");
	assert_string_equal(
		host.unified, "/sys/fs/cgroup/unified/user.slice/user-1000.slice/session-2.scope");
}

/* Docker with v1 and no cgroup namespace: the mount shows only the container's part. */
static void test_a_container_whose_mounts_have_a_root(void **state)
{
	static const char mounts[] =
		"900 899 0:31 /docker/5c06 /sys/fs/cgroup/pids ro,nosuid master:15 - cgroup cgroup "
		"rw,pids\n"
		"901 899 0:32 /docker/5c06 /sys/fs/cgroup/cpu,cpuacct ro,nosuid master:16 - cgroup "
		"cgroup rw,cpu,cpuacct\n"
		"902 899 0:36 /docker/5c06 /sys/fs/cgroup/memory ro,nosuid master:20 - cgroup "
		"cgroup rw,memory\n";

	find(mounts, "11:memory:/docker/5c06\n7:cpu,cpuacct:/docker/5c06/inner\n"
		     "5:pids:/docker/5c06\n0::/\n");
	assert_int_equal(host.backend, WIRE_CGROUP_V1);
	assert_string_equal(host.memory, "/sys/fs/cgroup/memory");
	assert_string_equal(host.cpu, "/sys/fs/cgroup/cpu,cpuacct/inner");
	assert_string_equal(host.pids, "/sys/fs/cgroup/pids");
}

/* With v2 and a cgroup namespace both the root and the path are "/". */
static void test_a_container_with_a_cgroup_namespace(void **state)
{
	find("740 739 0:26 / /sys/fs/cgroup ro,nosuid,nodev,noexec,relatime - cgroup2 cgroup "
	     "rw,nsdelegate\n",
		"0::/\n");
	assert_int_equal(host.backend, WIRE_CGROUP_V2);
	assert_string_equal(host.unified, "/sys/fs/cgroup");
}

static void test_without_any_tree_the_remedy_is_named(void **state)
{
	find(OTHERS, "0::/\n");
	assert_int_equal(host.backend, WIRE_CGROUP_NONE);
	assert_non_null(strstr(host.text, "mount -t cgroup2"));
	assert_string_equal(host.unified, "");
	find("", "");
	assert_int_equal(host.backend, WIRE_CGROUP_NONE);
	find("\n\n\n", "\n\n");
	assert_int_equal(host.backend, WIRE_CGROUP_NONE);
}

/* Two of the three controllers on v1 are no back end. */
static void test_an_incomplete_v1_is_not_used(void **state)
{
	find("35 31 0:32 / /m rw - cgroup cgroup rw,memory\n"
	     "39 31 0:36 / /p rw - cgroup cgroup rw,pids\n"
	     "41 31 0:38 / /u rw - cgroup2 cgroup2 rw\n",
		"4:memory:/\n8:pids:/\n0::/\n");
	assert_int_equal(host.backend, WIRE_CGROUP_V2);
	assert_string_equal(host.unified, "/u");
	find("35 31 0:32 / /m rw - cgroup cgroup rw,memory\n"
	     "39 31 0:36 / /p rw - cgroup cgroup rw,pids\n",
		"4:memory:/\n8:pids:/\n0::/\n");
	assert_int_equal(host.backend, WIRE_CGROUP_NONE);
}

static void test_a_tree_that_we_are_not_in_is_not_used(void **state)
{
	find(V2, "4:memory:/\n");
	assert_int_equal(host.backend, WIRE_CGROUP_NONE);
	find(V1, "0::/\n");
	assert_int_equal(host.backend, WIRE_CGROUP_NONE);
}

static void test_controllers_are_whole_words(void **state)
{
	find("32 31 0:29 / /a rw - cgroup cgroup rw,cpuset,cpuacct\n"
	     "33 31 0:30 / /b rw - cgroup cgroup rw,memory_x\n"
	     "34 31 0:31 / /c rw - cgroup cgroup rw,name=pids\n",
		"1:cpuset,cpuacct:/\n2:memory_x:/\n3:name=pids:/\n4:cpu:/\n5:memory:/\n6:pids:/\n");
	assert_no_v1();
	assert_int_equal(host.backend, WIRE_CGROUP_NONE);
}

static void test_optional_fields_may_be_none_or_many(void **state)
{
	find("30 22 0:26 / /one rw - cgroup2 cgroup2 rw\n", "0::/g\n");
	assert_string_equal(host.unified, "/one/g");
	find("30 22 0:26 / /two rw shared:1 master:2 propagate_from:3 unbindable - cgroup2 x rw\n",
		"0::/g\n");
	assert_string_equal(host.unified, "/two/g");
}

/* The type counts, not the name of a mount or of its source. */
static void test_a_mount_that_is_only_called_cgroup2_is_none(void **state)
{
	find("30 22 0:26 / /sys/fs/cgroup rw - tmpfs cgroup2 rw\n"
	     "31 22 0:27 / /cgroup2 rw - ext4 /dev/vda rw,cgroup2\n",
		"0::/\n");
	assert_int_equal(host.backend, WIRE_CGROUP_NONE);
}

static void test_paths_may_hold_colons(void **state)
{
	find(V2, "0::/system.slice/a:b.scope\n");
	assert_string_equal(host.unified, "/sys/fs/cgroup/system.slice/a:b.scope");
}

/* delegate.c has moved us there so that our group may have children: the place is the group. */
static void test_outside_is_left_again_on_v2_only(void **state)
{
	find(V2, "0::/system.slice/run-r1.scope/" CGROUP_OUTSIDE "\n");
	assert_string_equal(host.unified, "/sys/fs/cgroup/system.slice/run-r1.scope");
	find(V2, "0::/" CGROUP_OUTSIDE "\n");
	assert_string_equal(host.unified, "/sys/fs/cgroup");
	find(V2, "0::/not" CGROUP_OUTSIDE "\n");
	assert_string_equal(host.unified, "/sys/fs/cgroup/not" CGROUP_OUTSIDE);
	find(V2, "0::/" CGROUP_OUTSIDE "/below\n");
	assert_string_equal(host.unified, "/sys/fs/cgroup/" CGROUP_OUTSIDE "/below");
	find(V1, "8:pids:/\n4:memory:/" CGROUP_OUTSIDE "\n1:cpu:/\n");
	assert_string_equal(host.memory, "/sys/fs/cgroup/memory/" CGROUP_OUTSIDE);
}

static void test_cut_lines_are_no_mounts(void **state)
{
	static const char line[] = "30 22 0:26 / /sys/fs/cgroup rw - cgroup2";
	char cut[sizeof(line)];

	for (size_t n = 0; n < sizeof(line) - 1; n++) {
		memcpy(cut, line, n);
		cut[n] = '\0';
		find(cut, "0::/\n");
		assert_int_equal(host.backend, WIRE_CGROUP_NONE);
	}
}

static void test_a_path_that_does_not_fit_is_no_place(void **state)
{
	static char own[PATH_MAX + 16] = "0::/";

	memset(own + 4, 'x', PATH_MAX);
	find(V2, own);
	assert_string_equal(host.unified, "");
	assert_int_equal(host.backend, WIRE_CGROUP_NONE);
}

static void test_the_host_itself_can_be_looked_at(void **state)
{
	memset(&host, 0xaa, sizeof(host));
	cgroup_find(&host);
	assert_true(host.backend == WIRE_CGROUP_NONE || host.backend == WIRE_CGROUP_V1 ||
		    host.backend == WIRE_CGROUP_V2);
	assert_int_equal(host.backend == WIRE_CGROUP_NONE, host.text[0] != '\0');
	if (host.backend == WIRE_CGROUP_V1)
		assert_int_equal(host.memory[0], '/');
	if (host.backend == WIRE_CGROUP_V2)
		assert_int_equal(host.unified[0], '/');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_v2_in_a_scope_of_the_user),
		cmocka_unit_test(test_v2_in_the_root_group),
		cmocka_unit_test(test_v1_with_each_controller_in_its_own_group),
		cmocka_unit_test(test_hybrid_has_both_and_joint_controllers),
		cmocka_unit_test(test_a_container_whose_mounts_have_a_root),
		cmocka_unit_test(test_a_container_with_a_cgroup_namespace),
		cmocka_unit_test(test_without_any_tree_the_remedy_is_named),
		cmocka_unit_test(test_an_incomplete_v1_is_not_used),
		cmocka_unit_test(test_a_tree_that_we_are_not_in_is_not_used),
		cmocka_unit_test(test_controllers_are_whole_words),
		cmocka_unit_test(test_optional_fields_may_be_none_or_many),
		cmocka_unit_test(test_a_mount_that_is_only_called_cgroup2_is_none),
		cmocka_unit_test(test_paths_may_hold_colons),
		cmocka_unit_test(test_outside_is_left_again_on_v2_only),
		cmocka_unit_test(test_cut_lines_are_no_mounts),
		cmocka_unit_test(test_a_path_that_does_not_fit_is_no_place),
		cmocka_unit_test(test_the_host_itself_can_be_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
