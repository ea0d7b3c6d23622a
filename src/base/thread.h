#pragma once

#include <pthread.h>
#include <stddef.h>

/* Bytes of a thread's stack: many are idle, and none of ours goes deep (decision 30). */
#define THREAD_STACK_SIZE ((size_t)256 * 1024)

/* Starts a thread with a stack of THREAD_STACK_SIZE, which the caller joins or detaches. Returns 0
 * or -errno. pthread_create(3) */
int thread_create(pthread_t *ret_thread, void *(*main)(void *arg), void *arg);
