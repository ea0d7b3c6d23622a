#include "jail/client/jaild.h"

#include "base/fd.h"
#include "base/unit.h"
#include "wire/channel.h"
#include "wire/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* The tests are jaild themselves: numbers of requests are known before (1, 2, ...), so an answer
 * may lie in the socket before it is asked for, and no second process is needed. */
struct peer {
	struct jaild jaild;
	int fd;		     /* jaild's end */
	union wire_any next; /* what answer() sends, but for its head */
};

static void peer_start(struct peer *peer)
{
	int pair[2];

	memset(peer, 0, sizeof(*peer));
	assert_int_equal(channel_pair(pair), 0);
	jaild_attach(&peer->jaild, pair[0]);
	peer->fd = pair[1];
}

static void peer_end(struct peer *peer)
{
	peer->fd = fd_close(peer->fd);
	jaild_stop(&peer->jaild);
}

static void answer(struct peer *peer, unsigned type, uint32_t seq, int fd)
{
	peer->next.header =
		(struct wire_header){ .type = (uint16_t)type, .version = WIRE_VERSION, .seq = seq };
	assert_int_equal(channel_send(peer->fd, &peer->next, wire_size(type), &fd, fd >= 0), 0);
	memset(&peer->next, 0, sizeof(peer->next));
}

static void answer_failed(struct peer *peer, uint32_t seq, int error, unsigned stage)
{
	peer->next.failed.error = error;
	peer->next.failed.stage = stage;
	answer(peer, WIRE_FAILED, seq, -1);
}

static void asked(struct peer *peer, unsigned type, uint32_t seq, union wire_any *ret_message)
{
	int fds[CHANNEL_FDS_MAX];
	size_t n_fds;
	ssize_t n = channel_receive(peer->fd, ret_message, sizeof(*ret_message), fds, &n_fds);

	assert_true(n > 0);
	assert_int_equal(wire_check(ret_message, (size_t)n, n_fds), 0);
	assert_int_equal(ret_message->header.type, type);
	assert_int_equal(ret_message->header.seq, seq);
	channel_close_fds(fds, n_fds);
}

static void is_lost(struct peer *peer)
{
	struct wire_status_is status;

	assert_int_equal(jaild_status(&peer->jaild, &status), -ECONNRESET);
	assert_int_equal(peer->jaild.fault.code, FAULT_SANDBOX_UNAVAILABLE);
	assert_true(strlen(peer->jaild.fault.text) > 10);
	assert_int_equal(peer->jaild.fd, -1);
	/* And stays so. */
	assert_int_equal(jaild_session_close(&peer->jaild, 1), -ECONNRESET);
	assert_int_equal(peer->jaild.fault.code, FAULT_SANDBOX_UNAVAILABLE);
	peer_end(peer);
}

static void test_calls_and_their_answers(void **state)
{
	struct wire_limits limits = { .memory_bytes = 77 };
	struct wire_status_is status;
	union wire_any request;
	uint64_t session = 0;
	struct peer peer;

	peer_start(&peer);
	peer.next.status_is.backend = WIRE_CGROUP_V1;
	answer(&peer, WIRE_STATUS_IS, 1, -1);
	peer.next.session_is.session = 5;
	answer(&peer, WIRE_SESSION_IS, 2, -1);
	answer(&peer, WIRE_DONE, 3, -1);
	assert_int_equal(jaild_status(&peer.jaild, &status), 0);
	assert_int_equal(status.backend, WIRE_CGROUP_V1);
	assert_int_equal(jaild_session_open(&peer.jaild, "key", &limits, &session), 0);
	assert_int_equal(session, 5);
	assert_int_equal(jaild_session_close(&peer.jaild, 5), 0);
	asked(&peer, WIRE_STATUS, 1, &request);
	asked(&peer, WIRE_SESSION_OPEN, 2, &request);
	assert_string_equal(request.session_open.key, "key");
	assert_int_equal(request.session_open.limits.memory_bytes, 77);
	asked(&peer, WIRE_SESSION_CLOSE, 3, &request);
	assert_int_equal(request.session_close.session, 5);
	peer_end(&peer);
}

static void test_a_file_comes_with_its_descriptor(void **state)
{
	AUTO_CLOSE int sent = open("/dev/null", O_RDONLY | O_CLOEXEC);
	AUTO_CLOSE int fd = -1;
	struct wire_file_is file;
	union wire_any request;
	struct peer peer;

	peer_start(&peer);
	peer.next.file_is.size_bytes = 9;
	answer(&peer, WIRE_FILE_IS, 1, sent);
	assert_int_equal(jaild_file_open(&peer.jaild, 3, "a/b\xff", &file, &fd), 0);
	assert_int_equal(file.size_bytes, 9);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	asked(&peer, WIRE_FILE_OPEN, 1, &request);
	assert_string_equal(request.file.path, "a/b\xff");
	assert_int_equal(request.file.session, 3);
	peer_end(&peer);
}

static void test_an_upload_and_its_commit(void **state)
{
	AUTO_CLOSE int sent = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct jaild_upload upload = { .fd = -1 };
	union wire_any request;
	struct peer peer;

	peer_start(&peer);
	peer.next.upload.upload = 8;
	answer(&peer, WIRE_UPLOAD_IS, 1, sent);
	answer_failed(&peer, 2, ENOSPC, STAGE_NONE);
	assert_int_equal(jaild_file_create(&peer.jaild, 3, "x", 0755, &upload), 0);
	assert_int_equal(upload.id, 8);
	assert_int_equal(jaild_file_commit(&peer.jaild, upload.id, NULL), -ENOSPC);
	assert_int_equal(peer.jaild.fault.code, FAULT_HOME_FULL);
	asked(&peer, WIRE_FILE_CREATE, 1, &request);
	assert_int_equal(request.file.mode, 0755);
	asked(&peer, WIRE_FILE_COMMIT, 2, &request);
	assert_int_equal(request.upload.upload, 8);
	(void)fd_close(upload.fd);
	peer_end(&peer);
}

static void test_a_path_that_is_too_long_is_not_sent(void **state)
{
	char path[WIRE_PATH_SIZE + 1];
	struct wire_file_is file;
	struct peer peer;
	int fd;

	memset(path, 'a', sizeof(path));
	path[WIRE_PATH_SIZE] = '\0';
	peer_start(&peer);
	assert_int_equal(jaild_file_open(&peer.jaild, 1, path, &file, &fd), -ENAMETOOLONG);
	assert_int_equal(peer.jaild.seq, 0);
	peer_end(&peer);
}

static void test_a_failed_stage_is_named(void **state)
{
	struct wire_limits limits = { 0 };
	struct peer peer;
	uint64_t session;

	peer_start(&peer);
	answer_failed(&peer, 1, EPERM, STAGE_SESSION_HOME);
	assert_int_equal(jaild_session_open(&peer.jaild, "k", &limits, &session), -EPERM);
	assert_int_equal(peer.jaild.fault.code, FAULT_SANDBOX_UNAVAILABLE);
	assert_string_equal(peer.jaild.fault.stage, stage_name(STAGE_SESSION_HOME));
	assert_true(peer.jaild.fd >= 0); /* refused is not lost */
	peer_end(&peer);
}

static void test_ready_is_the_first_word(void **state)
{
	struct peer peer;

	peer_start(&peer);
	answer(&peer, WIRE_DONE, 0, -1);
	assert_int_equal(jaild_wait_ready(&peer.jaild), 0);
	peer_end(&peer);
	peer_start(&peer);
	answer_failed(&peer, 0, ENOENT, STAGE_ID_RANGE);
	assert_int_equal(jaild_wait_ready(&peer.jaild), -ENOENT);
	assert_string_equal(peer.jaild.fault.stage, stage_name(STAGE_ID_RANGE));
	peer_end(&peer);
	peer_start(&peer);
	peer.fd = fd_close(peer.fd);
	assert_int_equal(jaild_wait_ready(&peer.jaild), -ECONNRESET);
	peer_end(&peer);
}

static void test_the_connection_ends(void **state)
{
	struct peer peer;

	peer_start(&peer);
	peer.fd = fd_close(peer.fd);
	is_lost(&peer);
}

static void test_an_unknown_stage_and_error_do_no_harm(void **state)
{
	struct wire_status_is status;
	struct peer peer;

	peer_start(&peer);
	answer_failed(&peer, 1, -7, 9999);
	assert_int_equal(jaild_status(&peer.jaild, &status), -EPROTO);
	assert_string_equal(peer.jaild.fault.stage, "unknown");
	answer_failed(&peer, 2, 0, STAGE_NONE);
	assert_int_equal(jaild_status(&peer.jaild, &status), -EPROTO);
	peer_end(&peer);
}

static void test_a_malformed_message_ends_the_connection(void **state)
{
	struct wire_done done = { .header = {
					  .type = WIRE_DONE, .version = WIRE_VERSION, .seq = 1 } };
	struct peer peer;

	peer_start(&peer);
	assert_int_equal(channel_send(peer.fd, "x", 1, NULL, 0), 0);
	is_lost(&peer);
	peer_start(&peer);
	assert_int_equal(channel_send(peer.fd, &done, sizeof(done) - 1, NULL, 0), 0);
	is_lost(&peer);
	done.header.version++;
	peer_start(&peer);
	assert_int_equal(channel_send(peer.fd, &done, sizeof(done), NULL, 0), 0);
	is_lost(&peer);
}

static void test_an_answer_of_the_wrong_kind_ends_the_connection(void **state)
{
	AUTO_CLOSE int sent = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct peer peer;

	peer_start(&peer);
	answer(&peer, WIRE_DONE, 1, -1);
	is_lost(&peer);
	peer_start(&peer);
	answer(&peer, WIRE_STATUS, 1, -1); /* a request */
	is_lost(&peer);
	peer_start(&peer);
	answer(&peer, WIRE_STATUS_IS, 7, -1); /* not asked */
	is_lost(&peer);
	peer_start(&peer);
	answer(&peer, WIRE_FILE_IS, 1, sent); /* a descriptor to keep */
	is_lost(&peer);
}

static void test_no_descriptor_leaks(void **state)
{
	int before = open("/dev/null", O_RDONLY | O_CLOEXEC), after;

	(void)fd_close(before);
	test_an_answer_of_the_wrong_kind_ends_the_connection(state);
	test_a_malformed_message_ends_the_connection(state);
	test_a_file_comes_with_its_descriptor(state);
	after = open("/dev/null", O_RDONLY | O_CLOEXEC);
	(void)fd_close(after);
	assert_int_equal(before, after);
}

static void start_fails(const char *program, int error)
{
	const struct jaild_options options = { .program = program };
	struct jaild jaild;

	assert_int_equal(jaild_start(&jaild, &options), error);
	assert_int_equal(jaild.fault.code, FAULT_SANDBOX_UNAVAILABLE);
	assert_true(strlen(jaild.fault.text) > 10);
	jaild_stop(&jaild);
	assert_int_equal(jaild.fd, -1);
	assert_int_equal(jaild.pidfd, -1);
}

static void test_a_program_that_is_no_jaild(void **state)
{
	start_fails("/nowhere/cloche-jaild", -ENOENT);
	start_fails("/bin/true", -ECONNRESET);
	start_fails("/etc/passwd", -EACCES);
}

static void test_stop_is_fine_on_nothing(void **state)
{
	struct jaild jaild = JAILD_INIT;

	jaild_stop(&jaild);
	jaild_stop(&jaild);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_and_their_answers),
		cmocka_unit_test(test_a_file_comes_with_its_descriptor),
		cmocka_unit_test(test_an_upload_and_its_commit),
		cmocka_unit_test(test_a_path_that_is_too_long_is_not_sent),
		cmocka_unit_test(test_a_failed_stage_is_named),
		cmocka_unit_test(test_ready_is_the_first_word),
		cmocka_unit_test(test_the_connection_ends),
		cmocka_unit_test(test_an_unknown_stage_and_error_do_no_harm),
		cmocka_unit_test(test_a_malformed_message_ends_the_connection),
		cmocka_unit_test(test_an_answer_of_the_wrong_kind_ends_the_connection),
		cmocka_unit_test(test_no_descriptor_leaks),
		cmocka_unit_test(test_a_program_that_is_no_jaild),
		cmocka_unit_test(test_stop_is_fine_on_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
