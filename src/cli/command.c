/* The table of subcommands with their help: the texts of --help and the man pages say the same. */
#include "cli/command.h"

#include "cli/image/image.h"
#include "cli/remote/remote.h"
#include "cli/run/run.h"

#include <stddef.h>
#include <string.h>

#ifdef CLOCHE_FAULT_INJECTION
#define RUN_USAGE_TEST                                                                             \
	"      --fail-stage N     make stage N of the jail fail (tests of the walls)\n"
#else
#define RUN_USAGE_TEST ""
#endif

static const char run_usage[] =
	"Usage: cloche run [OPTION]... SCRIPT|- [-- ARG...]\n"
	"Runs a Python or bash script in a jail: no network, nothing of this machine but\n"
	"read-only system files. What it writes to its folder lands in ./out.\n"
	"\n"
	"  -f, --file PATH        copy a file into the script's folder; may be repeated\n"
	"  -o, --out DIR          where made and changed files go (default: out)\n"
	"  -l, --language LANG    python or bash (default: by extension or first line)\n"
	"  -t, --timeout S        seconds, up to the profile's (strict: 30)\n"
	"  -p, --profile NAME     strict (default) or roomy: 1 GiB, 2 CPUs, 120 s\n"
	"  -i, --stdin FILE       what the script reads as its input; - is ours\n"
	"  -e, --env NAME=VALUE   a variable for the script; may be repeated\n"
	"      --json             print the answer as JSON and nothing else\n"
	"      --rootfs DIR       system files (default: image or this machine's /usr)\n"
	"      --server URL       let a `cloche up` do it: http://HOST:PORT or unix:PATH\n"
	"      --token-file FILE  its token (default: the file token of --state DIR)\n"
	"      --session KEY      with --server: the session to run in, which stays open\n"
	"      --policy POLICY    of a new session: ephemeral (default) or kept, on disk\n"
	"      --live, --reset    there, keep Python's names from run to run; forget them\n"
	"      --unlimited-host   run even where no memory, process, CPU limit can be "
	"set\n" RUN_USAGE_TEST "\n"
	"Exit status: the script's; 128+n for its signal n; 137 memory; 124 time;\n"
	"130 cancelled by Ctrl-C; 125 no jail (see cloche doctor); 2 usage.\n"
	"Example: cloche run chart.py --file sales.csv\n";

static const char up_usage[] =
	"Usage: cloche up [OPTION]...\n"
	"Serves jailed runs over HTTP until it is told to end. Prints one line,\n"
	"`ready http://ADDRESS:PORT`, when a first run has worked. The token is in\n"
	"DIR/token; DIR/supervisor.sock is served too.\n"
	"\n"
	"      --state DIR          what lasts (default: /var/lib/cloche, or for a user\n"
	"                           ~/.local/state/cloche)\n"
	"      --config FILE        see cloche.conf(5); its keys are options too:\n"
	"      --listen ADDR:PORT   on loopback (default: 127.0.0.1:17600), or none\n"
	"      --max-sessions N     open at once (4)\n"
	"      --session-idle-s N   a session closes so long after its last call (60)\n"
	"      --session-max-s N    and so long after it opened (300)\n"
	"      --queue-wait-s N     a run waits at most so long for a place (5)\n"
	"      --profile NAME       limits where none are asked for (strict)\n"
	"      --rootfs DIR         system files (default: image or this machine's /usr)\n"
	"      --log-level LEVEL    error, warning, info (default) or debug\n"
	"      --unlimited-host     go on where no cgroup limit can be set\n"
	"      --no-warm            start an interpreter for each run\n"
	"      --no-assistant       the service alone; as without: there is no chat yet\n"
	"\n"
	"Exit status: 0 ended by a signal; 125 cannot serve; 2 usage.\n";

static const char session_usage[] =
	"Usage: cloche session ls|show|stop|rm [OPTION]... [KEY]...\n"
	"       cloche session export [--out FILE] KEY\n"
	"       cloche session import [--policy POLICY] [--profile NAME] KEY FILE\n"
	"Lists the sessions of a service (`cloche up`), shows some, stops kept ones, or\n"
	"closes them with all that is in them; a run under way in one is ended. Writes a\n"
	"session as a tar, and makes a session out of one.\n"
	"\n"
	"      --server URL       http://HOST:PORT or unix:PATH (default: the socket of\n"
	"                         the state directory)\n"
	"      --token-file FILE  the token for it (default: the state directory's)\n"
	"      --state DIR        another state directory than the default\n"
	"      --json             print JSON\n"
	"\n"
	"Exit status: 0 done; 125 refused or no service; 2 usage.\n";

static const char files_usage[] =
	"Usage: cloche files ls KEY\n"
	"       cloche files get KEY PATH [--out FILE|-]\n"
	"       cloche files put KEY FILE [PATH] [--policy POLICY] [--profile NAME]\n"
	"       cloche files rm KEY PATH...\n"
	"Lists, fetches, brings and removes files of a session of a service (`cloche\n"
	"up`). Bringing one opens the session. Fetching overwrites nothing here.\n"
	"\n"
	"  -o, --out FILE         where it goes (default: its own name here); - is stdout\n"
	"  -p, --profile NAME     the limits of a session that is opened\n"
	"      --policy POLICY    of it: ephemeral (default) or kept, on disk\n"
	"      --server URL       http://HOST:PORT or unix:PATH (default: the socket of\n"
	"                         the state directory)\n"
	"      --token-file FILE  the token for it (default: the state directory's)\n"
	"      --state DIR        another state directory than the default\n"
	"      --json             print JSON\n"
	"\n"
	"Exit status: 0 done; 125 refused or no service; 2 usage.\n";

static const char cancel_usage[] =
	"Usage: cloche cancel [OPTION]... RUN...\n"
	"Ends runs of a service (`cloche up`); their answers say `cancelled`.\n"
	"`cloche session ls` shows the runs under way.\n"
	"\n"
	"      --server URL       http://HOST:PORT or unix:PATH (default: the socket of\n"
	"                         the state directory)\n"
	"      --token-file FILE  the token for it (default: the state directory's)\n"
	"      --state DIR        another state directory than the default\n"
	"      --json             print JSON\n"
	"\n"
	"Exit status: 0 done; 125 refused or no service; 2 usage.\n";

static const char token_usage[] =
	"Usage: cloche token add --tenant NAME [OPTION]...\n"
	"       cloche token ls [OPTION]...\n"
	"       cloche token rm [OPTION]... ID...\n"
	"Says who may use the service of a state directory, also while it runs. A token\n"
	"is printed once, when it is made; only its hash is kept.\n"
	"\n"
	"      --tenant NAME      whose sessions it opens; tenants do not see each other\n"
	"      --scope SCOPES     run (default), admin, or run,admin\n"
	"      --profiles NAMES   that may be asked for: strict,roomy (default: all)\n"
	"      --policy POLICY    of its sessions: ephemeral (default) or kept\n"
	"      --state DIR        of the service (default: as for `cloche up`)\n"
	"      --json             print JSON\n"
	"\n"
	"Exit status: 0 done; 125 a file cannot be read or written; 2 usage.\n";

static const char image_usage[] =
	"Usage: cloche image build [--out DIR] [--locked|--update-lock] [OPTION]...\n"
	"       cloche image path\n"
	"       cloche image ls [--json] [DIR]...\n"
	"       cloche image rm ID|DIR... | --old | --downloads\n"
	"Makes the system files of jails: CPython 3.14, its packages, ffmpeg, fonts. No\n"
	"container engine is needed, but root. `cloche run` and `up` use the last one\n"
	"made; --rootfs host is for those who want this machine's /usr.\n"
	"\n"
	"      --out DIR          the image there, for --rootfs, and not used by default\n"
	"      --locked           the versions of the lock files or none\n"
	"      --update-lock[=PACKAGE]\n"
	"                         the newest versions, of all or of one Python package,\n"
	"                         and the lock files are written\n"
	"      --from DIR         another recipe than Cloche's own (image/)\n"
	"      --cache DIR        where downloads stay (default: ~/.cache/cloche)\n"
	"      --old              all images but the one in use\n"
	"      --downloads        what of the downloads the recipe no longer names\n"
	"      --json             print JSON\n"
	"\n"
	"path prints where the image in use is; ls what is in each; rm removes some,\n"
	"but none that a run or `cloche up` uses. DIR is an image made with --out.\n"
	"Exit status: 0 done; 125 not; 2 usage.\n";

static const char doctor_usage[] =
	"Usage: cloche doctor [--json]\n"
	"Tries on this machine every mechanism that a jail is made of, and names cause\n"
	"and remedy of each that does not work.\n"
	"\n"
	"Exit status: 0 all work, 1 some do not.\n";

static const char jail_usage[] =
	"Usage: cloche jail syscalls --denied [--json]\n"
	"Lists the system calls that the jail's filter denies, with the answer that a\n"
	"script gets and the reason.\n";

static const char help_usage[] = "Usage: cloche help [COMMAND]\n"
				 "Shows all commands, or one of them.\n";

const struct command commands[] = {
	{ "run", "run a script in a jail and collect the files it makes", run_usage, cli_run,
		true },
	{ "doctor", "say what this machine lacks for a jail, and the remedy", doctor_usage,
		cli_doctor, true },
	{ "image", "make and list the system files of jails", image_usage, cli_image, false },
	{ "jail", "show what the jail forbids", jail_usage, cli_jail, false },
	{ "up", "serve jailed runs over HTTP", up_usage, cli_up, true },
	{ "token", "say who may use a service", token_usage, cli_token, false },
	{ "session", "list, show, stop, close and copy sessions of a service", session_usage,
		cli_session, false },
	{ "files", "list, fetch, bring and remove files of a session", files_usage, cli_files,
		false },
	{ "cancel", "end a run of a service", cancel_usage, cli_cancel, false },
	{ "help", "show this, or one command", help_usage, cli_help, false },
	{ NULL, NULL, NULL, NULL, false },
};

const struct command *command_find(const char *name)
{
	for (const struct command *command = commands; command->name; command++)
		if (strcmp(command->name, name) == 0)
			return command;
	return NULL;
}
