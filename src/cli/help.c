#include "cli/base/exit.h"
#include "cli/base/say.h"
#include "cli/command.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int cli_help(int argc, char **argv)
{
	if (argc > 1) {
		bool is_of_help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0;
		const struct command *command = command_find(is_of_help ? "help" : argv[1]);

		if (!command)
			return say_usage(
				"there is no command '%s'; `cloche help` lists them", argv[1]);
		(void)fputs(command->usage, stdout);
		return 0;
	}
	(void)printf("Usage: cloche COMMAND [OPTION]...\n"
		     "Runs code that nobody has read, in a jail.\n\n");
	for (const struct command *command = commands; command->name; command++)
		(void)printf("  %-8s %s\n", command->name, command->summary);
	(void)printf("\nA first try: echo 'print(6 * 7)' | cloche run -\n"
		     "`cloche help COMMAND` or `cloche COMMAND --help` shows its options;\n"
		     "cloche(1) says more. `cloche --version` prints the version.\n");
	return 0;
}
