#pragma once

#include <stdbool.h>

/* Kills a child that nobody has waited for, and waits for it. pidfd stays the caller's.
 * pidfd_send_signal(2) */
void child_end(int pidfd);

/* The same, but waits for limit_ms at most: a killed process can be held up in the kernel. False if
 * it is not gone by then; it is still a child that somebody has to wait for. */
bool child_end_within(int pidfd, int limit_ms);
