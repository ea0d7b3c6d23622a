#pragma once

/* The commands about a supervisor. Each gets argv from its own name on and returns the exit status,
 * or EXIT_HELP. */
int cli_session(int argc, char **argv);
int cli_files(int argc, char **argv);
int cli_cancel(int argc, char **argv);
int cli_token(int argc, char **argv);
