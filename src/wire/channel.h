#pragma once

#include <stddef.h>
#include <sys/types.h>

/*
 * One message with its descriptors over a SEQPACKET socket. A message is whole or it is refused:
 * truncation, too many descriptors and foreign control data are errors, and no descriptor leaks.
 * Nothing here allocates (cloche-init links it).
 */

/* Most descriptors in one message: a run hands over package, three streams, report and spare. */
#define CHANNEL_FDS_MAX 8

/* A pair of connected SEQPACKET sockets, close-on-exec. Returns 0 or -errno. unix(7) */
int channel_pair(int ret_fds[2]);

/* Sends data with n_fds descriptors (still the caller's). Returns 0, -EAGAIN when a non-blocking
 * peer does not read, -EPIPE when it is gone, or another -errno. Never raises SIGPIPE. */
int channel_send(int fd, const void *data, size_t size, const int *fds, size_t n_fds);

/*
 * Receives one message of at most cap bytes. ret_fds (CHANNEL_FDS_MAX places) gets the descriptors,
 * close-on-exec, owned by the caller; unused places are -1. Returns the length (> 0), 0 at the end
 * of the connection, -EAGAIN, -EMSGSIZE for a message that did not fit (its descriptors are
 * closed), or another -errno.
 */
ssize_t channel_receive(
	int fd, void *data, size_t cap, int ret_fds[CHANNEL_FDS_MAX], size_t *ret_n_fds);

/* Closes the n descriptors at fds (-1 is fine) and sets them to -1. */
void channel_close_fds(int *fds, size_t n);
