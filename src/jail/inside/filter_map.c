#include "jail/inside/filter_map.h"

#include "base/fd.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Mapped, not read: the pages are those of the one memfd, whatever the number of cells. */

int filter_map(int fd, uint32_t count, const struct sock_filter **ret_filter)
{
	size_t size = count * sizeof(**ret_filter);
	struct stat status;
	void *data;

	if (!fd_is_sealed(fd) || fstat(fd, &status) < 0)
		return -EPERM;
	if ((size_t)status.st_size != size)
		return -EBADMSG;
	data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return -errno;
	*ret_filter = data;
	return 0;
}

int filter_read(int fd, uint32_t count, struct sock_filter *ret_filter)
{
	const struct sock_filter *mapped = NULL;
	int r = filter_map(fd, count, &mapped);

	if (r < 0 || !mapped)
		return r < 0 ? r : -EBADMSG;
	memcpy(ret_filter, mapped, count * sizeof(*mapped));
	return munmap((void *)(uintptr_t)mapped, count * sizeof(*mapped)) < 0 ? -errno : 0;
}
