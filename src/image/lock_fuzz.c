/*
 * Any text is read as a packages.lock, and as what apt-get prints. What is taken can be words of a
 * command line and names of files, and is written and read again the same.
 */
#include "image/lock.h"

#include "base/assert.h"
#include "base/buf.h"
#include "base/fault.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void package_check(const struct lock_package *package)
{
	const char *const words[] = { package->name, package->version, package->arch };
	char name[512];

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		assert(words[i][0] && words[i][0] != '-');
		assert(!strpbrk(words[i], "/ \t\n'\"$"));
	}
	assert(package->size_bytes <= LOCK_SIZE_MAX);
	assert(lock_file_name(package, name, sizeof(name)) == 0 && !strchr(name, '/'));
}

static void lock_check(const struct lock *lock)
{
	AUTO_BUF struct buf text = BUF_INIT(2 * LOCK_TEXT_MAX);
	AUTO_LOCK struct lock again = { 0 };
	struct fault fault;

	assert(lock->n <= LOCK_PACKAGES_MAX);
	for (size_t i = 0; i < lock->n; i++) {
		package_check(&lock->packages[i]);
		assert(lock_find(lock, lock->packages[i].name));
	}
	assert(lock_format(lock, &text) == 0);
	assert(lock_parse(buf_get_slice(&text), &again, &fault) == 0);
	assert(again.n == lock->n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct str text = { .p = (const char *)data, .n = size };
	AUTO_LOCK struct lock file = { 0 }, printed = { 0 };
	struct fault fault = { 0 };

	if (lock_parse(text, &file, &fault) == 0)
		lock_check(&file);
	else
		assert(fault.code != FAULT_NONE && fault.text[0]);
	if (lock_parse_uris(text, &printed) == 0)
		lock_check(&printed);
	return 0;
}
