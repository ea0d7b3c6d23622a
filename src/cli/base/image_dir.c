#include "cli/base/image_dir.h"

#include "base/str.h"
#include "cli/base/environment.h"
#include "cli/base/exit.h"
#include "cli/base/say.h"
#include "cli/base/state_dir.h"
#include "image/place/hold.h"
#include "image/place/place.h"

#include <errno.h>

#define ROOT_PLACE "/var/lib/cloche/image"

int image_dir_default(char ret_path[PATH_MAX])
{
	char state[PATH_MAX];

	if (state_dir_default(state) < 0 || str_format(ret_path, PATH_MAX, "%s/image", state) < 0)
		return -ENOENT;
	return 0;
}

int image_cache_default(char ret_path[PATH_MAX])
{
	const struct environment *environment = environment_get();
	int r = -ENOENT;

	if (environment->cache_home && environment->cache_home[0] == '/')
		r = str_format(ret_path, PATH_MAX, "%s/cloche", environment->cache_home);
	else if (environment->home && environment->home[0] == '/')
		r = str_format(ret_path, PATH_MAX, "%s/.cache/cloche", environment->home);
	return r < 0 ? -ENOENT : 0;
}

int image_default(char ret_path[PATH_MAX])
{
	char place[PATH_MAX];

	if (image_dir_default(place) == 0 && image_current(place, ret_path) == 0)
		return 0;
	return image_current(ROOT_PLACE, ret_path);
}

const char *image_rootfs(const char *rootfs, char path[PATH_MAX])
{
	if (!rootfs || !rootfs[0])
		return image_default(path) == 0 ? path : NULL;
	return strcmp(rootfs, "host") == 0 ? NULL : rootfs;
}

int image_begin(const char *rootfs, int *ret_fd)
{
	int fd = rootfs ? image_hold(rootfs) : -ENOENT;

	*ret_fd = fd >= 0 ? fd : -1;
	if (fd >= 0 || fd == -ENOENT)
		return 0;
	if (fd == -EBUSY)
		say("%s: the image is being replaced or removed at this moment; try again", rootfs);
	else
		say("%s: the image cannot be held against its removal (lock on " IMAGE_MANIFEST
		    ": %s); name one with --rootfs that you may read, on a file system with locks",
			rootfs, strerror(-fd));
	return EXIT_OURS;
}
