#pragma once

#include <stdint.h>

/* The seccomp filters, as BPF programs in sealed memfds. The caller closes *ret_fd; *ret_count is
 * the number of instructions. Return 0 or -errno. */

/* The script's, of profiles/syscalls.def and profiles/socket_families.def: as a whole, or in two
 * parts that answer together what the whole one answers. */
enum filter_part {
	FILTER_WHOLE,
	FILTER_BASE, /* without what a cell's init and its maker need themselves: these have it too
		      */
	FILTER_REST,
	FILTER_NUMBERS /* not the script's: denies what the tables do not know, and no call else */
};

int filter_make_script(enum filter_part part, int *ret_fd, uint32_t *ret_count);

struct sock_filter;

/* Writes the script's program into program (cap places). Returns the number of instructions. For
 * the unit test that runs it over all architectures and numbers. */
int filter_compile_script(enum filter_part part, struct sock_filter *program, unsigned cap);

/* Lets this thread and what comes of it make no call whose number was not reviewed, nor one of
 * another architecture. no_new_privs must be set. Returns 0 or -errno. */
int filter_install_numbers(void);

/* Installs jaild's own filter: what neither it nor a cell's init ever needs, and numbers that were
 * not reviewed. no_new_privs must be set. */
int filter_install_own(void);
