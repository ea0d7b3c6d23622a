#include "cli/base/state_dir.h"

#include "base/str.h"
#include "cli/base/environment.h"

#include <errno.h>
#include <unistd.h>

int state_dir_default(char ret_path[PATH_MAX])
{
	const struct environment *environment = environment_get();
	int r = -ENOENT;

	if (environment->state_home && environment->state_home[0])
		r = str_format(ret_path, PATH_MAX, "%s/cloche", environment->state_home);
	else if (geteuid() == 0)
		r = str_copy(ret_path, PATH_MAX, "/var/lib/cloche");
	else if (environment->home && environment->home[0])
		r = str_format(ret_path, PATH_MAX, "%s/.local/state/cloche", environment->home);
	return r < 0 ? -ENOENT : 0;
}
