/*
 * What a home had besides files, when a kept session is filled again. Every name is looked up
 * beneath the home's descriptor, and what is made belongs to the script; a link's text is written
 * and never followed.
 */
#include "jaild/make.h"

#include "base/beneath.h"
#include "base/clock.h"
#include "base/fd.h"
#include "wire/message.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where the last component of a path is or will be. */
struct place {
	int parent_fd;
	char name[NAME_MAX + 1];
};

static int place_find(
	const struct session *session, const char *path, bool is_new, struct place *ret_place)
{
	const struct beneath_owner owner = { session->ids.script_id, session->ids.script_id };

	return beneath_open_parent(session->home.fd, path, is_new ? &owner : NULL, ret_place->name,
		&ret_place->parent_fd);
}

static int make_folder(
	const struct session *session, const struct place *place, const struct wire_make *make)
{
	const struct timespec time = clock_from_ns(make->mtime_ns), times[2] = { time, time };
	bool is_made = mkdirat(place->parent_fd, place->name, 0700) == 0;
	AUTO_CLOSE int fd = -1;

	if (!is_made && errno != EEXIST)
		return -errno;
	fd = beneath_open(place->parent_fd, place->name, O_RDONLY | O_DIRECTORY | O_NONBLOCK, 0);
	if (fd < 0)
		return fd;
	/* mode before owner: afterwards only FOWNER could change it */
	if (fchmod(fd, make->mode) < 0)
		return -errno;
	if (is_made && fchown(fd, session->ids.script_id, session->ids.script_id) < 0)
		return -errno;
	return futimens(fd, times) < 0 ? -errno : 0;
}

static int make_link(const struct session *session, const struct place *place,
	const struct wire_make *make, const char *text)
{
	const struct timespec time = clock_from_ns(make->mtime_ns), times[2] = { time, time };

	if (symlinkat(text, place->parent_fd, place->name) < 0)
		return -errno;
	if (fchownat(place->parent_fd, place->name, session->ids.script_id, session->ids.script_id,
		    AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return utimensat(place->parent_fd, place->name, times, AT_SYMLINK_NOFOLLOW) < 0 ? -errno
											: 0;
}

static int make_same(const struct session *session, const struct place *place, const char *first)
{
	struct place source = { .parent_fd = -1 };
	struct stat status;
	int r = place_find(session, first, false, &source);

	if (r < 0)
		return r;
	if (fstatat(source.parent_fd, source.name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		r = -errno;
	else if (!S_ISREG(status.st_mode))
		r = -EINVAL;
	else if (linkat(source.parent_fd, source.name, place->parent_fd, place->name, 0) < 0)
		r = -errno;
	(void)fd_close(source.parent_fd);
	return r;
}

int make_entry(struct session *session, const struct wire_make *make)
{
	const char *second = make->names + strlen(make->names) + 1;
	struct place place = { .parent_fd = -1 };
	int r;

	if (make->mode & ~0777u)
		return -EINVAL;
	r = place_find(session, make->names, true, &place);
	if (r < 0)
		return r;
	switch ((enum wire_make_kind)make->kind) {
	case WIRE_MAKE_FOLDER:
		r = make_folder(session, &place, make);
		break;
	case WIRE_MAKE_LINK:
		r = make_link(session, &place, make, second);
		break;
	case WIRE_MAKE_SAME:
		r = make_same(session, &place, second);
		break;
	case WIRE_MAKE_KIND_MAX:
	default:
		r = -EINVAL;
	}
	(void)fd_close(place.parent_fd);
	return r;
}
