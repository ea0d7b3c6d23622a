/*
 * Theory of operation: the host's pip, whatever Python it has, is told to choose wheels for CPython
 * 3.14 on the image's libc. It must not resolve anything: requirements.txt names every package, and
 * environment markers would be judged by the host's Python. Resolving is uv's, which can do it for
 * another Python.
 *
 * A wheel that is in the cache is not fetched again. When all of a requirements.txt are there, a
 * file with the hash of that text as its name says so, and pip is not asked.
 */
#include "image/wheels.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "image/cache.h"
#include "image/job.h"
#include "image/place/place.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#define PYTHON	     "3.14"
#define GLIBC_OLDEST 5	/* manylinux_2_5 is the first, PEP 600 */
#define GLIBC_NEWEST 41 /* the suite's is no older */
#define WORDS_MAX    160

struct words {
	const char *argv[WORDS_MAX];
	char platforms[GLIBC_NEWEST + 4][40];
	char requirements[PATH_MAX + 32];
	size_t n;
};

static void words_add(struct words *words, const char *word)
{
	assert(words->n < WORDS_MAX - 1); /* their number is fixed */
	words->argv[words->n++] = word;
}

static void platform_add(struct words *words, size_t i)
{
	words_add(words, "--platform");
	words_add(words, words->platforms[i]);
}

/* What pip download and pip install have in common. The caller frees. */
static struct words *words_new(const struct image_job *job, const char *verb)
{
	static const char *const old[] = { "manylinux2014", "manylinux2010", "manylinux1",
		"linux" };
	static const char *const fixed[] = { "--no-deps", "--require-hashes", "--only-binary",
		":all:", "--implementation", "cp", "--python-version", PYTHON, "--no-input",
		"--disable-pip-version-check", "-q" };
	struct words *words = xcalloc(1, sizeof(*words));
	struct utsname machine = { 0 };
	size_t i = 0;

	(void)uname(&machine);
	words_add(words, "pip3");
	words_add(words, verb);
	for (size_t k = 0; k < sizeof(fixed) / sizeof(fixed[0]); k++)
		words_add(words, fixed[k]);
	for (unsigned minor = GLIBC_NEWEST; minor >= GLIBC_OLDEST; minor--) {
		(void)str_format(words->platforms[i], sizeof(words->platforms[i]),
			"manylinux_2_%u_%.16s", minor, machine.machine);
		platform_add(words, i++);
	}
	for (size_t k = 0; k < sizeof(old) / sizeof(old[0]); k++) {
		(void)str_format(words->platforms[i], sizeof(words->platforms[i]), "%s_%.16s",
			old[k], machine.machine);
		platform_add(words, i++);
	}
	(void)str_format(words->requirements, sizeof(words->requirements), "%s/requirements.txt",
		job->recipe.dir);
	words_add(words, "-r");
	words_add(words, words->requirements);
	return words;
}

/* pip names a package that has no wheel, or another one than it should; the remedy is the same. */
static int pip_refuse(const struct image_job *job, int r)
{
	if (r < 0 && strstr(job->trouble->what, "No matching distribution"))
		(void)str_copy(job->trouble->remedy, sizeof(job->trouble->remedy),
			"The package index has no wheel of it for CPython " PYTHON
			" here: try --update-lock, or take it out of requirements.in.");
	else if (r < 0 && strstr(job->trouble->what, "HASHES"))
		(void)str_format(job->trouble->remedy, sizeof(job->trouble->remedy),
			"Somebody has changed the file of a release; the log names it: %s",
			job->log_path);
	return r;
}

/* The path of the mark that says that all of this requirements.txt is in the cache. */
static int mark_path(const struct image_job *job, char ret_path[PATH_MAX])
{
	AUTO_BUF struct buf text = BUF_INIT(RECIPE_FILE_MAX);
	char digits[HASH_TEXT_SIZE];
	struct hash hash;
	int r = recipe_add_file(&job->recipe, "requirements.txt", &text);

	if (r < 0)
		return job_refuse(job, "Make it with --update-lock.", "%s/requirements.txt: %s.",
			job->recipe.dir, strerror(-r));
	hash = hash_make(buf_get_slice(&text));
	hash_format(&hash, digits);
	return job_path(ret_path, "%s/" CACHE_MARK "%s", job->wheels, digits);
}

int wheels_fetch(struct image_job *job)
{
	AUTO_FREE struct words *words = words_new(job, "download");
	char mark[PATH_MAX];
	int r = mark_path(job, mark);

	if (r < 0)
		return r;
	if (access(mark, F_OK) == 0) {
		job_step(job, "all Python packages of the lock are in the cache");
		return 0;
	}
	job_step(job, "fetching Python packages from the package index");
	words_add(words, "-d");
	words_add(words, job->wheels);
	r = job_run(job, "Fetching Python packages", words->argv, NULL);
	return r == 0 ? job_write(job, mark, STR("")) : pip_refuse(job, r);
}

int wheels_install(struct image_job *job)
{
	AUTO_FREE struct words *words = words_new(job, "install");
	char target[PATH_MAX];

	job_step(job, "installing Python packages");
	(void)job_path(target, "%s" IMAGE_PYTHON_DIR, job->tree);
	words_add(words, "--no-index");
	words_add(words, "--find-links");
	words_add(words, job->wheels);
	words_add(words, "--target");
	words_add(words, target);
	words_add(words, "--no-compile");
	words_add(
		words, "--ignore-requires-python"); /* it would judge by the Python that pip has */
	words_add(words, "--no-warn-script-location");
	return pip_refuse(job, job_run(job, "Installing Python packages", words->argv, NULL));
}

/* Where the uv of the recipe's uv.txt is: in the cache, where pip puts it. */
static int uv_find(struct image_job *job, char ret_path[PATH_MAX])
{
	AUTO_BUF struct buf text = BUF_INIT(RECIPE_FILE_MAX);
	AUTO_FREE char *pin = xasprintf("%s/uv.txt", job->recipe.dir);
	char folder[PATH_MAX], digits[HASH_TEXT_SIZE];
	const char *const argv[] = { "pip3", "install", "-q", "--disable-pip-version-check",
		"--no-input", "--only-binary", ":all:", "--require-hashes", "--no-deps",
		"--upgrade", "--target", folder, "-r", pin, NULL };
	struct hash hash;
	int r = recipe_add_file(&job->recipe, "uv.txt", &text);

	if (r < 0)
		return job_refuse(
			job, "Copy it from the image/ of Cloche.", "%s: %s.", pin, strerror(-r));
	hash = hash_make(buf_get_slice(&text));
	hash_format(&hash, digits);
	(void)job_path(folder, "%s/uv-%.*s", job->options->cache, IMAGE_ID_LEN, digits);
	(void)job_path(ret_path, "%s/bin/uv", folder);
	return access(ret_path, X_OK) == 0 ? 0 : job_run(job, "Fetching uv", argv, NULL);
}

/* The index that pip has been set up with, for uv, which does not read pip's settings: a variable,
 * because it may have a password in it. "" if pip has none set. */
static int index_find(const struct image_job *job, struct buf *ret_variable)
{
	static const char *const argv[] = { "pip3", "config", "get", "global.index-url", NULL };
	AUTO_BUF struct buf out = BUF_INIT(TOOL_OUT_MAX);
	int r = job_try(job, argv, &out);

	if (r < 0)
		return r;
	if (r == 0 && str_trim(buf_get_slice(&out)).n > 0)
		(void)buf_addf(ret_variable, "UV_DEFAULT_INDEX=%.*s",
			STR_ARG(str_trim(buf_get_slice(&out))));
	return 0;
}

static int uv_run(struct image_job *job, const char *uv, const char *made)
{
	AUTO_BUF struct buf variable = BUF_INIT(4096);
	AUTO_FREE char *in = xasprintf("%s/requirements.in", job->recipe.dir);
	char platform[64];
	struct utsname machine = { 0 };
	AUTO_FREE char *upgrade = job->options->package
					  ? xasprintf("--upgrade-package=%s", job->options->package)
					  : xasprintf("--upgrade");
	const char *const argv[] = { uv, "pip", "compile", "-q", upgrade, "--python-version",
		PYTHON, "--python-platform", platform, "--only-binary",
		":all:", "--generate-hashes", "--no-annotate", "--custom-compile-command",
		"cloche image build --update-lock", in, "-o", made, NULL };
	int r = index_find(job, &variable);

	(void)uname(&machine);
	(void)str_format(platform, sizeof(platform), "%.16s-manylinux_2_40", machine.machine);
	if (r < 0)
		return r;
	return job_run_with(job, "Choosing Python packages", argv,
		variable.len > 0 ? buf_get_cstr(&variable) : NULL);
}

/* As the package index calls it. packaging.python.org, "Names and normalization" */
static char *name_normalize(const char *name)
{
	char *normal = xstrdup(name);
	size_t n = 0;

	for (; *name; name++) {
		char c = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name;

		c = c == '_' || c == '.' ? '-' : c;
		if (c != '-' || n == 0 || normal[n - 1] != '-')
			normal[n++] = c;
	}
	normal[n] = '\0';
	return normal;
}

/* uv says nothing of a name that it was to upgrade and that is not among them. */
static int package_check(const struct image_job *job, const struct buf *text)
{
	AUTO_FREE char *name = NULL, *line = NULL;

	if (!job->options->package)
		return 0;
	name = name_normalize(job->options->package);
	line = xasprintf("\n%s==", name);
	if (strstr(buf_get_cstr(text), line))
		return 0;
	return job_refuse(job, "Write it into requirements.in first.",
		"%s/requirements.in does not ask for %s, nor does anything in it.", job->recipe.dir,
		job->options->package);
}

int wheels_lock(struct image_job *job)
{
	AUTO_BUF struct buf text = BUF_INIT(RECIPE_FILE_MAX), before = BUF_INIT(RECIPE_FILE_MAX);
	AUTO_FREE char *out = xasprintf("%s/requirements.txt", job->recipe.dir);
	AUTO_FREE char *made = xasprintf("%s/requirements.txt", job->work);
	char uv[PATH_MAX];
	int r = uv_find(job, uv);

	/* what is there is what uv keeps to, but for what it is to upgrade */
	if (r == 0 && recipe_add_file(&job->recipe, "requirements.txt", &before) == 0)
		r = job_write(job, made, buf_get_slice(&before));
	if (r == 0)
		r = uv_run(job, uv, made);
	if (r == 0 && buf_add_file(&text, AT_FDCWD, made) < 0)
		r = job_refuse(job, "", "%s cannot be read.", made);
	if (r == 0)
		r = package_check(job, &text);
	return r == 0 ? job_write(job, out, buf_get_slice(&text)) : r;
}
