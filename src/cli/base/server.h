#pragma once

#include "client/sandbox.h"

#include <stdbool.h>
#include <stddef.h>

/* How a command finds its supervisor and shows itself to it. */

struct server_options {
	const char *server;	/* --server, or NULL: the socket in the state directory */
	const char *token_file; /* --token-file, or NULL: DIR/token, for servers of this machine */
	const char *state;	/* --state, or NULL: the default */
	bool is_json;
	bool is_help;
};

/* Makes the client. Returns 0, or an exit status after saying what is wrong. The caller frees it.
 */
int server_open(const struct server_options *options, struct sandbox **ret_sandbox);

/* The command line of a command that talks to a supervisor: --server, --token-file, --state,
 * --json,
 * --help, and what else more (short options as getopt has them) names, which on_option takes. */
struct server_command {
	const char *name; /* of the command, for texts */
	const char *more; /* "o:p:" or "" */
	/* Takes one of more. Returns 0 or an exit status. May be NULL. */
	int (*on_option)(struct server_command *command, int option, const char *value);
	struct server_options options;
	int first; /* index of the first word that is no option */
};

/* Reads argv, whose words are sorted. Returns 0, or EXIT_USAGE after saying what is wrong. */
int server_command_parse(struct server_command *command, int argc, char **argv);

/* Says what a call that returned r came to and what helps; as JSON too when that was asked for.
 * name is what the call was about, a session or file of several, or NULL. Returns EXIT_OURS, or
 * EXIT_USAGE for a name that names nothing. */
int server_trouble_say(
	const char *name, int r, const struct sandbox_trouble *trouble, bool is_json);
