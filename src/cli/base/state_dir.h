#pragma once

#include <limits.h>

/* Where `cloche up` keeps what lasts, when it is not told: $XDG_STATE_HOME/cloche, else
 * /var/lib/cloche for root and ~/.local/state/cloche for a user. Returns 0, or -ENOENT when there
 * is no such place. decisions.md 29 */
int state_dir_default(char ret_path[PATH_MAX]);
