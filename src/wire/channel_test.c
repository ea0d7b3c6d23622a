#include "wire/channel.h"

#include "base/fd.h"

#include "base/unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

/* The kernel's own maximum, SCM_MAX_FD of unix(7). */
#define KERNEL_FDS_MAX 253

struct scene {
	int pair[2];
	int null;
	int fds[CHANNEL_FDS_MAX];
	size_t n_fds;
	char data[64];
};

static int descriptors_count(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	(void)closedir(dir);
	return n;
}

static int scene_open(void **state)
{
	static struct scene scene;

	scene.n_fds = 99;
	scene.null = open("/dev/null", O_RDWR | O_CLOEXEC);
	*state = &scene;
	return scene.null < 0 ? -1 : channel_pair(scene.pair);
}

static int scene_close(void **state)
{
	struct scene *scene = *state;

	channel_close_fds(scene->pair, 2);
	scene->null = fd_close(scene->null);
	return 0;
}

static ssize_t receive(struct scene *scene, size_t cap)
{
	return channel_receive(scene->pair[1], scene->data, cap, scene->fds, &scene->n_fds);
}

static void assert_nothing_handed_over(const struct scene *scene)
{
	assert_int_equal(scene->n_fds, 0);
	for (size_t i = 0; i < CHANNEL_FDS_MAX; i++)
		assert_int_equal(scene->fds[i], -1);
}

/* What channel_send would refuse: any number of copies of fd. */
static void send_raw(int socket, int fd, size_t size, size_t n_fds)
{
	static char bytes[256];
	static union {
		char room[CMSG_SPACE(sizeof(int) * KERNEL_FDS_MAX)];
		struct cmsghdr align;
	} control;
	struct iovec part = { .iov_base = bytes, .iov_len = size };
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int copies[KERNEL_FDS_MAX];

	for (size_t i = 0; i < n_fds; i++)
		copies[i] = fd;
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
	memcpy(CMSG_DATA(header), copies, sizeof(int) * n_fds);
	assert_int_equal(sendmsg(socket, &message, 0), size);
}

static void test_a_pair_keeps_messages_apart_and_is_close_on_exec(void **state)
{
	struct scene *scene = *state;

	for (size_t i = 0; i < 2; i++)
		assert_true(fcntl(scene->pair[i], F_GETFD) & FD_CLOEXEC);
	assert_int_equal(channel_send(scene->pair[0], "one", 3, NULL, 0), 0);
	assert_int_equal(channel_send(scene->pair[0], "three", 5, NULL, 0), 0);
	assert_int_equal(receive(scene, sizeof(scene->data)), 3);
	assert_memory_equal(scene->data, "one", 3);
	assert_nothing_handed_over(scene);
	assert_int_equal(receive(scene, sizeof(scene->data)), 5);
	assert_memory_equal(scene->data, "three", 5);
}

static void test_descriptors_arrive_whole_and_close_on_exec(void **state)
{
	struct scene *scene = *state;
	int before = descriptors_count();
	int sent[CHANNEL_FDS_MAX];
	struct stat here, there;

	for (size_t n = 1; n <= CHANNEL_FDS_MAX; n++) {
		for (size_t i = 0; i < n; i++)
			sent[i] = i % 2 ? scene->pair[0] : scene->null;
		assert_int_equal(channel_send(scene->pair[0], "x", 1, sent, n), 0);
		assert_int_equal(receive(scene, sizeof(scene->data)), 1);
		assert_int_equal(scene->n_fds, n);
		for (size_t i = 0; i < n; i++) {
			assert_true(fcntl(scene->fds[i], F_GETFD) & FD_CLOEXEC);
			assert_int_equal(fstat(scene->fds[i], &there), 0);
			assert_int_equal(fstat(sent[i], &here), 0);
			assert_int_equal(here.st_ino, there.st_ino);
		}
		for (size_t i = n; i < CHANNEL_FDS_MAX; i++)
			assert_int_equal(scene->fds[i], -1);
		channel_close_fds(scene->fds, CHANNEL_FDS_MAX);
		assert_int_equal(descriptors_count(), before);
	}
}

static void test_too_many_descriptors_are_not_sent(void **state)
{
	struct scene *scene = *state;
	int sent[CHANNEL_FDS_MAX + 1];

	for (size_t i = 0; i <= CHANNEL_FDS_MAX; i++)
		sent[i] = scene->null;
	assert_int_equal(channel_send(scene->pair[0], "x", 1, sent, CHANNEL_FDS_MAX + 1), -EINVAL);
	assert_int_equal(fd_set_nonblocking(scene->pair[1]), 0);
	assert_int_equal(receive(scene, 1), -EAGAIN);
	sent[0] = 9999;
	assert_int_equal(channel_send(scene->pair[0], "x", 1, sent, 1), -EBADF);
	assert_int_equal(receive(scene, 1), -EAGAIN);
}

static void test_too_many_descriptors_are_refused_without_a_leak(void **state)
{
	struct scene *scene = *state;
	int before = descriptors_count();

	for (size_t n = CHANNEL_FDS_MAX + 1; n <= KERNEL_FDS_MAX; n += 61) {
		send_raw(scene->pair[0], scene->null, 1, n);
		assert_int_equal(receive(scene, sizeof(scene->data)), -EMSGSIZE);
		assert_nothing_handed_over(scene);
		assert_int_equal(descriptors_count(), before);
	}
	/* The connection goes on. */
	assert_int_equal(channel_send(scene->pair[0], "x", 1, NULL, 0), 0);
	assert_int_equal(receive(scene, sizeof(scene->data)), 1);
}

static void test_a_message_that_does_not_fit_is_refused_without_a_leak(void **state)
{
	struct scene *scene = *state;
	int before = descriptors_count();

	send_raw(scene->pair[0], scene->null, 8, CHANNEL_FDS_MAX);
	assert_int_equal(receive(scene, 8), 8);
	channel_close_fds(scene->fds, CHANNEL_FDS_MAX);
	send_raw(scene->pair[0], scene->null, 9, CHANNEL_FDS_MAX);
	assert_int_equal(receive(scene, 8), -EMSGSIZE);
	assert_nothing_handed_over(scene);
	assert_int_equal(descriptors_count(), before);
	send_raw(scene->pair[0], scene->null, 200, KERNEL_FDS_MAX);
	assert_int_equal(receive(scene, 8), -EMSGSIZE);
	assert_nothing_handed_over(scene);
	assert_int_equal(descriptors_count(), before);
}

/* SO_PASSCRED is set by whoever made the pair: then credentials come before the descriptors. */
static void test_foreign_control_data_never_leaks_descriptors(void **state)
{
	struct scene *scene = *state;
	int before = descriptors_count(), yes = 1;

	assert_int_equal(setsockopt(scene->pair[1], SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)), 0);
	for (size_t n = 1; n <= CHANNEL_FDS_MAX; n++) {
		ssize_t r;

		send_raw(scene->pair[0], scene->null, 1, n);
		r = receive(scene, sizeof(scene->data));
		if (r < 0) {
			assert_nothing_handed_over(scene);
		} else {
			assert_int_equal(scene->n_fds, n);
			channel_close_fds(scene->fds, scene->n_fds);
		}
		assert_int_equal(descriptors_count(), before);
	}
}

static void test_credentials_of_the_sender_are_ignored(void **state)
{
	struct scene *scene = *state;
	struct iovec part = { .iov_base = scene->data, .iov_len = 1 };
	union {
		char room[CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr align;
	} control = { 0 };
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room) };
	struct ucred self = { getpid(), getuid(), getgid() };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_CREDENTIALS;
	header->cmsg_len = CMSG_LEN(sizeof(self));
	memcpy(CMSG_DATA(header), &self, sizeof(self));
	assert_int_equal(sendmsg(scene->pair[0], &message, 0), 1);
	assert_int_equal(receive(scene, sizeof(scene->data)), 1);
	assert_nothing_handed_over(scene);
}

static void test_the_end_is_zero_after_what_was_sent(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(channel_send(scene->pair[0], "last", 4, NULL, 0), 0);
	scene->pair[0] = fd_close(scene->pair[0]);
	assert_int_equal(receive(scene, sizeof(scene->data)), 4);
	assert_int_equal(receive(scene, sizeof(scene->data)), 0);
	assert_nothing_handed_over(scene);
}

/* With its default action SIGPIPE, if raised, would end the test. */
static void test_a_peer_that_is_gone_is_an_error_and_no_signal(void **state)
{
	struct scene *scene = *state;

	(void)signal(SIGPIPE, SIG_DFL);
	scene->pair[1] = fd_close(scene->pair[1]);
	assert_int_equal(channel_send(scene->pair[0], "x", 1, NULL, 0), -EPIPE);
	assert_int_equal(channel_send(scene->pair[0], "x", 1, &scene->null, 1), -EPIPE);
}

static void test_a_peer_that_does_not_read_is_eagain(void **state)
{
	struct scene *scene = *state;
	int r, n = 0;

	assert_int_equal(fd_set_nonblocking(scene->pair[0]), 0);
	while ((r = channel_send(scene->pair[0], scene->data, sizeof(scene->data), NULL, 0)) == 0)
		assert_true(++n < 100000);
	assert_int_equal(r, -EAGAIN);
	assert_int_equal(receive(scene, sizeof(scene->data)), sizeof(scene->data));
}

static void test_errors_of_the_socket_are_passed_up(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(channel_send(-1, "x", 1, NULL, 0), -EBADF);
	assert_int_equal(channel_send(scene->null, "x", 1, NULL, 0), -ENOTSOCK);
	assert_int_equal(channel_receive(-1, scene->data, 1, scene->fds, &scene->n_fds), -EBADF);
	assert_nothing_handed_over(scene);
}

static int alarm_socket;

static void on_alarm(int number)
{
	(void)send(alarm_socket, "woken", 5, 0);
}

static void test_a_signal_does_not_end_a_receive(void **state)
{
	struct scene *scene = *state;
	struct sigaction action = { .sa_handler = on_alarm }; /* without SA_RESTART */
	struct itimerval soon = { .it_value.tv_usec = 20 * 1000 };

	alarm_socket = scene->pair[0];
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
	assert_int_equal(receive(scene, sizeof(scene->data)), 5);
	assert_memory_equal(scene->data, "woken", 5);
	(void)signal(SIGALRM, SIG_DFL);
}

static void test_close_fds_forgets_what_it_closed(void **state)
{
	int before = descriptors_count();
	int fds[3] = { open("/dev/null", O_RDONLY | O_CLOEXEC), -1,
		open("/dev/null", O_RDONLY | O_CLOEXEC) };

	channel_close_fds(fds, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(fds[i], -1);
	channel_close_fds(fds, 3);
	assert_int_equal(descriptors_count(), before);
}

#define ON_SCENE(test) cmocka_unit_test_setup_teardown(test, scene_open, scene_close)

static void test_an_empty_message_with_descriptors_leaks_none(void **state)
{
	struct scene *scene = *state;
	int before = descriptors_count();

	send_raw(scene->pair[0], scene->null, 0, 8);
	assert_true(receive(scene, sizeof(scene->data)) < 0);
	assert_nothing_handed_over(scene);
	assert_int_equal(descriptors_count(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_SCENE(test_a_pair_keeps_messages_apart_and_is_close_on_exec),
		ON_SCENE(test_descriptors_arrive_whole_and_close_on_exec),
		ON_SCENE(test_too_many_descriptors_are_not_sent),
		ON_SCENE(test_too_many_descriptors_are_refused_without_a_leak),
		ON_SCENE(test_a_message_that_does_not_fit_is_refused_without_a_leak),
		ON_SCENE(test_foreign_control_data_never_leaks_descriptors),
		ON_SCENE(test_credentials_of_the_sender_are_ignored),
		ON_SCENE(test_the_end_is_zero_after_what_was_sent),
		ON_SCENE(test_a_peer_that_is_gone_is_an_error_and_no_signal),
		ON_SCENE(test_a_peer_that_does_not_read_is_eagain),
		ON_SCENE(test_errors_of_the_socket_are_passed_up),
		ON_SCENE(test_a_signal_does_not_end_a_receive),
		ON_SCENE(test_close_fds_forgets_what_it_closed),
		ON_SCENE(test_an_empty_message_with_descriptors_leaks_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
