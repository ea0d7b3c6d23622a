#pragma once

#include <stddef.h>
#include <stdint.h>

struct fault;

/* The sockets on which HTTP is served, opened here because the supervisor has no rights to. */

#define UP_SOCKET_NAME "supervisor.sock"

/* Listens on ADDRESS:PORT ([::1]:PORT for IPv6, localhost for 127.0.0.1), loopback only, port 0 for
 * any. Returns 0 with *ret_port, or -errno with *ret_fault. The caller closes *ret_fd. */
int up_listen_tcp(const char *address, int *ret_fd, uint16_t *ret_port, struct fault *ret_fault);

/* Listens on UP_SOCKET_NAME in the folder, in place of what stood there; everybody may connect, and
 * is asked who he is. */
int up_listen_unix(int dir_fd, int *ret_fd, struct fault *ret_fault);
