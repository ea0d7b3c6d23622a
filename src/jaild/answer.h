#pragma once

#include "jaild/jaild.h"
#include "wire/message.h"

/* Sends a message to the client: fills in its header. A client that does not read, or is gone, ends
 * jaild: nobody waits for its answers any more. */
void answer_send(
	struct jaild *jaild, union wire_any *message, enum wire_type type, uint32_t seq, int fd);

void answer_done(struct jaild *jaild, uint32_t seq);
void answer_failed(struct jaild *jaild, uint32_t seq, const struct failure *failure);
/* A request that was refused before it came to any stage. */
void answer_refused(struct jaild *jaild, uint32_t seq, int error);
