#include "cli/run/convert.h"

#include "base/fd.h"
#include "base/macro.h"
#include "cli/run/graphics.h"
#include "client/files.h"
#include "client/run.h"
#include "sandbox/profile.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANSWER_MS (3u * CONVERT_MS) /* with the wait for a place and the files' listing */

/* Under `strict` and in memory, whatever the person's run or token has. */
static int picture_put(const struct convert_server *server, int png_fd)
{
	struct sandbox_trouble trouble;
	struct sandbox_put put = { .key = server->key,
		.path = STR(CONVERT_FROM),
		.profile = PROFILE_DEFAULT,
		.policy = "ephemeral",
		.fd = png_fd };
	struct stat st;

	if (fstat(png_fd, &st) < 0)
		return -errno;
	if (st.st_size > (off_t)GRAPHICS_PNG_MAX)
		return -EFBIG;
	put.size_bytes = (uint64_t)st.st_size;
	return sandbox_file_put(server->sandbox, &put, &trouble);
}

static int script_run(const struct convert_server *server, const struct convert_script *script)
{
	const struct sandbox_run_request request = { .session = server->key,
		.language = "python",
		.code = script->code,
		.args = script->args,
		.n_args = CONVERT_WORDS,
		.timeout_ms = CONVERT_MS,
		.answer_ms = ANSWER_MS };
	struct sandbox_answer answer;
	struct sandbox_trouble trouble;
	int r = sandbox_run(server->sandbox, &request, NULL, &answer, &trouble);

	if (r < 0)
		return r;
	r = str_eq(answer.reason, STR("exit")) && answer.code == 0 ? 0 : -EPROTO;
	sandbox_answer_fini(&answer);
	return r;
}

static int on_run(
	struct convert *convert, int png_fd, const struct convert_script *script, int *ret_fd)
{
	struct convert_server *server = container_of(convert, struct convert_server, convert);
	AUTO_CLOSE int fd = memfd_create("picture", MFD_CLOEXEC);
	struct sandbox_trouble trouble;
	int r;

	if (fd < 0)
		return -errno;
	(void)str_format(server->key, sizeof(server->key), "picture-%s-%u", server->run_id,
		++server->n_pictures);
	r = picture_put(server, png_fd);
	if (r == 0)
		r = script_run(server, script);
	if (r == 0)
		r = sandbox_file_get(server->sandbox, server->key, STR(CONVERT_TO), fd, &trouble);
	(void)sandbox_session_close(server->sandbox, server->key, &trouble); /* or when idle */
	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	if (r == 0)
		*ret_fd = TAKE_FD(fd);
	return r;
}

void convert_server_init(struct convert_server *server, struct sandbox *sandbox, const char *run_id)
{
	*server = (struct convert_server){
		.convert = { .run = on_run }, .sandbox = sandbox, .run_id = run_id
	};
}
