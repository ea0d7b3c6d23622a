#pragma once

#include "wire/stage.h"

/* Tells the client, as the first message on its socket, that jaild does not start, and why. text
 * (or NULL) is one more line for people, on stderr. client_fd -1: stderr only. */
void refuse_start(int client_fd, enum stage stage, int error, const char *text);
