#include "image/place/place.h"

#include "base/alloc.h"
#include "base/fd.h"
#include "base/str.h"
#include "image/place/hold.h"
#include "image/place/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CURRENT_NEW ".current"
#define LOCK_FILE   ".cloche-lock"
#define LOCK_TRIES  100 /* while others come and go */

bool image_id_is_valid(const char *text)
{
	return strlen(text) == IMAGE_ID_LEN && strspn(text, "0123456789abcdef") == IMAGE_ID_LEN;
}

int image_current(const char *place, char ret_path[PATH_MAX])
{
	char link[PATH_MAX], id[IMAGE_ID_LEN + 1];
	ssize_t n;

	if (str_format(link, sizeof(link), "%s/" IMAGE_CURRENT, place) < 0)
		return -ENOENT;
	n = readlink(link, id, sizeof(id));
	if (n != IMAGE_ID_LEN)
		return -ENOENT;
	id[n] = '\0';
	if (!image_id_is_valid(id) || str_format(ret_path, PATH_MAX, "%s/%s", place, id) < 0)
		return -ENOENT;
	return image_is(ret_path) ? 0 : -ENOENT;
}

bool image_is(const char *path)
{
	char manifest[PATH_MAX];
	struct stat st;

	return str_format(manifest, sizeof(manifest), "%s" IMAGE_MANIFEST, path) == 0 &&
	       lstat(manifest, &st) == 0 && S_ISREG(st.st_mode);
}

struct dated {
	struct image_id id;
	struct timespec made;
};

static int dated_compare(const void *a, const void *b)
{
	const struct dated *left = a, *right = b;

	if (left->made.tv_sec != right->made.tv_sec)
		return left->made.tv_sec < right->made.tv_sec ? -1 : 1;
	return strcmp(left->id.text, right->id.text);
}

int image_list(const char *place, struct image_id ret_ids[IMAGES_MAX])
{
	struct dated found[IMAGES_MAX];
	DIR *dir = opendir(place);
	struct dirent *entry;
	char path[PATH_MAX];
	struct stat st;
	size_t n = 0;
	int r;

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while (n < IMAGES_MAX && (errno = 0, entry = readdir(dir))) {
		if (!image_id_is_valid(entry->d_name) ||
			str_format(path, sizeof(path), "%s/%s" IMAGE_MANIFEST, place,
				entry->d_name) < 0 ||
			lstat(path, &st) < 0)
			continue;
		(void)str_copy(found[n].id.text, sizeof(found[n].id.text), entry->d_name);
		found[n++].made = st.st_mtim;
	}
	r = n < IMAGES_MAX ? -errno : 0; /* 0 at the end of the folder */
	(void)closedir(dir);
	if (r < 0)
		return r;
	qsort(found, n, sizeof(found[0]), dated_compare);
	for (size_t i = 0; i < n; i++)
		ret_ids[i] = found[i].id;
	return (int)n;
}

int image_use(const char *place, const char *id)
{
	char link[PATH_MAX], path[PATH_MAX];

	if (str_format(link, sizeof(link), "%s/" CURRENT_NEW, place) < 0 ||
		str_format(path, sizeof(path), "%s/" IMAGE_CURRENT, place) < 0)
		return -ENAMETOOLONG;
	(void)unlink(link);
	if (symlink(id, link) < 0 || rename(link, path) < 0)
		return -errno;
	return 0;
}

/* Locks the file that has the name at the moment. Returns its descriptor, -EAGAIN if it has lost
 * its name meanwhile, or -errno. */
static int lock_try(const char *path)
{
	AUTO_CLOSE int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct stat ours, named;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	if (fstat(fd, &ours) < 0 || lstat(path, &named) < 0 || ours.st_ino != named.st_ino ||
		ours.st_dev != named.st_dev)
		return -EAGAIN;
	return TAKE_FD(fd);
}

int image_lock(const char *place)
{
	char path[PATH_MAX];
	int r = str_format(path, sizeof(path), "%s/" LOCK_FILE, place);

	if (r < 0)
		return r;
	r = -EAGAIN;
	for (int i = 0; r == -EAGAIN && i < LOCK_TRIES; i++)
		r = lock_try(path);
	return r == -EAGAIN ? -EBUSY : r;
}

void image_unlock(const char *place, int fd)
{
	AUTO_FREE char *path = xasprintf("%s/" LOCK_FILE, place);

	(void)unlink(path); /* while it is ours: whoever waits for it sees that it has no name */
	(void)fd_close(fd);
}

/* The link `current` of the folder, if it leads to this image. */
static void current_drop(const char *folder, const char *path)
{
	AUTO_FREE char *link = xasprintf("%s/" IMAGE_CURRENT, folder);
	char current[PATH_MAX];

	if (image_current(folder, current) == 0 && strcmp(current, path) == 0)
		(void)unlink(link);
}

/* The image at path, in a folder that is locked. */
static int locked_remove(const char *folder, const char *path)
{
	AUTO_FREE char *gone =
		xasprintf("%s/" IMAGE_WORK_PREFIX "%s", folder, strrchr(path, '/') + 1);
	AUTO_CLOSE int claim = image_claim(path, IMAGE_CLAIM_NOW);

	if (claim < 0)
		return claim == -EBUSY ? -ETXTBSY : claim;
	current_drop(folder, path);
	/* renamed first: an image that is half gone must not look like one */
	return rename(path, gone) < 0 ? -errno : tree_remove(gone);
}

int image_remove(const char *path)
{
	const char *slash = strrchr(path, '/');
	AUTO_FREE char *folder = NULL;
	int lock, r;

	if (!slash || slash == path || !image_is(path))
		return -ENOENT;
	folder = xasprintf("%.*s", (int)(slash - path), path);
	lock = image_lock(folder);
	if (lock < 0)
		return lock;
	r = locked_remove(folder, path);
	image_unlock(folder, lock);
	return r;
}

int image_remains_remove(const char *folder, char ret_path[PATH_MAX])
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int r = 0, n = 0;

	if (!dir) {
		r = -errno;
		(void)str_copy(ret_path, PATH_MAX, folder);
		return r;
	}
	while (r == 0 && (errno = 0, entry = readdir(dir))) {
		if (!str_starts(str_from(entry->d_name), STR(IMAGE_WORK_PREFIX)) ||
			str_format(ret_path, PATH_MAX, "%s/%s", folder, entry->d_name) < 0)
			continue;
		r = tree_remove(ret_path);
		n++;
	}
	if (r == 0 && errno != 0) {
		r = -errno;
		(void)str_copy(ret_path, PATH_MAX, folder);
	}
	(void)closedir(dir);
	return r < 0 ? r : n;
}
