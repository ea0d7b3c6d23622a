#pragma once

#include <limits.h>

/* Where `cloche image build` puts images when it is not told: DIR/image with DIR as in
 * state_dir_default. Returns 0 or -ENOENT. */
int image_dir_default(char ret_path[PATH_MAX]);

/* Where its downloads are kept: $XDG_CACHE_HOME/cloche, else ~/.cache/cloche. Returns 0 or -ENOENT.
 */
int image_cache_default(char ret_path[PATH_MAX]);

/* The image that runs use when no other system files are named: the current one of our own place,
 * else that of root's (/var/lib/cloche/image). Returns 0, or -ENOENT if there is none. */
int image_default(char ret_path[PATH_MAX]);

/* What --rootfs and the setting mean: "" or NULL is image_default, or NULL for this machine's /usr
 * if there is none; "host" is /usr in any case; all else is a folder. `path` keeps the text. */
const char *image_rootfs(const char *rootfs, char path[PATH_MAX]);

/* Says to others that the image is in use (image/place/hold.h) for as long as *ret_fd is open; -1
 * if rootfs (or NULL) is none. Returns 0, or an exit status after saying why it cannot be used. */
int image_begin(const char *rootfs, int *ret_fd);
