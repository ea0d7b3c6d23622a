#include "base/thread.h"

int thread_create(pthread_t *ret_thread, void *(*main)(void *arg), void *arg)
{
	pthread_attr_t attributes;
	int r = pthread_attr_init(&attributes);

	if (r != 0)
		return -r;
	r = pthread_attr_setstacksize(&attributes, THREAD_STACK_SIZE);
	if (r == 0)
		r = pthread_create(ret_thread, &attributes, main, arg);
	(void)pthread_attr_destroy(&attributes);
	return -r;
}
