#pragma once

#include "launch/options.h"

/* Makes the outer namespaces with jaild in them, gives up all rights, waits until jaild ends and
 * removes what it leaves. Returns the process's exit status. */
int launcher_run(const struct options *options);
