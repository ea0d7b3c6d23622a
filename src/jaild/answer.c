#include "jaild/answer.h"

#include "wire/channel.h"

#include <errno.h>

/* The client's socket does not block: its buffer holds hundreds of answers, and a client that lets
 * them pile up is broken. */

void answer_send(
	struct jaild *jaild, union wire_any *message, enum wire_type type, uint32_t seq, int fd)
{
	message->header = (struct wire_header){ (uint16_t)type, WIRE_VERSION, seq };
	if (channel_send(jaild->client.fd, message, wire_size(type), &fd, fd >= 0 ? 1 : 0) < 0)
		jaild->loop.is_over = true;
}

void answer_done(struct jaild *jaild, uint32_t seq)
{
	union wire_any message = { 0 };

	answer_send(jaild, &message, WIRE_DONE, seq, -1);
}

void answer_failed(struct jaild *jaild, uint32_t seq, const struct failure *failure)
{
	union wire_any message = { .failed = { .error = failure->error, .stage = failure->stage } };

	answer_send(jaild, &message, WIRE_FAILED, seq, -1);
}

void answer_refused(struct jaild *jaild, uint32_t seq, int error)
{
	struct failure failure = { .error = error < 0 ? -error : error };

	answer_failed(jaild, seq, &failure);
}

bool failed(struct failure *failure, enum stage stage, int result)
{
	if (result < 0 && failure->error == 0)
		*failure = (struct failure){ .stage = stage, .error = -result };
	return failure->error != 0;
}
