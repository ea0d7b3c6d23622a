#include "jaild/upload.h"

#include "base/alloc.h"
#include "base/beneath.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/id.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The folder that a file goes to is found once, beneath the home, and held; a script that moves or
 * replaces folders meanwhile changes nothing about where the file ends up. The last component is a
 * name in that folder and is never followed: rename(2) and unlink(2) act on the name itself.
 */

struct upload {
	struct upload *next;
	const struct session *session; /* borrowed: dropped with it */
	uint64_t client;
	uint64_t id;
	int file_fd;
	int parent_fd;
	char name[NAME_MAX + 1];
};

static void upload_free(struct jaild *jaild, struct upload *upload)
{
	for (struct upload **at = &jaild->uploads; *at; at = &(*at)->next) {
		if (*at == upload) {
			*at = upload->next;
			jaild->n_uploads--;
			break;
		}
	}
	(void)fd_close(upload->file_fd);
	(void)fd_close(upload->parent_fd);
	free(upload);
}

static struct upload *upload_find(const struct jaild *jaild, uint64_t id)
{
	for (struct upload *upload = jaild->uploads; upload; upload = upload->next) {
		if (upload->id == id)
			return upload;
	}
	return NULL;
}

/* The script is the owner; mode before owner, since afterwards only FOWNER could change it. */
static int file_make(int parent_fd, const struct session *session, uint32_t mode, int *ret_fd)
{
	AUTO_CLOSE int fd = openat(parent_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	if (fchmod(fd, mode) < 0)
		return -errno;
	if (fchown(fd, session->ids.script_id, session->ids.script_id) < 0)
		return -errno;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int upload_begin(struct session *session, const struct upload_request *request, uint64_t *ret_id,
	int *ret_fd)
{
	struct jaild *jaild = session->jaild;
	struct beneath_owner owner = { session->ids.script_id, session->ids.script_id };
	AUTO_CLOSE int parent_fd = -1;
	AUTO_CLOSE int file_fd = -1;
	char name[NAME_MAX + 1];
	struct upload *upload;
	int r, fd;

	if (request->mode & ~0777u)
		return -ERANGE;
	if (jaild->n_uploads >= UPLOADS_MAX)
		return -EAGAIN;
	r = beneath_open_parent(session->home.fd, request->path, &owner, name, &parent_fd);
	if (r < 0)
		return r;
	r = file_make(parent_fd, session, request->mode, &file_fd);
	if (r < 0)
		return r;
	fd = fcntl(file_fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	upload = xcalloc(1, sizeof(*upload));
	*upload = (struct upload){ .next = jaild->uploads,
		.session = session,
		.client = request->client,
		.id = jaild->next_id++,
		.file_fd = TAKE_FD(file_fd),
		.parent_fd = TAKE_FD(parent_fd) };
	(void)str_copy(upload->name, sizeof(upload->name), name);
	jaild->uploads = upload;
	jaild->n_uploads++;
	*ret_id = upload->id;
	*ret_fd = fd;
	return 0;
}

/* Links the file under a name that nobody else has, and renames it over its own: so the name is
 * there at every moment, first with the old content, then with the new. */
static int file_name(const struct jaild *jaild, const struct upload *upload)
{
	char source[48], id[ID_LEN + 1], temporary[ID_LEN + 16];
	struct stat status;
	int r;

	(void)str_format(source, sizeof(source), "self/fd/%d", upload->file_fd);
	if (linkat(jaild->proc_fd, source, upload->parent_fd, upload->name, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	if (errno != EEXIST)
		return -errno;
	if (fstatat(upload->parent_fd, upload->name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		S_ISDIR(status.st_mode))
		return -EISDIR;
	r = id_make(id);
	if (r < 0)
		return r;
	(void)str_format(temporary, sizeof(temporary), ".cloche-%s", id);
	if (linkat(jaild->proc_fd, source, upload->parent_fd, temporary, AT_SYMLINK_FOLLOW) < 0)
		return -errno;
	if (renameat(upload->parent_fd, temporary, upload->parent_fd, upload->name) == 0)
		return 0;
	r = -errno;
	(void)unlinkat(upload->parent_fd, temporary, 0);
	return r;
}

int upload_commit(struct jaild *jaild, uint64_t id, const int64_t *mtime_ns)
{
	struct upload *upload = upload_find(jaild, id);
	int r = 0;

	if (!upload)
		return -ESRCH;
	if (mtime_ns) {
		const struct timespec times[2] = { clock_from_ns(*mtime_ns),
			clock_from_ns(*mtime_ns) };

		r = futimens(upload->file_fd, times) < 0 ? -errno : 0;
	}
	if (r == 0)
		r = file_name(jaild, upload);
	upload_free(jaild, upload);
	return r;
}

int upload_abort(struct jaild *jaild, uint64_t id)
{
	struct upload *upload = upload_find(jaild, id);

	if (!upload)
		return -ESRCH;
	upload_free(jaild, upload);
	return 0;
}

void uploads_drop_of(struct jaild *jaild, uint64_t client)
{
	struct upload *next;

	for (struct upload *upload = jaild->uploads; upload; upload = next) {
		next = upload->next;
		if (upload->client == client)
			upload_free(jaild, upload);
	}
}

void uploads_drop(struct jaild *jaild, const struct session *session)
{
	struct upload *next;

	for (struct upload *upload = jaild->uploads; upload; upload = next) {
		next = upload->next;
		if (upload->session == session)
			upload_free(jaild, upload);
	}
}

int upload_remove(struct session *session, const char *path)
{
	AUTO_CLOSE int parent_fd = -1;
	char name[NAME_MAX + 1];
	struct stat status;
	int r;

	r = beneath_open_parent(session->home.fd, path, NULL, name, &parent_fd);
	if (r < 0)
		return r;
	if (fstatat(parent_fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	return unlinkat(parent_fd, name, 0) < 0 ? -errno : 0;
}
