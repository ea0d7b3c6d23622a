#pragma once

#include "jaild/jaild.h"

/* Serves the client's requests until it hangs up or breaks the protocol; then the loop is over. */
int monitor_start(struct jaild *jaild);
