#pragma once

#include <stdint.h>

/*
 * What is said on the way of a call to a live interpreter: jaild to init, and init to the
 * interpreter and back. The script can reach the second socket, so init takes from there one word
 * of fixed size and no descriptor, and all that it can lie about is the end of its own call.
 */

#define LIVE_MAGIC 0x4556494cu /* "LIVE" */

/* What init executes in the place of a script; it finds its socket as descriptor 3. */
#define CELL_LIVE "/etc/cloche/live.py"

/* Of what a call brings as its input: init copies it. */
#define LIVE_STDIN_MAX (1024 * 1024)

/* Bytes of a package that comes with the word for the call. */
#define LIVE_PACKAGE_MAX 4096

/* jaild to init, with the descriptors of enum wire_live_fd. The first word of a live cell is a
 * jail_run with LIVE_MAGIC and without descriptors, which starts the interpreter. */
struct live_call {
	uint32_t magic;
	uint32_t number;      /* counts from 1 */
	uint64_t watchdog_ms; /* init ends the cell by itself after this */
};

/* init to the interpreter and, without anything else, back when the call is over. */
struct live_word {
	uint32_t number;
	uint32_t code; /* exit status, 0 to 255; else the package's size */
};

/* The interpreter gets descriptors of enum wire_live_fd, and the package here if it is short: then
 * its descriptor is left out. */
struct live_hand {
	struct live_word word;
	char package[LIVE_PACKAGE_MAX];
};
