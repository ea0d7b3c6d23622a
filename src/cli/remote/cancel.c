/* `cloche cancel`: end runs of a supervisor by their ids. */
#include "cli/base/exit.h"
#include "cli/base/say.h"
#include "cli/base/server.h"
#include "cli/remote/remote.h"
#include "client/sandbox.h"

#include <stdio.h>

int cli_cancel(int argc, char **argv)
{
	struct server_command command = { .name = "cancel", .more = "" };
	struct sandbox *sandbox = NULL;
	int status = server_command_parse(&command, argc, argv);

	if (status != 0)
		return status;
	if (command.options.is_help)
		return EXIT_HELP;
	if (!argv[command.first])
		return say_usage("which run? `cloche session ls` shows those under way");
	status = server_open(&command.options, &sandbox);
	for (char **id = argv + command.first; status == 0 && *id; id++) {
		struct sandbox_trouble trouble;
		int r = sandbox_cancel(sandbox, *id, &trouble);

		if (r < 0)
			status = server_trouble_say(*id, r, &trouble, command.options.is_json);
		else
			say_done(command.options.is_json, "cancelled %s", *id);
	}
	sandbox_free(sandbox);
	return status;
}
