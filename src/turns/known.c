#include "turns/known.h"

#include "base/assert.h"
#include "base/fd.h"
#include "wire/control.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

static_assert(sizeof(struct known) == KNOWN_SIZE && KNOWN_SIZE == CONTROL_KNOWN_SIZE,
	"it fills its memory");

/* A memfd that shrinks under us would be a SIGBUS. */
static int form_check(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat status;

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &status) < 0)
		return -EINVAL;
	return status.st_size == KNOWN_SIZE ? 0 : -EINVAL;
}

int known_open(int fd, struct known **ret_known)
{
	AUTO_CLOSE int memory_fd = fd;
	int r = memory_fd < 0 ? 0 : form_check(memory_fd);
	void *memory;

	if (r < 0)
		return r;
	memory = mmap(NULL, KNOWN_SIZE, PROT_READ | PROT_WRITE,
		memory_fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, memory_fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	*ret_known = memory;
	return 0;
}

void known_add(struct known *known, uint64_t hash, uint64_t owner)
{
	(void)slots_take(known->slots, KNOWN_MAX, hash, owner);
}

void known_remove(struct known *known, uint64_t hash)
{
	(void)slots_give(known->slots, KNOWN_MAX, hash);
}
