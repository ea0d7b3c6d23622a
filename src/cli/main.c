/*
 * cloche, the command. Only dispatches: each subcommand has a file of its own.
 *
 * SIGPIPE is ignored for the whole program: a reader that goes away is an error of one write, and
 * the run behind it still has to be ended and cleaned up. Children get it back (jail/client).
 */
#include "base/fd.h"
#include "cli/base/environment.h"
#include "cli/base/exit.h"
#include "cli/base/say.h"
#include "cli/command.h"
#include "cli/run/run_options.h"
#include "cli/scope.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	const struct command *command;
	bool is_second_life = scope_is_marked(argc, argv);
	int status;

	if (fd_standard_fill() < 0)
		return EXIT_OURS;
	environment_set(&(struct environment){ .home = getenv("HOME"),
		.config_home = getenv("XDG_CONFIG_HOME"),
		.state_home = getenv("XDG_STATE_HOME"),
		.cache_home = getenv("XDG_CACHE_HOME") });
	(void)signal(SIGPIPE, SIG_IGN);
	if (is_second_life) {
		argc--;
		argv++;
	}
	if (argc < 2) {
		(void)cli_help(1, argv);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		(void)puts("cloche " CLOCHE_VERSION);
		return 0;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return cli_help(1, argv);
	command = command_find(argv[1]);
	if (!command)
		return say_usage("there is no command '%s'; `cloche help` lists them", argv[1]);
	if (command->needs_scope && !is_second_life && !run_options_is_remote(argc - 1, argv + 1))
		scope_enter(argc, argv);
	status = command->main(argc - 1, argv + 1);
	if (status == EXIT_HELP) {
		(void)fputs(command->usage, stdout);
		status = 0;
	}
	if (fflush(stdout) != 0 && status == 0)
		status = EXIT_OURS;
	return status;
}
