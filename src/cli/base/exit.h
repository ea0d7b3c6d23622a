#pragma once

/* Of a command whose help is wanted: main prints it, and the status is 0. */
#define EXIT_HELP (-1)

/* Exit statuses of cloche, beside the script's own and 128 + n for its signal n; cloche(1) tells
 * them. */
#define EXIT_USAGE	 2   /* a mistake in the command line, found before anything ran */
#define EXIT_TIMED_OUT	 124 /* as timeout(1) */
#define EXIT_OURS	 125 /* the fault is ours or the host's: no run, or its files not saved */
#define EXIT_SIGNAL_BASE 128
#define EXIT_MEMORY	 137 /* as a shell says of what the kernel killed */
