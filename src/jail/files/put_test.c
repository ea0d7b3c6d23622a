#include "jail/files/put.h"

#include "base/fd.h"
#include "base/unit.h"
#include "wire/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct scene {
	struct jaild jaild;
	int fd;	  /* jaild's end */
	int from; /* 7 bytes */
	int to;	  /* where jaild's descriptor leads */
};

static void answer(int fd, unsigned type, uint32_t seq, int sent)
{
	union wire_any message = {
		.header = { .type = (uint16_t)type, .version = WIRE_VERSION, .seq = seq }
	};

	assert_int_equal(channel_send(fd, &message, wire_size(type), &sent, sent >= 0), 0);
}

static void refuse(int fd, uint32_t seq, int error)
{
	struct wire_failed failed = {
		.header = { .type = WIRE_FAILED, .version = WIRE_VERSION, .seq = seq },
		.error = error
	};

	assert_int_equal(channel_send(fd, &failed, sizeof(failed), NULL, 0), 0);
}

static void scene_start(struct scene *scene, const char *to)
{
	int pair[2];

	assert_int_equal(channel_pair(pair), 0);
	jaild_attach(&scene->jaild, pair[0]);
	scene->fd = pair[1];
	scene->from = memfd_create("from", MFD_CLOEXEC);
	assert_int_equal(fd_write_full(scene->from, "content", 7), 0);
	assert_int_equal(lseek(scene->from, 0, SEEK_SET), 0);
	scene->to = to ? open(to, O_WRONLY | O_CLOEXEC) : memfd_create("to", MFD_CLOEXEC);
	assert_true(scene->to >= 0);
	answer(scene->fd, WIRE_UPLOAD_IS, 1, scene->to);
}

static void scene_end(struct scene *scene)
{
	(void)fd_close(scene->from);
	(void)fd_close(scene->to);
	(void)fd_close(scene->fd);
	jaild_stop(&scene->jaild);
}

/* The type of the last of the two requests. */
static unsigned second_request(struct scene *scene)
{
	union wire_any message;
	int fds[CHANNEL_FDS_MAX];
	size_t n_fds;

	assert_true(channel_receive(scene->fd, &message, sizeof(message), fds, &n_fds) > 0);
	assert_true(channel_receive(scene->fd, &message, sizeof(message), fds, &n_fds) > 0);
	return message.header.type;
}

static void test_a_file_is_copied_and_named(void **state)
{
	const struct put_request request = { .session = 1, .path = "x", .max_bytes = 100 };
	struct scene scene;
	uint64_t bytes;
	char text[8];

	scene_start(&scene, NULL);
	answer(scene.fd, WIRE_DONE, 2, -1);
	assert_int_equal(put_file(&scene.jaild, scene.from, &request, &bytes), 0);
	assert_int_equal(bytes, 7);
	assert_int_equal(pread(scene.to, text, sizeof(text), 0), 7);
	assert_memory_equal(text, "content", 7);
	assert_int_equal(second_request(&scene), WIRE_FILE_COMMIT);
	scene_end(&scene);
}

static void test_a_full_home_aborts(void **state)
{
	const struct put_request request = { .session = 1, .path = "x", .max_bytes = 100 };
	struct scene scene;
	uint64_t bytes;

	scene_start(&scene, "/dev/full");
	answer(scene.fd, WIRE_DONE, 2, -1);
	assert_int_equal(put_file(&scene.jaild, scene.from, &request, &bytes), -ENOSPC);
	assert_int_equal(scene.jaild.fault.code, FAULT_HOME_FULL);
	assert_int_equal(second_request(&scene), WIRE_FILE_ABORT);
	scene_end(&scene);
}

static void test_a_file_that_grew_aborts(void **state)
{
	const struct put_request request = { .session = 1, .path = "x", .max_bytes = 6 };
	struct scene scene;
	uint64_t bytes;

	scene_start(&scene, NULL);
	refuse(scene.fd, 2, ENOENT); /* the abort's own failure hides nothing */
	assert_int_equal(put_file(&scene.jaild, scene.from, &request, &bytes), -EFBIG);
	assert_int_equal(scene.jaild.fault.code, FAULT_HOME_FULL);
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_file_is_copied_and_named),
		cmocka_unit_test(test_a_full_home_aborts),
		cmocka_unit_test(test_a_file_that_grew_aborts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
