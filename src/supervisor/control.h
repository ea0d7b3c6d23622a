#pragma once

struct supervisor;

/* Our end of the socket to `cloche up` (wire/control.h). */

/* Waits for START, TOKENS and JAILD: with them the supervisor has all that it works with. *ret_fds
 * gets the listeners, which live as long as the process. Returns their number, or -errno. */
int control_begin(struct supervisor *supervisor, int control_fd, int *ret_fds);

/* Serves until SIGTERM (0) or until `up` is gone (-ECONNRESET). signal_fd is a signalfd. Says READY
 * when the first canary has worked. */
int control_serve(struct supervisor *supervisor, int control_fd, int signal_fd);
