#pragma once

#include "jaild/jaild.h"
#include "wire/message.h"

/* Sends a message to the client of the reply, with a descriptor (-1: none), and fills in its
 * header. A client that is gone gets nothing; one that does not read is hung up on. */
void answer_send(struct jaild *jaild, const struct reply *reply, union wire_any *message,
	enum wire_type type, int fd);

void answer_done(struct jaild *jaild, const struct reply *reply);
void answer_failed(struct jaild *jaild, const struct reply *reply, const struct failure *failure);
/* A request that was refused before it came to any stage; error as errno, of either sign. */
void answer_refused(struct jaild *jaild, const struct reply *reply, int error);
