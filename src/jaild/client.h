#pragma once

#include "jaild/jaild.h"

/* Connections at once: a supervisor has one for each thread that talks to us. */
#define CLIENTS_MAX 256

/* A connection. Owned by the jaild's list. */
struct client {
	struct watch watch;
	struct jaild *jaild;
	struct client *next;
	uint64_t id;
	bool is_first; /* the one that jaild was started with; jaild ends with it */
};

/* Called for a message from the client, or a hang-up, on its socket. */
typedef void client_on_ready(struct watch *watch);

/* Takes over the socket fd. Returns 0; -EMFILE above CLIENTS_MAX, -ENOTSOCK for what is no
 * SEQPACKET socket, or -errno: then fd is still the caller's. */
int client_add(struct jaild *jaild, int fd, bool is_first, client_on_ready *on_ready);

/* The client with this id, or NULL. */
struct client *client_find(const struct jaild *jaild, uint64_t id);

/* Ends the connection and what it has under way. */
void client_close(struct client *client);
