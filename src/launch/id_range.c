#include "launch/id_range.h"

#include "base/buf.h"
#include "base/macro.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdbool.h>
#include <unistd.h>

/* Lines of subuid(5) are name:first:count. Lines that are not are skipped, as shadow does. */

/* A host with thousands of users has some 100 KiB. */
#define SUBID_FILE_MAX (4u * 1024 * 1024)

struct line {
	struct str name;
	uint64_t first;
	uint64_t count;
};

static bool line_next(struct str *text, struct line *ret)
{
	while (text->n > 0) {
		struct str line, rest, numbers, first, count;

		(void)str_split_once(*text, '\n', &line, &rest);
		*text = rest;
		if (str_split_once(str_trim(line), ':', &ret->name, &numbers) &&
			str_split_once(numbers, ':', &first, &count) &&
			str_to_u64(first, UINT32_MAX, &ret->first) == 0 &&
			str_to_u64(count, UINT32_MAX, &ret->count) == 0)
			return true;
	}
	return false;
}

int id_range_parse(
	struct str text, const char *name, uint32_t uid, uint32_t *ret_first, uint32_t *ret_count)
{
	char number[16];
	struct line line;

	(void)str_format(number, sizeof(number), "%" PRIu32, uid);
	while (line_next(&text, &line)) {
		if (!str_eq(line.name, str_from(name)) && !str_eq(line.name, str_from(number)))
			continue;
		if (line.count < ID_RANGE_MIN || line.first + line.count > UINT32_MAX)
			continue;
		*ret_first = (uint32_t)line.first;
		*ret_count = (uint32_t)(line.count < ID_RANGE_COUNT ? line.count : ID_RANGE_COUNT);
		return 0;
	}
	return -ENOENT;
}

int id_range_overlaps(struct str text, uint32_t first, uint32_t count)
{
	struct line line;

	while (line_next(&text, &line)) {
		if (line.count > 0 && line.first < (uint64_t)first + count &&
			first < line.first + line.count)
			return 1;
	}
	return 0;
}

int id_range_choose(struct str uids, struct str gids, uint32_t *ret_first)
{
	for (uint32_t i = 0; i < ID_BASE_TRIES; i++) {
		uint32_t first = ID_BASE + i * ID_BASE_STEP;

		if (id_range_overlaps(uids, first, ID_RANGE_COUNT) ||
			id_range_overlaps(gids, first, ID_RANGE_COUNT))
			continue;
		*ret_first = first;
		return 0;
	}
	return -EADDRINUSE;
}

static int root_range(struct id_range *ret_range, char *text, size_t size)
{
	AUTO_BUF struct buf uids = BUF_INIT(SUBID_FILE_MAX);
	AUTO_BUF struct buf gids = BUF_INIT(SUBID_FILE_MAX);
	uint32_t first;
	int r = buf_add_file(&uids, AT_FDCWD, "/etc/subuid");

	if (r == 0 || r == -ENOENT)
		r = buf_add_file(&gids, AT_FDCWD, "/etc/subgid");
	if (r < 0 && r != -ENOENT)
		return r;
	r = id_range_choose(buf_get_slice(&uids), buf_get_slice(&gids), &first);
	if (r == 0)
		*ret_range = (struct id_range){ first, first, ID_RANGE_COUNT };
	else
		(void)str_format(text, size,
			"/etc/subuid or /etc/subgid give all ids from %u on to somebody: shorten "
			"those lines",
			ID_BASE);
	return r;
}

/* The user's range in one of the two files. */
static int user_range(
	const char *path, const struct passwd *user, uint32_t *ret_first, uint32_t *ret_count)
{
	AUTO_BUF struct buf file = BUF_INIT(SUBID_FILE_MAX);
	int r = buf_add_file(&file, AT_FDCWD, path);

	return r < 0 ? r
		     : id_range_parse(buf_get_slice(&file), user->pw_name, user->pw_uid, ret_first,
			       ret_count);
}

int id_range_find(struct id_range *ret_range, char *text, size_t size)
{
	const struct passwd *user;
	struct id_range range = { 0 };
	uint32_t n_gids = 0;
	int r;

	if (geteuid() == 0)
		return root_range(ret_range, text, size);
	user = getpwuid(getuid());
	if (!user) {
		(void)str_format(text, size, "uid %u has no name in /etc/passwd", getuid());
		return -ENOENT;
	}
	r = user_range("/etc/subuid", user, &range.first_uid, &range.count);
	if (r == 0)
		r = user_range("/etc/subgid", user, &range.first_gid, &n_gids);
	if (r < 0) {
		(void)str_format(text, size,
			"/etc/subuid and /etc/subgid have no range for %s: as root, usermod "
			"--add-subuids 100000-165535 --add-subgids 100000-165535 %s",
			user->pw_name, user->pw_name);
		return r;
	}
	range.count = MIN(range.count, n_gids);
	*ret_range = range;
	return 0;
}
