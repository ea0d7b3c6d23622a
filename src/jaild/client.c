#include "jaild/client.h"

#include "base/alloc.h"
#include "base/fd.h"
#include "jaild/session.h"
#include "jaild/upload.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

/* Clients are threads of one program and trust each other; what a connection started ends with it,
 * because nobody is left to hear of it. */

static int socket_check(int fd)
{
	int type = 0, domain = 0;
	socklen_t size = sizeof(int);

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0 ||
		getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0)
		return -errno;
	return type == SOCK_SEQPACKET && domain == AF_UNIX ? 0 : -ENOTSOCK;
}

int client_add(struct jaild *jaild, int fd, bool is_first, client_on_ready *on_ready)
{
	struct client *client;
	int r = socket_check(fd);

	if (r == 0 && jaild->n_clients >= CLIENTS_MAX)
		r = -EMFILE;
	if (r == 0)
		r = fd_set_nonblocking(fd);
	if (r < 0)
		return r;
	client = xcalloc(1, sizeof(*client));
	*client = (struct client){
		.jaild = jaild, .next = jaild->clients, .id = jaild->next_id++, .is_first = is_first
	};
	r = loop_watch(&jaild->loop, &client->watch, fd, on_ready);
	if (r < 0) {
		free(client);
		return r;
	}
	jaild->clients = client;
	jaild->n_clients++;
	return 0;
}

struct client *client_find(const struct jaild *jaild, uint64_t id)
{
	for (struct client *client = jaild->clients; client; client = client->next) {
		if (client->id == id)
			return client;
	}
	return NULL;
}

void client_close(struct client *client)
{
	struct jaild *jaild = client->jaild;
	uint64_t id = client->id;
	int fd = client->watch.fd;

	if (client->is_first)
		jaild->loop.is_over = true;
	loop_unwatch(&jaild->loop, &client->watch);
	(void)fd_close(fd);
	for (struct client **at = &jaild->clients; *at; at = &(*at)->next) {
		if (*at == client) {
			*at = client->next;
			jaild->n_clients--;
			break;
		}
	}
	free(client);
	uploads_drop_of(jaild, id);
	sessions_forget(jaild, id);
}
