#pragma once

#include "jaild/jaild.h"

/* Takes over client_fd as the first client and serves it; when it hangs up or breaks the protocol,
 * the loop is over. Returns 0 or -errno. */
int monitor_start(struct jaild *jaild, int client_fd);
