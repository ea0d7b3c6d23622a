/*
 * Theory of operation: runs a fuzz target over a folder of inputs without libFuzzer, so that gcc's
 * builds replay each corpus as an ordinary test. Every file is one TAP line; a crash or a sanitizer
 * report ends the program before the plan is fulfilled, which the test harness counts as a failure.
 */
#include "base/fd.h"

#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <stdint.h>

#define INPUT_MAX ((size_t)1024 * 1024) /* bytes; libFuzzer's inputs are far smaller */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay_file(int dirfd, const char *name)
{
	AUTO_CLOSE int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);
	uint8_t *data = malloc(INPUT_MAX);
	ssize_t n;

	if (fd < 0 || !data)
		err(1, "%s", name);
	n = fd_read_full(fd, data, INPUT_MAX);
	if (n < 0)
		errx(1, "%s: cannot be read", name);
	/* An exact copy, so that AddressSanitizer sees a read past its end. */
	uint8_t *exact = malloc(n > 0 ? (size_t)n : 1);
	if (!exact)
		err(1, "%s", name);
	memcpy(exact, data, (size_t)n);
	(void)LLVMFuzzerTestOneInput(exact, (size_t)n);
	free(exact);
	free(data);
}

int main(int argc, char **argv)
{
	struct dirent *entry;
	unsigned done = 0;
	DIR *dir;

	if (argc != 2)
		errx(2, "usage: %s FOLDER", argv[0]);
	dir = opendir(argv[1]);
	if (!dir)
		err(1, "%s", argv[1]);
	while ((entry = readdir(dir))) {
		if (entry->d_type != DT_REG)
			continue;
		replay_file(dirfd(dir), entry->d_name);
		done++;
		printf("ok %u - %s\n", done, entry->d_name);
	}
	closedir(dir);
	printf("1..%u\n", done);
	return done > 0 ? 0 : 1;
}
