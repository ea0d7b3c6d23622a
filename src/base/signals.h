#pragma once

#include <signal.h>

/* The signals that mean "stop", but for those that whoever started us has told us to ignore: nohup,
 * or a shell for its background jobs. Blocked, they would be queued all the same. */
void signals_stop(sigset_t *ret_set);
