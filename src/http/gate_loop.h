#pragma once

#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>

struct connection;
struct gate;

/* The thread of a gate; for http/gate.c only. */
void *gate_main(void *gate);

/* Sets the deadline after_us from now (0: none) and sees to it that the sweep comes in time. The
 * lock is held. */
void gate_deadline_set(struct gate *gate, struct connection *connection, usec_t after_us);

/* Lets the listeners' events in or keeps them out. */
void gate_accepting_set(struct gate *gate, bool is_accepting);

/* Makes the thread look at the gate's flags. From any thread. */
void gate_wake(struct gate *gate);

/* Adds fd to the epoll set. Returns 0 or -errno. */
int gate_watch(struct gate *gate, int fd, uint32_t events, void *data);
