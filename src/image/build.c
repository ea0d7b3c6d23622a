/*
 * Theory of operation: the build is a child in a pid and a mount namespace of its own. It is pid 1
 * there, and dies with us: whatever ends us (Ctrl-C, SIGKILL) ends mmdebstrap, dpkg and pip too,
 * and what they have mounted is gone with them. So a folder that a dead build left can be removed
 * without looking for mounts in it. The child says how it ended in a page that both share.
 *
 * The tree is made in a folder beside its place, renamed when it is whole, and only then becomes
 * the image in use. A lock on the place keeps two builds apart; so what begins with .build- in a
 * locked place belongs to nobody and is removed. A tree that is replaced must be in use by nobody
 * (image/place/hold.h), which is looked at before the work and again at its end. Ctrl-C ends the
 * child and leaves no tree but one that has got its name already, which need not be in use; only
 * what ends us at once leaves the folder to the next build.
 */
#include "image/build.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/id.h"
#include "base/macro.h"
#include "base/signals.h"
#include "image/archive.h"
#include "image/cache.h"
#include "image/finish.h"
#include "image/job.h"
#include "image/place/hold.h"
#include "image/place/place.h"
#include "image/place/tree.h"
#include "image/tool.h"
#include "image/wheels.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
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

static int remains_remove(const struct image_job *job, const char *folder)
{
	char path[PATH_MAX];
	int r = image_remains_remove(folder, path);

	if (r > 0)
		job_tell(job, "      removed what a build that was cut short has left");
	return r < 0 ? job_refuse(job, "Remove it.", "%s: %s.", path, strerror(-r)) : 0;
}

/* Before the work: a tree that is in use cannot be replaced at its end. */
static int out_check(const struct image_job *job)
{
	AUTO_BUF struct buf users = BUF_INIT(512);
	const char *out = job->options->out;
	AUTO_CLOSE int claim = -1;

	if (!out || !image_is(out))
		return 0;
	claim = image_claim(out, IMAGE_CLAIM_NOW);
	if (claim >= 0)
		return 0;
	if (claim != -EBUSY)
		return job_refuse(job, "", "%s: %s.", out, strerror(-claim));
	image_users_add(out, &users);
	return job_refuse(job, "End them, or name another folder with --out.",
		"The image in %s is in use: %s.", out, buf_get_cstr(&users));
}

/* All programs that the steps use: what is missing shall not be found out after minutes. */
static int tools_check(const struct image_job *job)
{
	static const struct {
		const char *program, *package;
	} tools[] = {
		{ "apt-get", "apt" },
		{ "dpkg-deb", "dpkg" },
		{ "mmdebstrap", "mmdebstrap" },
		{ "pip3", "python3-pip" },
		{ "unshare", "util-linux" },
		{ "chroot", "coreutils" },
	};
	AUTO_BUF struct buf missing = BUF_INIT(256), packages = BUF_INIT(256);

	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		if (tool_is_there(tools[i].program))
			continue;
		(void)buf_addf(&missing, "%s%s", missing.len > 0 ? ", " : "", tools[i].program);
		(void)buf_addf(&packages, " %s", tools[i].package);
	}
	if (missing.len == 0)
		return 0;
	(void)job_refuse(
		job, "", "A build needs programs that are not here: %s.", buf_get_cstr(&missing));
	(void)str_format(job->trouble->remedy, sizeof(job->trouble->remedy),
		"As root: apt-get install%s", buf_get_cstr(&packages));
	return -EIO;
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
	job->cache_fd = cache_lock(cache);
	if (job->cache_fd < 0)
		return job->cache_fd == -EBUSY
			       ? job_refuse(job,
					 "Wait for it, or name another folder with --cache.",
					 "Another command uses the downloads in %s.", cache)
			       : job_refuse(job, "", "%s: %s.", cache, strerror(-job->cache_fd));
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

static int debian_lock_update(const struct image_job *job)
{
	AUTO_BUF struct buf text = BUF_INIT(LOCK_TEXT_MAX);
	char path[PATH_MAX + 32];

	(void)buf_add_str(&text,
		"# Debian packages: name, version, architecture, bytes, SHA-256 of the .deb file.\n"
		"# Made by `cloche image build --update-lock` from packages.in.\n");
	if (lock_format(&job->lock, &text) < 0 ||
		str_format(path, sizeof(path), "%s/packages.lock", job->recipe.dir) < 0)
		return job_refuse(job, "", "The list of packages is too long.");
	return job_write(job, path, buf_get_slice(&text));
}

/* Writes the recipe's lock files anew; then it is another recipe. */
static int locks_update(struct image_job *job)
{
	int r = job->options->package ? 0 : debian_lock_update(job);

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

/* The tree in the place of another one, which nobody uses then, and which goes with job->work. */
static int tree_exchange(struct image_job *job, const char *path)
{
	AUTO_CLOSE int claim = image_claim(path, IMAGE_CLAIM_NOW);

	if (claim == -EBUSY) {
		job_tell(job, "      waiting for those who have begun to use the old image");
		claim = image_claim(path, IMAGE_CLAIM_WAIT);
	}
	if (claim < 0)
		return claim;
	return renameat2(AT_FDCWD, job->tree, AT_FDCWD, path, RENAME_EXCHANGE) < 0 ? -errno : 0;
}

/* The tree under its final name. */
static int tree_place(struct image_job *job, const char *path)
{
	int r = chmod(job->tree, 0755) < 0 || rename(job->tree, path) < 0 ? -errno : 0;

	if (r == -EEXIST || r == -ENOTEMPTY)
		r = tree_exchange(job, path);
	return r < 0 ? job_refuse(job, "", "%s: %s.", path, strerror(-r)) : 0;
}

/* What the build has left in the cache, and what of that is of no more use to it. */
static void cache_tell(const struct image_job *job)
{
	struct cache_sum sum;

	if (cache_measure(job->options->cache, &job->recipe, &job->lock, false, &sum) < 0)
		return;
	job_tell(job, "downloads in %s: %llu MB", job->options->cache,
		(unsigned long long)(sum.bytes / 1000000));
	if (sum.idle_files > 0)
		job_tell(job,
			"      %llu MB of them (%llu files) are not of this recipe; `cloche image "
			"rm "
			"--downloads` removes such",
			(unsigned long long)(sum.idle_bytes / 1000000),
			(unsigned long long)sum.idle_files);
}

/* What the child tells us, in shared memory. */
struct outcome {
	int result;
	bool is_placing; /* from here on the tree may have its final name */
	char path[PATH_MAX];
	struct image_trouble trouble;
};

static int image_place(struct image_job *job, struct outcome *outcome)
{
	char *path = outcome->path;
	struct tree_sum sum = { 0 };
	struct image_id id;
	int r;

	job_step(job, "putting the image in its place");
	id_make_from(&job->recipe, &id);
	if (job->options->out)
		(void)str_copy(path, PATH_MAX, job->options->out);
	else
		(void)job_path(path, "%s/%s", job->options->place, id.text);
	(void)tree_measure(job->tree, &sum);
	outcome->is_placing = true;
	r = tree_place(job, path);
	if (r == 0 && !job->options->out)
		r = image_use(job->options->place, id.text);
	if (r < 0)
		return job->trouble->what[0] ? r
					     : job_refuse(job, "", "%s: %s.", path, strerror(-r));
	job_tell(job, "image %s: %llu MB, %llu files, %llu s", id.text,
		(unsigned long long)(sum.bytes / 1000000), (unsigned long long)sum.files,
		(unsigned long long)((clock_now_us() - job->started_us) / USEC_PER_S));
	cache_tell(job);
	return 0;
}

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
		r = image_place(job, outcome);
	outcome->result = r;
	_exit(0);
}

/* With the descriptor that tells its end: without one there is no child. */
static pid_t child_start(int *ret_pidfd)
{
	struct clone_args {
		uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
	} args = { .flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_PIDFD,
		.pidfd = (uintptr_t)ret_pidfd,
		.exit_signal = SIGCHLD };
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		_exit(1);
	return pid;
}

/* Waits for the child, or kills it at a signal. Returns that signal's number, or 0. */
static int child_wait(pid_t pid, int pidfd, int signal_fd)
{
	struct pollfd fds[] = { { .fd = pidfd, .events = POLLIN },
		{ .fd = signal_fd, .events = POLLIN } };
	struct signalfd_siginfo info;
	int number = 0, r;

	do
		r = poll(fds, ARRAY_SIZE(fds), -1);
	while (r < 0 && errno == EINTR);
	if (r > 0 && fds[1].revents &&
		read(signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		number = (int)info.ssi_signo;
	if (r < 0 || number != 0)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return number;
}

/* It was killed before it could say how it went. */
static int child_gone(const struct image_job *job, const struct outcome *outcome)
{
	const char *how = job->trouble->signal != 0 ? "Stopped" : "The build was killed";

	if (!outcome->is_placing)
		return job_refuse(job, "", "%s; no image was made.", how);
	return job_refuse(job, "`cloche image ls` tells, or with --out `cloche image ls DIR`.",
		"%s while the image was put in its place: it may be there, or the old one.", how);
}

static int child_watch(struct image_job *job, char ret_path[PATH_MAX])
{
	struct outcome *outcome = mmap(
		NULL, sizeof(*outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	AUTO_CLOSE int signal_fd = -1;
	AUTO_CLOSE int pidfd = -1;
	sigset_t stop;
	pid_t pid;
	int r;

	if (outcome == MAP_FAILED)
		return job_refuse(job, "", "No memory: %s.", strerror(errno));
	outcome->result = -EINPROGRESS;
	signals_stop(&stop);
	(void)sigprocmask(SIG_BLOCK, &stop, NULL);
	signal_fd = signalfd(-1, &stop, SFD_CLOEXEC);
	pid = signal_fd < 0 ? -1 : child_start(&pidfd);
	if (pid == 0) {
		(void)sigprocmask(SIG_UNBLOCK, &stop, NULL);
		child_run(job, outcome);
	}
	if (pid > 0)
		job->trouble->signal = child_wait(pid, pidfd, signal_fd);
	r = outcome->result;
	if (pid < 0)
		r = job_refuse(job, "Build it where namespaces may be made; `cloche doctor` tells.",
			"No process of its own can be made for the build: %s.", strerror(errno));
	else if (r == -EINPROGRESS)
		r = child_gone(job, outcome);
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
		r = out_check(job);
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
	int lock = -1, r;

	*ret_trouble = (struct image_trouble){ 0 };
	job->options = options;
	job->trouble = ret_trouble;
	job->log_fd = job->cache_fd = -1;
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
	r = tools_check(job);
	if (r == 0)
		r = prepare(job, &lock);
	if (r == 0)
		r = child_watch(job, ret_path);
	if (job->work[0])
		(void)tree_remove(job->work);
	(void)fd_close(job->log_fd);
	if (job->cache_fd >= 0)
		cache_unlock(options->cache, job->cache_fd);
	if (lock >= 0)
		image_unlock(job->folder, lock);
	lock_fini(&job->lock);
	lock_fini(&job->pinned);
	return r;
}
