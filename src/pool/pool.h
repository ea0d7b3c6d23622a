#pragma once

#include "base/fault.h"
#include "jail/client/jaild.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Connections to one jaild for many threads: each thread takes one, talks straight-line code of
 * sandbox/jaild.h over it, and gives it back. New ones are made over the first connection
 * (WIRE_ATTACH). Every function may be called from any thread.
 *
 * When the first connection ends so does jaild, and every session in it. The next jaild comes with
 * pool_attach and is another generation.
 */

struct pool;

/* Connections in use at once: below jaild's own 256, above the threads that a supervisor has. */
#define POOL_MAX 192
/* Idle ones that are kept for the next thread; more are closed. */
#define POOL_IDLE_MAX 16

/* An empty pool without a jaild; the caller frees it when no connection is in use. */
struct pool *pool_new(void);
void pool_free(struct pool *pool);

/* Takes over fd, the first connection to a jaild that was just started and whose word that it is
 * ready nobody has read yet. Waits for that word (JAILD_ANSWER_MS), then replaces the jaild there
 * was. Returns 0, or -errno with *ret_fault (the stage that failed): then fd is closed and the pool
 * as it was. */
int pool_attach(struct pool *pool, int fd, struct fault *ret_fault);

/* A connection for the calling thread, to the jaild of this generation (0: whichever is there: ids
 * of sessions mean nothing to another one). NULL with *ret_fault (SANDBOX_UNAVAILABLE, SANDBOX_BUSY
 * above POOL_MAX). Give it back with pool_put, also when it broke. */
struct jaild *pool_get(struct pool *pool, uint64_t generation, struct fault *ret_fault);

/* The generation of the jaild that a connection of the pool leads to. */
uint64_t pool_generation_of(struct jaild *jaild);

/* Takes the connection back. One that is lost, or of an earlier jaild, is closed. What was under
 * way on it (runs, uploads) must have ended. */
void pool_put(struct pool *pool, struct jaild *jaild);

/* The number of the jaild that is there, 0 while none is: sessions of another number are gone. */
uint64_t pool_generation(struct pool *pool);

/* What jaild said of the host and itself when it was attached; it does not change in its life.
 * False while none is there. */
bool pool_status(struct pool *pool, struct wire_status_is *ret_status);

/* Connections in use now. */
size_t pool_in_use(struct pool *pool);
