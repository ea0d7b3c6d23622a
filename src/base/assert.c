/*
 * Theory of operation: a failed assertion is a mistake of ours in a program that may guard a jail,
 * so it ends the program at once. The line is made in a fixed buffer and written with write(2):
 * the heap or stdio may be what is broken.
 */
#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void assert_fail(const char *what, const char *file, int line, const char *function)
{
	char text[512];
	int n = snprintf(text, sizeof(text),
		"level=error msg=\"assertion failed: %s\" at=%s:%d function=%s\n", what, file, line,
		function);

	if (n > 0) {
		size_t size = (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1;
		ssize_t ignored = write(STDERR_FILENO, text, size);
		(void)ignored;
	}
	abort();
}
