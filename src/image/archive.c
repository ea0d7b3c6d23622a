/*
 * Theory of operation: one apt-get with a configuration of its own, read after the host's, so that
 * proxies and certificates count and lists, state and sources are ours. The mirror is the one that
 * the host's apt uses, the suite is the recipe's.
 *
 * Which versions: those of packages.lock, if each of them is in the cache or still in the archive,
 * which drops a version when a newer one comes. Else, unless --locked forbids it, what apt chooses
 * now, all of it anew: a mixture would not fit together. Hashes are ours to check: of what was
 * downloaded and of what lay in the cache.
 */
#include "image/archive.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/fd.h"
#include "image/cache.h"
#include "image/job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUITE	    "forky" /* the one that carries CPython 3.14 */
#define NAMES_SHOWN 8
#define KEYRING	    "/usr/share/keyrings/debian-archive-keyring.gpg"

/* One apt-get or apt-cache call: words, with our configuration in front. */
struct call {
	const char *argv[LOCK_PACKAGES_MAX + 16];
	char config[PATH_MAX + 16];
	size_t n;
	bool is_full; /* and words were lost: it must not be made */
};

static void call_add(struct call *call, const char *word)
{
	if (call->n < sizeof(call->argv) / sizeof(call->argv[0]) - 1)
		call->argv[call->n++] = word;
	else
		call->is_full = true;
}

/* Returns 0, or -EIO after job_refuse. */
static int call_check(const struct image_job *job, const struct call *call)
{
	return call->is_full ? job_refuse(job, "Take some out.",
				       "%s/packages.in and packages.lock: more than %d packages.",
				       job->recipe.dir, LOCK_PACKAGES_MAX)
			     : 0;
}

static struct call *call_new(const struct image_job *job, const char *program)
{
	struct call *call = xcalloc(1, sizeof(*call));

	(void)str_format(
		call->config, sizeof(call->config), "%s/apt/apt.conf", job->options->cache);
	call_add(call, program);
	call_add(call, "-c");
	call_add(call, call->config);
	return call;
}

/* The mirror of the first list of packages that the host's apt knows. */
static int mirror_find(const struct image_job *job, struct buf *ret)
{
	static const char *const argv[] = { "apt-get", "indextargets", "--format", "$(REPO_URI)",
		"Created-By: Packages", "Origin: Debian", NULL };
	AUTO_BUF struct buf out = BUF_INIT(TOOL_OUT_MAX);
	struct str line, rest;
	int r = job_run(job, "Asking apt for its mirror", argv, &out);

	if (r < 0)
		return r;
	(void)str_split_once(buf_get_slice(&out), '\n', &line, &rest);
	line = str_trim(line);
	if (line.n == 0)
		return job_refuse(job, "As root: apt-get update.",
			"apt knows no Debian archive here: its lists are empty.");
	return buf_add_slice(ret, line);
}

static int config_write(const struct image_job *job)
{
	AUTO_BUF struct buf mirror = BUF_INIT(4096);
	AUTO_BUF struct buf text = BUF_INIT(64 * 1024);
	const char *cache = job->options->cache;
	char path[PATH_MAX];
	int r;

	if (access(KEYRING, R_OK) < 0)
		return job_refuse(job, "As root: apt-get install debian-archive-keyring",
			"%s is not here, by which Debian's archive is known.", KEYRING);
	r = mirror_find(job, &mirror);
	if (r < 0)
		return r;
	(void)buf_addf(
		&text, "deb [signed-by=%s] %s %s main\n", KEYRING, buf_get_cstr(&mirror), SUITE);
	(void)job_path(path, "%s/apt/sources.list", cache);
	r = job_write(job, path, buf_get_slice(&text));
	(void)job_path(path, "%s/apt/status", cache);
	if (r == 0)
		r = job_write(job, path, STR(""));
	buf_clear(&text);
	(void)buf_addf(&text,
		"Dir::State \"%s/apt/state\";\nDir::State::Lists \"%s/apt/lists\";\n"
		"Dir::State::status \"%s/apt/status\";\nDir::Cache \"%s/apt/cache\";\n"
		"Dir::Etc::sourcelist \"%s/apt/sources.list\";\n",
		cache, cache, cache, cache, cache);
	/* Valid-Until: a mirror that nobody syncs any more still has the packages of the lock,
	 * whose hashes we know. The sandbox user could not write into the cache. */
	(void)buf_add_str(&text,
		"Dir::Etc::sourceparts \"/dev/null\";\nDir::Etc::preferences \"/dev/null\";\n"
		"Dir::Etc::preferencesparts \"/dev/null\";\nAPT::Default-Release \"\";\n"
		"Acquire::Check-Valid-Until \"false\";\nAcquire::Languages \"none\";\n"
		"Acquire::Retries \"3\";\nAPT::Sandbox::User \"root\";\n"
		"APT::Install-Recommends \"false\";\nAPT::Get::Show-Versions \"false\";\n"
		"Acquire::IndexTargets::deb::DEP-11::DefaultEnabled \"false\";\n"
		"Acquire::IndexTargets::deb::DEP-11-icons-small::DefaultEnabled \"false\";\n"
		"Acquire::IndexTargets::deb::DEP-11-icons::DefaultEnabled \"false\";\n"
		"Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled \"false\";\n"
		"Acquire::IndexTargets::deb::CNF::DefaultEnabled \"false\";\n"
		"Acquire::ForceHash \"SHA256\";\n");
	(void)job_path(path, "%s/apt/apt.conf", cache);
	return r == 0 ? job_write(job, path, buf_get_slice(&text)) : r;
}

static int lists_update(const struct image_job *job)
{
	static const char *const folders[] = { "apt/state", "apt/lists/partial",
		"apt/cache/archives/partial" };
	AUTO_FREE struct call *call = call_new(job, "apt-get");
	char path[PATH_MAX];
	int r = 0;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && r == 0; i++) {
		(void)job_path(path, "%s/%s", job->options->cache, folders[i]);
		r = job_mkdir(job, path);
	}
	if (r == 0)
		r = config_write(job);
	call_add(call, "update");
	call_add(call, "-qq");
	call_add(call, "--error-on=any");
	return r == 0 ? job_run(job, "Reading the Debian archive's lists", call->argv, NULL) : r;
}

/* Fills *ret_lock with what apt would install for packages.in. */
static int choose_newest(const struct image_job *job, struct lock *ret_lock)
{
	AUTO_BUF struct buf text = BUF_INIT(RECIPE_FILE_MAX);
	AUTO_BUF struct buf out = BUF_INIT(TOOL_OUT_MAX);
	AUTO_FREE struct call *call = call_new(job, "apt-get");
	struct str rest, line;
	int r = recipe_add_file(&job->recipe, "packages.in", &text);

	if (r < 0)
		return job_refuse(job, "", "%s/packages.in: %s.", job->recipe.dir, strerror(-r));
	call_add(call, "install");
	call_add(call, "-y");
	call_add(call, "--print-uris");
	for (char *at = text.data; at && (at = strchr(at, '\n')); at++)
		*at = '\0'; /* lines become words */
	rest = buf_get_slice(&text);
	while (rest.n > 0) {
		if (!str_split_once(rest, '\0', &line, &rest))
			rest = STR("");
		line = str_trim(line);
		if (line.n > 0 && line.p[0] != '#')
			call_add(call, line.p);
	}
	r = call_check(job, call);
	if (r == 0)
		r = job_run(job, "Choosing Debian packages", call->argv, &out);
	if (r == 0 && lock_parse_uris(buf_get_slice(&out), ret_lock) < 0)
		return job_refuse(job, "", "What apt-get says of its packages cannot be read.");
	return r;
}

/* NAME=VERSION words for every package of a lock; the caller frees *ret_words. */
static void packages_add(struct call *call, const struct lock *lock, char **ret_words)
{
	const size_t size = sizeof(lock->packages->name) + sizeof(lock->packages->version) + 2;
	char *words = xcalloc(lock->n + 1, size);

	for (size_t i = 0; i < lock->n; i++) {
		char *word = words + i * size;

		(void)str_format(
			word, size, "%s=%s", lock->packages[i].name, lock->packages[i].version);
		call_add(call, word);
	}
	*ret_words = words;
}

/* Names of packages of `from` that are not in `found` in the same version. Returns how many. */
static size_t names_list(const struct lock *from, const struct lock *found, struct buf *out)
{
	size_t n = 0;

	for (size_t i = 0; i < from->n; i++) {
		const struct lock_package *old = &from->packages[i];
		const struct lock_package *new = lock_find(found, old->name);

		if (new &&strcmp(new->version, old->version) == 0)
			continue;
		if (n < NAMES_SHOWN)
			(void)buf_addf(out, "%s%s %s", n ? ", " : "", old->name, old->version);
		n++;
	}
	if (n > NAMES_SHOWN)
		(void)buf_addf(out, " and %zu more", n - NAMES_SHOWN);
	return n;
}

/* Whether the archive still has every package of the lock, with the same hash: 1, 0 with the names
 * of those that vanished in *ret_names, or -EIO. */
static int pinned_are_there(const struct image_job *job, struct buf *ret_names)
{
	AUTO_BUF struct buf out = BUF_INIT(TOOL_OUT_MAX);
	AUTO_FREE struct call *call = call_new(job, "apt-get");
	AUTO_FREE char *words = NULL;
	AUTO_LOCK struct lock found = { 0 };
	int r;

	call_add(call, "download");
	call_add(call, "--print-uris");
	packages_add(call, &job->pinned, &words);
	r = call_check(job, call);
	if (r == 0)
		r = job_try(
			job, call->argv, &out); /* its status says only that not all are there */
	if (r < 0)
		return r;
	if (lock_parse_uris(buf_get_slice(&out), &found) < 0)
		return job_refuse(job, "", "What apt-get says of its packages cannot be read.");
	return names_list(&job->pinned, &found, ret_names) == 0;
}

/* 0 if the file of a package is in the cache and is the right one, 1 if it is not there, 2 if it is
 * another one. */
static int file_check(const struct image_job *job, const struct lock_package *package)
{
	AUTO_CLOSE int fd = -1;
	char name[256], path[PATH_MAX];
	struct hash hash;
	struct stat st;

	if (lock_file_name(package, name, sizeof(name)) < 0 ||
		job_path(path, "%s/%s", job->debs, name) < 0)
		return 1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return 1;
	if ((uint64_t)st.st_size != package->size_bytes || cache_hash(fd, &hash) < 0)
		return 2;
	return hash_is_equal(&hash, &package->sha256) ? 0 : 2;
}

static void file_remove(const struct image_job *job, const struct lock_package *package)
{
	char name[256], path[PATH_MAX];

	if (lock_file_name(package, name, sizeof(name)) == 0 &&
		job_path(path, "%s/%s", job->debs, name) == 0)
		(void)unlink(path);
}

static bool prefers_pinned(const struct image_job *job)
{
	return job->pinned.n > 0 &&
	       (job->options->locking != IMAGE_LOCK_UPDATE || job->options->package);
}

/* What of a lock is not in the cache; what is there and wrong is removed. */
static void missing_find(
	const struct image_job *job, const struct lock *lock, struct lock *ret_missing)
{
	ret_missing->packages = xcalloc(LOCK_PACKAGES_MAX, sizeof(*ret_missing->packages));
	for (size_t i = 0; i < lock->n; i++) {
		int r = file_check(job, &lock->packages[i]);

		if (r != 0)
			ret_missing->packages[ret_missing->n++] = lock->packages[i];
		if (r == 2)
			file_remove(job, &lock->packages[i]);
	}
}

static int choose(struct image_job *job)
{
	AUTO_BUF struct buf names = BUF_INIT(4096);
	int r = 0;

	if (prefers_pinned(job)) {
		r = pinned_are_there(job, &names);
		if (r < 0)
			return r;
		if (r == 1) {
			job->lock = job->pinned;
			job->pinned = (struct lock){ 0 };
			return 0;
		}
	}
	if (job->options->locking == IMAGE_LOCK_ONLY)
		return job_refuse(job,
			"Leave out --locked to take what the archive has now, or take it into the "
			"lock with --update-lock.",
			"The Debian archive no longer has what packages.lock names, and neither "
			"has "
			"the cache: %s.",
			buf_get_cstr(&names));
	if (names.len > 0)
		job_tell(job,
			"      the archive no longer has these of packages.lock, so its "
			"present versions are taken: %s",
			buf_get_cstr(&names));
	return choose_newest(job, &job->lock);
}

static int download(const struct image_job *job, const struct lock *missing)
{
	AUTO_FREE struct call *call = call_new(job, "apt-get");
	AUTO_FREE char *words = NULL;
	int r;

	call_add(call, "download");
	call_add(call, "-q");
	packages_add(call, missing, &words);
	r = call_check(job, call);
	if (r == 0)
		r = job_run_in(job, "Fetching Debian packages", call->argv, job->debs);
	for (size_t i = 0; r == 0 && i < missing->n; i++) {
		if (file_check(job, &missing->packages[i]) == 0)
			continue;
		file_remove(job, &missing->packages[i]);
		r = job_refuse(job,
			"Try again; if it stays so, do not use that archive: somebody has changed "
			"its files.",
			"%s %s: what the archive gave does not have the SHA-256 that it should.",
			missing->packages[i].name, missing->packages[i].version);
	}
	return r;
}

static uint64_t bytes_sum(const struct lock *lock)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < lock->n; i++)
		sum += lock->packages[i].size_bytes;
	return sum;
}

int archive_fetch(struct image_job *job)
{
	AUTO_LOCK struct lock missing = { 0 }, rest = { 0 };
	int r;

	if (prefers_pinned(job)) {
		missing_find(job, &job->pinned, &missing);
		if (missing.n == 0) {
			job_step(job, "all %zu Debian packages of the lock are in the cache",
				job->pinned.n);
			job->lock = job->pinned;
			job->pinned = (struct lock){ 0 };
			return 0;
		}
	}
	job_step(job, "looking for Debian packages in the archive");
	r = lists_update(job);
	if (r == 0)
		r = choose(job);
	if (r < 0)
		return r;
	missing_find(job, &job->lock, &rest);
	if (rest.n == 0)
		return 0;
	job_tell(job, "      fetching %zu of %zu Debian packages, %llu MB", rest.n, job->lock.n,
		(unsigned long long)(bytes_sum(&rest) / 1000000));
	return download(job, &rest);
}

/* A package's paragraph: its control file, and where it is: beside the list, under a name without
 * a version, whose %3a apt would take for a colon. deb-control(5) */
static int paragraph_add(struct image_job *job, const struct lock_package *package, struct buf *out)
{
	char name[256], path[PATH_MAX], link[PATH_MAX], hash[HASH_TEXT_SIZE];
	const char *argv[] = { "dpkg-deb", "-f", path, NULL };
	int r;

	if (lock_file_name(package, name, sizeof(name)) < 0 ||
		job_path(path, "%s/%s", job->debs, name) < 0 ||
		job_path(link, "%s/archive/%s.deb", job->work, package->name) < 0)
		return job_refuse(job, "", "%s: the name is too long.", package->name);
	if (symlink(path, link) < 0)
		return job_refuse(job, "", "%s: %s.", link, strerror(errno));
	r = job_run(job, "Reading a Debian package", argv, out);
	hash_format(&package->sha256, hash);
	if (r == 0 && buf_addf(out, "Filename: ./%s.deb\nSize: %llu\nSHA256: %s\n\n", package->name,
			      (unsigned long long)package->size_bytes, hash) < 0)
		r = job_refuse(job, "", "The list of packages is too long.");
	return r;
}

int archive_index(struct image_job *job)
{
	AUTO_BUF struct buf text = BUF_INIT(TOOL_OUT_MAX);
	char path[PATH_MAX];
	int r;

	(void)job_path(path, "%s/archive", job->work);
	r = job_mkdir(job, path);
	for (size_t i = 0; i < job->lock.n && r == 0; i++)
		r = paragraph_add(job, &job->lock.packages[i], &text);
	(void)job_path(path, "%s/archive/Packages", job->work);
	return r == 0 ? job_write(job, path, buf_get_slice(&text)) : r;
}
