#include "image/lock.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fault.h"

#include <errno.h>
#include <stdlib.h>

void lock_fini(struct lock *lock)
{
	free(lock->packages);
	*lock = (struct lock){ 0 };
}

static int package_compare(const void *a, const void *b)
{
	const struct lock_package *left = a, *right = b;

	return strcmp(left->name, right->name);
}

static void lock_sort(struct lock *lock)
{
	if (lock->n > 0)
		qsort(lock->packages, lock->n, sizeof(*lock->packages), package_compare);
}

/* Names and versions become words of command lines: what dpkg allows, and nothing that begins like
 * an option. deb-version(7) */
static bool word_is_plain(struct str word)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789.+-~:_";

	for (size_t i = 0; i < word.n; i++)
		if (!memchr(allowed, word.p[i], sizeof(allowed) - 1))
			return false;
	return word.n > 0 && word.p[0] != '-';
}

static int word_take(char *to, size_t size, struct str word)
{
	if (!word_is_plain(word))
		return -EINVAL;
	return str_format(to, size, "%.*s", STR_ARG(word)) < 0 ? -EINVAL : 0;
}

static int package_add(struct lock *lock, const struct lock_package *package)
{
	if (lock->n == LOCK_PACKAGES_MAX)
		return -EINVAL;
	if (!lock->packages)
		lock->packages = xcalloc(LOCK_PACKAGES_MAX, sizeof(*lock->packages));
	lock->packages[lock->n++] = *package;
	return 0;
}

/* The next word of a line; "" at its end. */
static struct str word_next(struct str *line)
{
	struct str word;

	*line = str_trim(*line);
	if (!str_split_once(*line, ' ', &word, line))
		*line = STR("");
	return word;
}

static int line_parse(struct str line, struct lock_package *ret)
{
	int r = word_take(ret->name, sizeof(ret->name), word_next(&line));

	if (r == 0)
		r = word_take(ret->version, sizeof(ret->version), word_next(&line));
	if (r == 0)
		r = word_take(ret->arch, sizeof(ret->arch), word_next(&line));
	if (r == 0)
		r = str_to_u64(word_next(&line), LOCK_SIZE_MAX, &ret->size_bytes);
	if (r == 0)
		r = hash_parse(word_next(&line), &ret->sha256);
	return r == 0 && str_trim(line).n == 0 ? 0 : -EINVAL;
}

int lock_parse(struct str text, struct lock *ret_lock, struct fault *ret_fault)
{
	struct lock_package package;
	unsigned number = 0;
	struct str line;

	while (text.n > 0) {
		number++;
		if (!str_split_once(text, '\n', &line, &text))
			text = STR("");
		line = str_trim(line);
		if (line.n == 0 || line.p[0] == '#')
			continue;
		package = (struct lock_package){ 0 };
		if (line_parse(line, &package) < 0 || package_add(ret_lock, &package) < 0) {
			fault_set(ret_fault, FAULT_INVALID_FIELD,
				"packages.lock, line %u: not name, version, architecture, size and "
				"SHA-256 of a package; make it anew with --update-lock",
				number);
			return -EINVAL;
		}
	}
	lock_sort(ret_lock);
	return 0;
}

int lock_format(const struct lock *lock, struct buf *out)
{
	char hash[HASH_TEXT_SIZE];
	int r = 0;

	for (size_t i = 0; i < lock->n && r == 0; i++) {
		const struct lock_package *package = &lock->packages[i];

		hash_format(&package->sha256, hash);
		r = buf_addf(out, "%s %s %s %llu %s\n", package->name, package->version,
			package->arch, (unsigned long long)package->size_bytes, hash);
	}
	return r;
}

/* "1%3a2.0" to "1:2.0": apt escapes nothing else in names of files. */
static int version_take(char *to, size_t size, struct str text)
{
	struct str left, right;

	if (str_split_once(text, '%', &left, &right) && str_starts(right, STR("3a"))) {
		char joined[192];

		if (str_format(joined, sizeof(joined), "%.*s:%.*s", STR_ARG(left), (int)right.n - 2,
			    right.p + 2) < 0)
			return -EINVAL;
		return word_take(to, size, str_from(joined));
	}
	return word_take(to, size, text);
}

static int file_name_parse(struct str file, struct lock_package *ret)
{
	struct str name, version, arch;
	int r;

	if (!str_ends(file, STR(".deb")) || !str_split_once(file, '_', &name, &version) ||
		!str_split_once(version, '_', &version, &arch))
		return -EINVAL;
	arch.n -= 4;
	r = word_take(ret->name, sizeof(ret->name), name);
	if (r == 0)
		r = version_take(ret->version, sizeof(ret->version), version);
	return r == 0 ? word_take(ret->arch, sizeof(ret->arch), arch) : r;
}

int lock_parse_uris(struct str text, struct lock *ret_lock)
{
	static const struct str prefix = { "SHA256:", 7 };
	struct lock_package package;
	struct str line, hash;
	int r = 0;

	while (text.n > 0 && r == 0) {
		if (!str_split_once(text, '\n', &line, &text))
			text = STR("");
		if (!str_starts(line, STR("'")))
			continue;
		package = (struct lock_package){ 0 };
		(void)word_next(&line);
		r = file_name_parse(word_next(&line), &package);
		if (r == 0)
			r = str_to_u64(word_next(&line), LOCK_SIZE_MAX, &package.size_bytes);
		hash = word_next(&line);
		if (r == 0 && !str_starts(hash, prefix))
			r = -EINVAL;
		if (r == 0)
			r = hash_parse((struct str){ hash.p + prefix.n, hash.n - prefix.n },
				&package.sha256);
		if (r == 0)
			r = package_add(ret_lock, &package);
	}
	lock_sort(ret_lock);
	return r < 0 ? -EINVAL : 0;
}

const struct lock_package *lock_find(const struct lock *lock, const char *name)
{
	struct lock_package key = { 0 };

	if (lock->n == 0 || str_copy(key.name, sizeof(key.name), name) < 0)
		return NULL;
	return bsearch(&key, lock->packages, lock->n, sizeof(key), package_compare);
}

bool lock_is_equal(const struct lock *a, const struct lock *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->packages[i].name, b->packages[i].name) != 0 ||
			!hash_is_equal(&a->packages[i].sha256, &b->packages[i].sha256))
			return false;
	return true;
}

int lock_file_name(const struct lock_package *package, char *ret_name, size_t size)
{
	const char *colon = strchr(package->version, ':');

	if (!colon)
		return str_format(ret_name, size, "%s_%s_%s.deb", package->name, package->version,
			package->arch);
	return str_format(ret_name, size, "%s_%.*s%%3a%s_%s.deb", package->name,
		(int)(colon - package->version), package->version, colon + 1, package->arch);
}
