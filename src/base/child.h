#pragma once

/* Kills a child that nobody has waited for, and waits for it. pidfd stays the caller's.
 * pidfd_send_signal(2) */
void child_end(int pidfd);
