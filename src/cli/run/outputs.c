#include "cli/run/outputs.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fd.h"
#include "cli/base/say.h"
#include "jail/client/jaild.h"
#include "jail/files/collect.h"
#include "sandbox/human.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_SIZE 20000 /* a path of 4,096 bytes with each escaped, and words */

/* Makes the folder of --out with its parents, as `mkdir -p`, and opens it: the person named it, so
 * links in it are followed. Returns a descriptor or -errno. */
static int folder_open(const char *path)
{
	AUTO_FREE char *part = xstrdup(path);
	int fd;

	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(part, 0777) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Shortens a path to its parent: "a/b" to "a", "a" to ".", "/a" to "/". */
static void parent_cut(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		(void)str_copy(path, sizeof("."), "."); /* no shorter than any name */
	else
		slash[slash == path ? 1 : 0] = '\0';
}

/* Whether a file can be made in a folder: root may write into /proc by its permissions, and yet
 * nothing can be made there. Leaves nothing behind. Returns 0 or -errno. */
static int file_try(const char *folder)
{
	AUTO_CLOSE int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	AUTO_FREE char *name = NULL;

	if (fd >= 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return -errno;
	/* A file system without such files: open(2), O_TMPFILE. */
	name = xasprintf("%s/.cloche-XXXXXX", folder);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	(void)unlink(name);
	return 0;
}

int outputs_check(const char *out_dir)
{
	AUTO_FREE char *path = xstrdup(out_dir);
	struct stat st;
	int r;

	/* The nearest folder that is there must take a new name. */
	while (stat(path, &st) < 0 && errno == ENOENT)
		parent_cut(path);
	if (stat(path, &st) < 0)
		return say_usage("--out %s: cannot be used: %s; name another folder", out_dir,
			strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return say_usage("--out %s: %s is no folder; name another one", out_dir, path);
	r = access(path, W_OK | X_OK) < 0 ? -errno : file_try(path);
	if (r < 0)
		return say_usage(
			"--out %s: nothing can be written into %s: %s; name another folder",
			out_dir, path, strerror(-r));
	return 0;
}

static void failed_say(struct str path, const char *why)
{
	AUTO_BUF struct buf name = BUF_INIT(LINE_SIZE);

	say_name(&name, path);
	say("%s: not saved: %s", buf_get_cstr(&name), why);
}

static void saved_say(const char *path, uint64_t size_bytes)
{
	AUTO_BUF struct buf line = BUF_INIT(LINE_SIZE);

	(void)buf_add_str(&line, "wrote ");
	say_name(&line, str_from(path));
	(void)buf_add_str(&line, " (");
	human_bytes(&line, size_bytes);
	(void)buf_add_str(&line, ")\n");
	(void)fd_write_full(STDERR_FILENO, buf_get_cstr(&line), line.len);
}

/* Of what collect_file answers, but 0. */
static const char *collect_error(int error)
{
	if (error == COLLECT_REFUSED)
		return "version control would run commands out of it";
	if (error == -EFBIG)
		return "the files are larger together than the home, through hard links";
	if (error == -ENOTDIR || error == -ELOOP)
		return "something that is no folder, or a link, stands in its place";
	return strerror(-error);
}

/* Takes one file out; fills what became of it. Negative after saying why not. */
static int file_save(const struct outputs_request *request, int out_fd, const struct change *change,
	struct outputs *outputs, struct answer_file *file)
{
	AUTO_FREE char *path = xasprintf("%.*s", STR_ARG(change->path));
	struct collect_request collect = { .out_fd = out_fd,
		.path = change->path,
		.mode = change->mode,
		.max_bytes = request->max_bytes - outputs->data_bytes };
	struct collected done;
	AUTO_CLOSE int fd = -1;
	const char *why = "";
	int r = request->source->open(request->source, path, &fd, &why);

	if (r < 0) {
		failed_say(change->path, why);
		return r;
	}
	collect.from_fd = fd;
	r = collect_file(&collect, &done);
	if (r != 0) {
		failed_say(change->path, collect_error(r));
		return -1;
	}
	outputs->data_bytes += done.data_bytes;
	file->size_bytes = done.size_bytes;
	file->mime = done.mime;
	file->saved = xasprintf("%s%s%s", request->out_dir,
		str_ends(str_from(request->out_dir), STR("/")) ? "" : "/", done.path);
	if (!request->is_quiet)
		saved_say(file->saved, done.size_bytes);
	return 0;
}

void outputs_collect(const struct outputs_request *request, const struct changes *changes,
	struct outputs *ret_outputs)
{
	struct outputs outputs = { .n = changes->n };
	AUTO_CLOSE int out_fd = -1;
	bool is_tried = false;

	outputs.files = xcalloc(changes->n, sizeof(*outputs.files));
	for (size_t i = 0; i < changes->n; i++) {
		const struct change *change = &changes->list[i];
		struct answer_file *file = &outputs.files[i];

		*file = (struct answer_file){ .path = change->path,
			.size_bytes = change->size_bytes,
			.change = change->kind };
		if (change->kind == CHANGE_DELETED)
			continue;
		if (!is_tried) {
			is_tried = true;
			out_fd = folder_open(request->out_dir);
			if (out_fd < 0)
				say("--out %s: cannot be used: %s; name another folder and run it "
				    "again",
					request->out_dir, strerror(-out_fd));
		}
		if (out_fd < 0 || file_save(request, out_fd, change, &outputs, file) < 0)
			outputs.n_failed++;
		else
			outputs.n_saved++;
	}
	*ret_outputs = outputs;
}

void outputs_fini(struct outputs *outputs)
{
	for (size_t i = 0; i < outputs->n; i++)
		free((char *)(uintptr_t)outputs->files[i].saved);
	free(outputs->files);
	*outputs = (struct outputs){ .n = 0 };
}
