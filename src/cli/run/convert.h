#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct jaild;
struct sandbox;

/*
 * Turns pictures of a script's into sixel. To read a picture takes a decoder, and what a script
 * made may be meant for its mistakes: so a second script, ours, does it, each picture in a session
 * of its own, and what it made is looked at by sixel_is_picture before anybody gets it.
 */

#define CONVERT_FROM  "picture.png" /* as sixel.py names them */
#define CONVERT_TO    "picture.six"
#define CONVERT_MS    10000 /* a photograph takes about 1.5 s, noise 3 */
#define CONVERT_WORDS 2	    /* arguments */

struct convert_script {
	struct str code;
	const char *args[CONVERT_WORDS];
};

/* Where that script runs. Embedded in its owner. */
struct convert {
	/* Puts png_fd's bytes into the session as CONVERT_FROM, runs the script, opens CONVERT_TO.
	 * Returns 0 or -errno. */
	int (*run)(struct convert *convert, int png_fd, const struct convert_script *script,
		int *ret_fd);
};

/* Appends the picture behind png_fd (which is at its start) as sixel, no larger than the terminal
 * behind stdout. Returns 0, or -errno: -EBADMSG when what was made is no picture. */
int convert_to_sixel(struct convert *convert, int png_fd, struct buf *ret);

/* Here, in a jail. */
struct convert_jail {
	struct convert convert;
	struct jaild *jaild;
};
void convert_jail_init(struct convert_jail *jail, struct jaild *jaild);

/* There, in a session of the server's. run_id is the caller's and outlives it. */
struct convert_server {
	struct convert convert;
	struct sandbox *sandbox;
	const char *run_id;
	unsigned n_pictures;
	char key[64]; /* of the last one's session */
};
void convert_server_init(
	struct convert_server *server, struct sandbox *sandbox, const char *run_id);
