/*
 * Theory of operation: programs of the tree run in a chroot with a network namespace of their own.
 * Debian's maintainer scripts and fc-cache run as root there, as on any machine that installs them;
 * code from the package index runs as nobody, and what it makes comes out by its stdout. Root runs
 * Python with -I -S: the standard library, and nothing of the set.
 */
#include "image/finish.h"

#include "base/buf.h"
#include "image/archive.h"
#include "image/job.h"
#include "image/place/place.h"
#include "image/place/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_MAX (64u * 1024) /* bytes of all packages' names */

/* No path-exclude: mmdebstrap would send each package through a Python program. */
int finish_unpack(struct image_job *job)
{
	AUTO_BUF struct buf include = BUF_INIT(NAMES_MAX);
	char source[PATH_MAX + 32];
	const char *argv[] = { "mmdebstrap", "--mode=root", "--variant=custom", "--quiet",
		"--aptopt=APT::Sandbox::User \"root\"",
		"--aptopt=APT::Install-Recommends \"false\"", "--dpkgopt=force-unsafe-io", NULL,
		"forky", job->tree, source, NULL };
	int r = archive_index(job);

	job_step(job, "unpacking %zu Debian packages", job->lock.n);
	(void)buf_add_str(&include, "--include=");
	for (size_t i = 0; i < job->lock.n; i++)
		(void)buf_addf(&include, "%s%s", i ? "," : "", job->lock.packages[i].name);
	argv[7] = buf_get_cstr(&include);
	(void)str_format(
		source, sizeof(source), "deb [trusted=yes] copy://%s/archive ./", job->work);
	return r == 0 ? job_run(job, "Unpacking Debian packages", argv, NULL) : r;
}

/* Puts a file of the recipe into the tree. */
static int recipe_copy(const struct image_job *job, const char *name, const char *target)
{
	AUTO_BUF struct buf text = BUF_INIT(RECIPE_FILE_MAX);
	char path[PATH_MAX];
	int r = recipe_add_file(&job->recipe, name, &text);

	if (r < 0 || job_path(path, "%s%s", job->tree, target) < 0)
		return job_refuse(job, "", "%s/%s: %s.", job->recipe.dir, name, strerror(-r));
	return job_write(job, path, buf_get_slice(&text));
}

#define INSIDE "unshare", "--net", "--ipc", "--uts", "chroot"
#define NOBODY "--userspec=65534:65534", "--groups="
#define CLEAN  "/usr/bin/env", "-i", "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/tmp"
#define PYTHON "/usr/bin/python3.14", "-B"
#define FINISH IMAGE_SHARE_DIR "/finish.py"

/* A step that root does, with the standard library alone. */
static int step_as_root(const struct image_job *job, const char *what, const char *step)
{
	const char *const argv[] = { INSIDE, job->tree, CLEAN, PYTHON, "-I", "-S", FINISH, step,
		NULL };

	return job_run(job, what, argv, NULL);
}

/* A step that packages' code takes part in; it prints a file of the tree. */
static int step_as_nobody(const struct image_job *job, const char *what, const char *step,
	const char *target, const char *argument)
{
	const char *const argv[] = { INSIDE, NOBODY, job->tree, CLEAN, PYTHON, FINISH, step,
		argument, NULL };

	return job_run_into(job, what, argv, target);
}

static int fonts_make(const struct image_job *job)
{
	const char *const argv[] = { INSIDE, job->tree, CLEAN, "/usr/bin/fc-cache", "-s", "-f",
		NULL };
	int r = step_as_nobody(job, "Making the font Noto Emoji", "emoji",
		"usr/local/share/fonts/cloche/NotoEmoji-Regular.ttf", NULL);

	if (r == 0)
		r = step_as_nobody(job, "Making matplotlib's list of fonts", "fonts",
			"usr/share/cloche/matplotlib-fonts.json", NULL);
	return r == 0 ? job_run(job, "Making the cache of fonts", argv, NULL) : r;
}

/* The list of what was installed, for the manifest and for whoever looks. */
static int lock_write(const struct image_job *job, const char *path)
{
	AUTO_BUF struct buf text = BUF_INIT(LOCK_TEXT_MAX);

	(void)buf_add_str(&text,
		"# Debian packages: name, version, architecture, bytes, SHA-256 of the .deb file.\n"
		"# Made by `cloche image build --update-lock` from packages.in.\n");
	if (lock_format(&job->lock, &text) < 0)
		return job_refuse(job, "", "The list of packages is too long.");
	return job_write(job, path, buf_get_slice(&text));
}

static int share_fill(const struct image_job *job)
{
	char path[PATH_MAX];
	int r;

	(void)job_path(path, "%s" IMAGE_SHARE_DIR, job->tree);
	r = job_mkdir(job, path);
	(void)job_path(path, "%s" IMAGE_SHARE_DIR "/packages.lock", job->tree);
	if (r == 0)
		r = lock_write(job, path);
	if (r == 0)
		r = recipe_copy(job, "finish.py", FINISH);
	if (r == 0)
		r = recipe_copy(job, "matplotlib_fonts.py",
			IMAGE_PYTHON_DIR "/matplotlib/_cloche_fonts.py");
	return r;
}

static int strip(const struct image_job *job)
{
	AUTO_BUF struct buf patterns = BUF_INIT(RECIPE_FILE_MAX);
	int r = recipe_add_file(&job->recipe, "leave-out", &patterns);

	if (r == 0)
		r = tree_strip(job->tree, buf_get_slice(&patterns));
	return r < 0 ? job_refuse(job, "", "Taking out what is not needed: %s.", strerror(-r)) : 0;
}

int finish_tree(struct image_job *job, const char *id)
{
	int r = share_fill(job);

	if (r == 0)
		r = step_as_root(job, "Placing what the wheels brought", "prepare");
	job_step(job, "making fonts ready and compiling Python packages");
	if (r == 0)
		r = fonts_make(job);
	if (r == 0)
		r = step_as_nobody(
			job, "Listing what is in the image", "manifest", &IMAGE_MANIFEST[1], id);
	if (r == 0)
		r = strip(job);
	if (r == 0)
		r = step_as_root(job, "Compiling Python packages", "compile");
	return r;
}
