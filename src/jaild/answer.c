#include "jaild/answer.h"

#include "jaild/client.h"
#include "wire/channel.h"

#include <sys/socket.h>

/* The clients' sockets do not block: their buffers hold hundreds of answers, and a client that lets
 * them pile up is broken. It is closed where its hang-up is read, not here in the middle. */

void answer_send(struct jaild *jaild, const struct reply *reply, union wire_any *message,
	enum wire_type type, int fd)
{
	const struct client *client = client_find(jaild, reply->client);

	if (!client)
		return;
	message->header = (struct wire_header){ (uint16_t)type, WIRE_VERSION, reply->seq };
	if (channel_send(client->watch.fd, message, wire_size(type), &fd, fd >= 0 ? 1 : 0) < 0)
		(void)shutdown(client->watch.fd, SHUT_RDWR);
}

void answer_done(struct jaild *jaild, const struct reply *reply)
{
	union wire_any message = { 0 };

	answer_send(jaild, reply, &message, WIRE_DONE, -1);
}

void answer_failed(struct jaild *jaild, const struct reply *reply, const struct failure *failure)
{
	union wire_any message = { .failed = { .error = failure->error, .stage = failure->stage } };

	answer_send(jaild, reply, &message, WIRE_FAILED, -1);
}

void answer_refused(struct jaild *jaild, const struct reply *reply, int error)
{
	struct failure failure = { .error = error < 0 ? -error : error };

	answer_failed(jaild, reply, &failure);
}

bool failed(struct failure *failure, enum stage stage, int result)
{
	if (result < 0 && failure->error == 0)
		*failure = (struct failure){ .stage = stage, .error = -result };
	return failure->error != 0;
}
