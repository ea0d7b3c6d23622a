#include "jail/inside/groups.h"

#include <errno.h>
#include <unistd.h>

int groups_enter(const int *tasks, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (write(tasks[i], "0", 1) != 1)
			return -errno;
	}
	return 0;
}
