#pragma once

/* `cloche run`: gets argv from its name on and returns the exit status, or EXIT_HELP. */
int cli_run(int argc, char **argv);
