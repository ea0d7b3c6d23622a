#pragma once

#include <stdbool.h>

/* A subcommand: its main gets argv from its own name on and returns the exit status, or EXIT_HELP
 * (cli/base/exit.h) when its usage is to be printed. */

struct command {
	const char *name;
	const char *summary; /* one line for `cloche help` */
	const char *usage;   /* what --help prints: fits 24 lines of 80 */
	int (*main)(int argc, char **argv);
	bool needs_scope; /* it starts a jaild: cli/scope.h */
};

/* The subcommands in the order of help, ended by a NULL name. */
extern const struct command commands[];

/* The subcommand called name, or NULL. */
const struct command *command_find(const char *name);

int cli_up(int argc, char **argv);
int cli_doctor(int argc, char **argv);
int cli_jail(int argc, char **argv);
int cli_help(int argc, char **argv);
