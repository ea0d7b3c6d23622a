#include "launch/cgroup_find.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/*
 * mountinfo (proc(5)): "id parent dev ROOT MOUNTPOINT options ... - TYPE source SUPEROPTIONS".
 * /proc/self/cgroup: "0::PATH" on v2, "n:controllers:PATH" on v1. Our folder in a tree is the mount
 * point and the path, less the mount's root (a container sees only a part of the tree).
 */

#define MOUNTINFO_MAX (4u * 1024 * 1024)

static struct str word_take(struct str *line)
{
	struct str word, rest;

	(void)str_split_once(*line, ' ', &word, &rest);
	*line = rest;
	return word;
}

/* True if the comma-separated list has the word. */
static bool list_has(struct str list, struct str word)
{
	struct str item;

	while (list.n > 0) {
		(void)str_split_once(list, ',', &item, &list);
		if (str_eq(item, word))
			return true;
	}
	return false;
}

/* The path of our group in the tree of `controller` ("" is v2). */
static bool own_path(const char *own, struct str controller, struct str *ret_path)
{
	struct str text = str_from(own), line, number, list, path;

	while (text.n > 0) {
		(void)str_split_once(text, '\n', &line, &text);
		if (!str_split_once(line, ':', &number, &line) ||
			!str_split_once(line, ':', &list, &path))
			continue;
		if (controller.n == 0 ? list.n == 0 : list_has(list, controller)) {
			*ret_path = path;
			return true;
		}
	}
	return false;
}

/* Takes the root of a mount off the front of our path. False if we are not below it. */
static bool root_strip(struct str root, struct str *path)
{
	if (str_eq(root, STR("/")))
		return true;
	if (!str_starts(*path, root) || (path->n > root.n && path->p[root.n] != '/'))
		return false;
	*path = (struct str){ .p = path->p + root.n, .n = path->n - root.n };
	return true;
}

/* mountinfo writes blanks and backslashes as \040 and the like. */
static void octals_decode(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' &&
			from[2] <= '7' && from[3] >= '0' && from[3] <= '7') {
			*to = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/* The first mount that shows our group is the one. */
static void place_set(char *ret_place, struct str mount_point, struct str root, struct str path)
{
	char point[PATH_MAX];

	if (ret_place[0] || !root_strip(root, &path))
		return;
	if (str_eq(path, STR("/")))
		path.n = 0;
	if (str_format(point, sizeof(point), "%.*s", STR_ARG(mount_point)) < 0)
		return;
	octals_decode(point);
	(void)str_format(ret_place, PATH_MAX, "%s%.*s", point, STR_ARG(path));
}

/* Where delegate.c has moved us, if it has: our group is the one above. */
static struct str outside_leave(struct str path)
{
	struct str tail = STR("/" CGROUP_OUTSIDE);

	if (str_ends(path, tail))
		path.n -= tail.n;
	return path.n > 0 ? path : STR("/");
}

static void tree_take(struct cgroup_host *host, const char *own, struct str line)
{
	struct str root, point, type, super, path, left;
	const struct {
		struct str name;
		char *place;
	} trees[] = { { STR("memory"), host->memory }, { STR("pids"), host->pids },
		{ STR("cpu"), host->cpu } };

	for (int i = 0; i < 3; i++)
		(void)word_take(&line);
	root = word_take(&line);
	point = word_take(&line);
	left = word_take(&line);
	while (line.n > 0 && !str_eq(left, STR("-")))
		left = word_take(&line);
	type = word_take(&line);
	(void)word_take(&line);
	super = line;
	if (str_eq(type, STR("cgroup2")) && own_path(own, STR(""), &path))
		place_set(host->unified, point, root, outside_leave(path));
	if (!str_eq(type, STR("cgroup")))
		return;
	for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
		if (list_has(super, trees[i].name) && own_path(own, trees[i].name, &path))
			place_set(trees[i].place, point, root, path);
	}
}

void cgroup_find_in(const char *mountinfo, const char *own, struct cgroup_host *ret_host)
{
	struct str text = str_from(mountinfo), line;

	*ret_host = (struct cgroup_host){ 0 };
	while (text.n > 0) {
		(void)str_split_once(text, '\n', &line, &text);
		tree_take(ret_host, own, line);
	}
	if (ret_host->memory[0] && ret_host->pids[0] && ret_host->cpu[0])
		ret_host->backend = WIRE_CGROUP_V1;
	else if (ret_host->unified[0])
		ret_host->backend = WIRE_CGROUP_V2;
	else
		(void)str_copy(ret_host->text, sizeof(ret_host->text),
			"no cgroup tree is mounted: mount -t cgroup2 none /sys/fs/cgroup");
}

/* On v2 our own group must have been given the controllers. */
static void controllers_check(struct cgroup_host *host)
{
	static const char *const needed[] = { "memory", "pids", "cpu" };
	char path[PATH_MAX + 32], list[512];
	const char *missing = NULL;
	ssize_t n;

	(void)str_format(path, sizeof(path), "%s/cgroup.controllers", host->unified);
	n = fd_read_file(AT_FDCWD, path, list, sizeof(list));
	if (n < 0)
		list[0] = '\0';
	for (char *p = list; *p; p++)
		*p = *p == ' ' || *p == '\n' ? ',' : *p;
	for (size_t i = 0; i < 3 && !missing; i++) {
		if (!list_has(str_from(list), str_from(needed[i])))
			missing = needed[i];
	}
	if (!missing)
		return;
	host->backend = WIRE_CGROUP_NONE;
	(void)str_format(host->text, sizeof(host->text),
		"the cgroup controller '%s' is not delegated to this process: start by systemd-run "
		"%s--scope -p Delegate=yes, or see cloche-doctor(1)",
		missing, geteuid() == 0 ? "" : "--user ");
}

void cgroup_find(struct cgroup_host *ret_host)
{
	AUTO_BUF struct buf mounts = BUF_INIT(MOUNTINFO_MAX);
	AUTO_BUF struct buf own = BUF_INIT(MOUNTINFO_MAX);

	if (buf_add_file(&mounts, AT_FDCWD, "/proc/self/mountinfo") < 0 ||
		buf_add_file(&own, AT_FDCWD, "/proc/self/cgroup") < 0) {
		*ret_host = (struct cgroup_host){ .text = "/proc is not readable" };
		return;
	}
	cgroup_find_in(buf_get_cstr(&mounts), buf_get_cstr(&own), ret_host);
	if (ret_host->backend == WIRE_CGROUP_V2)
		controllers_check(ret_host);
}
