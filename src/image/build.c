/*
 * Theory of operation: the build is a child in a pid and a mount namespace of its own. It is pid 1
 * there, and dies with us: whatever ends us (Ctrl-C, SIGKILL) ends mmdebstrap, dpkg and pip too,
 * and what they have mounted is gone with them. So a folder that a dead build left can be removed
 * without looking for mounts in it. The child says how it ended in a page that both share.
 *
 * The tree is made in a folder beside its place, renamed when it is whole, and only then becomes
 * the image in use. A lock on the place keeps two builds apart; so what begins with .build- in a
 * locked place belongs to nobody and is removed.
 */
#include "image/build.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/id.h"
#include "image/archive.h"
#include "image/finish.h"
#include "image/job.h"
#include "image/place.h"
#include "image/tree.h"
#include "image/wheels.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

/* The tree, and what pip and dpkg need beside it while they unpack. */
#define SPACE_NEEDED (5ull * 1000 * 1000 * 1000)

static void id_make_from(const struct recipe *recipe, struct image_id *ret_id)
{
	char digits[HASH_TEXT_SIZE];

	hash_format(&recipe->hash, digits);
	(void)str_format(ret_id->text, sizeof(ret_id->text), "%.*s", IMAGE_ID_LEN, digits);
}

/* Removes what builds that were cut short have left in the folder. */
static int remains_remove(const struct image_job *job, const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char path[PATH_MAX];
	int r = 0;

	while (dir && r == 0 && (entry = readdir(dir))) {
		if (!str_starts(str_from(entry->d_name), STR(IMAGE_WORK_PREFIX)) ||
			job_path(path, "%s/%s", folder, entry->d_name) < 0)
			continue;
		job_tell(job, "      removing what a build that was cut short has left");
		r = tree_remove(path);
	}
	if (dir)
		(void)closedir(dir);
	return r < 0 ? job_refuse(job, "Remove it.", "%s: %s.", path, strerror(-r)) : 0;
}

static int space_check(const struct image_job *job, const char *folder)
{
	struct statfs fs;
	unsigned long long left;

	if (statfs(folder, &fs) < 0)
		return job_refuse(job, "", "%s: %s.", folder, strerror(errno));
	left = (unsigned long long)fs.f_bavail * (unsigned long long)fs.f_bsize;
	if (left >= SPACE_NEEDED)
		return 0;
	return job_refuse(job, "Make room there, or name another folder with --out and --cache.",
		"%s has %llu MB left, and a build needs %llu.", folder, left / 1000000,
		SPACE_NEEDED / 1000000);
}

static int cache_prepare(struct image_job *job)
{
	const char *cache = job->options->cache;
	char apt[PATH_MAX];
	int r = 0;

	if (job_path(job->debs, "%s/debs", cache) < 0 ||
		job_path(job->wheels, "%s/wheels", cache) < 0 ||
		job_path(apt, "%s/apt", cache) < 0 ||
		job_path(job->log_path, "%s/build.log", cache) < 0 || strlen(cache) > PATH_MAX / 2)
		return job_refuse(job, "", "%s: the name is too long.", cache);
	r = job_mkdir(job, job->debs);
	if (r == 0)
		r = job_mkdir(job, job->wheels);
	if (r == 0)
		r = job_mkdir(job, apt);
	if (r < 0)
		return r;
	job->log_fd = open(job->log_path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
	if (job->log_fd < 0)
		return job_refuse(job, "", "%s: %s.", job->log_path, strerror(errno));
	return 0;
}

static int work_make(struct image_job *job, const char *folder)
{
	char id[ID_LEN + 1];
	int r = id_make(id);

	if (r < 0 || strlen(folder) > PATH_MAX / 2)
		return job_refuse(job, "", "%s: the name is too long.", folder);
	(void)job_path(job->work, "%s/" IMAGE_WORK_PREFIX "%s", folder, id);
	(void)job_path(job->tree, "%s/tree", job->work);
	return job_mkdir(job, job->work);
}

static int pinned_read(struct image_job *job)
{
	AUTO_BUF struct buf text = BUF_INIT(LOCK_TEXT_MAX);
	struct fault fault;
	int r = recipe_add_file(&job->recipe, "packages.lock", &text);

	if (r == -ENOENT && job->options->locking != IMAGE_LOCK_ONLY)
		return 0;
	if (r < 0)
		return job_refuse(job, "Make it with --update-lock.", "%s/packages.lock: %s.",
			job->recipe.dir, strerror(-r));
	if (lock_parse(buf_get_slice(&text), &job->pinned, &fault) < 0)
		return job_refuse(job, "", "%s.", fault.text);
	return 0;
}

/* Writes the recipe's lock files anew; then it is another recipe. */
static int locks_update(struct image_job *job)
{
	AUTO_BUF struct buf text = BUF_INIT(LOCK_TEXT_MAX);
	char path[PATH_MAX + 32];
	int r;

	(void)buf_add_str(&text,
		"# Debian packages: name, version, architecture, bytes, SHA-256 of the .deb file.\n"
		"# Made by `cloche image build --update-lock` from packages.in.\n");
	if (lock_format(&job->lock, &text) < 0 ||
		str_format(path, sizeof(path), "%s/packages.lock", job->recipe.dir) < 0)
		return job_refuse(job, "", "The list of packages is too long.");
	r = job_write(job, path, buf_get_slice(&text));
	if (r == 0)
		r = wheels_lock(job);
	if (r == 0 && recipe_read(job->options->recipe, &job->recipe) < 0)
		r = job_refuse(job, "", "%s cannot be read again.", job->options->recipe);
	return r;
}

/* All that makes the tree in job->tree. */
static int tree_make(struct image_job *job)
{
	struct image_id id;
	int r = pinned_read(job);

	if (r == 0)
		r = archive_fetch(job);
	if (r == 0 && job->options->locking == IMAGE_LOCK_UPDATE)
		r = locks_update(job);
	if (r == 0)
		r = wheels_fetch(job);
	if (r == 0)
		r = finish_unpack(job);
	if (r == 0)
		r = wheels_install(job);
	id_make_from(&job->recipe, &id);
	return r == 0 ? finish_tree(job, id.text) : r;
}

/* The tree under its final name; what was there before is handed to job->work and goes with it. */
static int tree_place(struct image_job *job, const char *path)
{
	int r = chmod(job->tree, 0755);

	if (r == 0 && rename(job->tree, path) < 0) {
		if (errno != EEXIST && errno != ENOTEMPTY)
			return job_refuse(job, "", "%s: %s.", path, strerror(errno));
		r = renameat2(AT_FDCWD, job->tree, AT_FDCWD, path, RENAME_EXCHANGE);
	}
	return r < 0 ? job_refuse(job, "", "%s: %s.", path, strerror(errno)) : 0;
}

static int image_place(struct image_job *job, char ret_path[PATH_MAX])
{
	struct tree_sum sum = { 0 };
	struct image_id id;
	int r;

	job_step(job, "putting the image in its place");
	id_make_from(&job->recipe, &id);
	if (job->options->out)
		(void)str_copy(ret_path, PATH_MAX, job->options->out);
	else
		(void)job_path(ret_path, "%s/%s", job->options->place, id.text);
	(void)tree_measure(job->tree, &sum);
	r = tree_place(job, ret_path);
	if (r == 0 && !job->options->out)
		r = image_use(job->options->place, id.text);
	if (r < 0)
		return job->trouble->what[0]
			       ? r
			       : job_refuse(job, "", "%s: %s.", ret_path, strerror(-r));
	job_tell(job, "image %s: %llu MB, %llu files, %llu s", id.text,
		(unsigned long long)(sum.bytes / 1000000), (unsigned long long)sum.files,
		(unsigned long long)((clock_now_us() - job->started_us) / USEC_PER_S));
	return 0;
}

/* What the child tells us, in shared memory. */
struct outcome {
	int result;
	char path[PATH_MAX];
	struct image_trouble trouble;
};

static int namespaces_enter(const struct image_job *job)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return job_refuse(
			job, "", "No mounts of our own can be made: %s.", strerror(errno));
	return 0;
}

static void child_run(struct image_job *job, struct outcome *outcome)
{
	int r;

	job->trouble = &outcome->trouble;
	umask(022);
	r = namespaces_enter(job);
	if (r == 0)
		r = tree_make(job);
	if (r == 0)
		r = image_place(job, outcome->path);
	outcome->result = r;
	_exit(0);
}

static pid_t child_start(void)
{
	struct clone_args {
		uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
	} args = { .flags = CLONE_NEWPID | CLONE_NEWNS, .exit_signal = SIGCHLD };
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		_exit(1);
	return pid;
}

static int child_watch(struct image_job *job, char ret_path[PATH_MAX])
{
	struct outcome *outcome = mmap(
		NULL, sizeof(*outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;
	int r;

	if (outcome == MAP_FAILED)
		return job_refuse(job, "", "No memory: %s.", strerror(errno));
	outcome->result = -EINPROGRESS;
	pid = child_start();
	if (pid == 0)
		child_run(job, outcome);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	r = outcome->result;
	if (pid < 0)
		r = job_refuse(job, "Build it where namespaces may be made; `cloche doctor` tells.",
			"No process of its own can be made for the build: %s.", strerror(errno));
	else if (r == -EINPROGRESS)
		r = job_refuse(job, "", "The build was killed.");
	else if (r < 0)
		*job->trouble = outcome->trouble;
	else
		(void)str_copy(ret_path, PATH_MAX, outcome->path);
	(void)munmap(outcome, sizeof(*outcome));
	return r;
}

/* The folder in which the tree is made and then renamed. */
static int folder_find(const struct image_job *job, char ret_folder[PATH_MAX])
{
	const char *out = job->options->out, *slash = out ? strrchr(out, '/') : NULL;
	struct stat st;

	if (!out)
		return str_copy(ret_folder, PATH_MAX, job->options->place);
	if (out[0] != '/' || !slash || !slash[1])
		return job_refuse(job, "", "--out: name a folder.");
	if (lstat(out, &st) == 0 && !image_is(out) && rmdir(out) < 0)
		return job_refuse(job, "Name a folder that is not there yet.",
			"%s is there, and it is no image.", out);
	return str_format(ret_folder, PATH_MAX, "%.*s", slash == out ? 1 : (int)(slash - out), out);
}

/* 1 if there is already what the recipe makes. */
static int is_unchanged(const struct image_job *job, char ret_path[PATH_MAX])
{
	AUTO_BUF struct buf text = BUF_INIT(IMAGE_MANIFEST_MAX);
	AUTO_FREE char *path = NULL;
	char quoted[IMAGE_ID_LEN + 16];
	struct image_id id;
	int r = 0;

	if (job->options->locking == IMAGE_LOCK_UPDATE)
		return 0;
	id_make_from(&job->recipe, &id);
	if (!job->options->out) {
		(void)job_path(ret_path, "%s/%s", job->options->place, id.text);
		if (image_is(ret_path))
			r = image_use(job->options->place, id.text);
		return image_is(ret_path) && r == 0;
	}
	(void)str_copy(ret_path, PATH_MAX, job->options->out);
	path = xasprintf("%s" IMAGE_MANIFEST, ret_path);
	if (buf_add_file(&text, AT_FDCWD, path) < 0)
		return 0;
	(void)str_format(quoted, sizeof(quoted), "\"id\": \"%s\"", id.text);
	return strstr(buf_get_cstr(&text), quoted) != NULL;
}

static int prepare(struct image_job *job, int *ret_lock)
{
	char *folder = job->folder;
	int r = folder_find(job, folder);

	if (r == 0)
		r = job_mkdir(job, folder);
	if (r < 0)
		return r;
	*ret_lock = image_lock(folder);
	if (*ret_lock == -EBUSY)
		return job_refuse(job, "Wait for it.", "Another build is at work in %s.", folder);
	if (*ret_lock < 0)
		return job_refuse(job, "", "%s: %s.", folder, strerror(-*ret_lock));
	r = remains_remove(job, folder);
	if (r == 0)
		r = space_check(job, folder);
	if (r == 0)
		r = cache_prepare(job);
	return r == 0 ? work_make(job, folder) : r;
}

int image_build(
	const struct image_options *options, char *ret_path, struct image_trouble *ret_trouble)
{
	AUTO_FREE struct image_job *job = xcalloc(1, sizeof(*job));
	AUTO_CLOSE int lock = -1;
	int r;

	*ret_trouble = (struct image_trouble){ 0 };
	job->options = options;
	job->trouble = ret_trouble;
	job->log_fd = -1;
	job->started_us = clock_now_us();
	if (recipe_read(options->recipe, &job->recipe) < 0)
		return job_refuse(job, "Name a folder like image/ of Cloche's source with --from.",
			"%s is no recipe of an image.", options->recipe);
	if (is_unchanged(job, ret_path))
		return 1;
	if (geteuid() != 0)
		return job_refuse(job,
			"Run it as root, with --out DIR for another place; then any user can say "
			"--rootfs DIR.",
			"Only root can unpack Debian packages.");
	r = prepare(job, &lock);
	if (r == 0)
		r = child_watch(job, ret_path);
	if (job->work[0])
		(void)tree_remove(job->work);
	(void)fd_close(job->log_fd);
	lock_fini(&job->lock);
	lock_fini(&job->pinned);
	return r;
}
