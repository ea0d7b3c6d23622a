#include "base/signals.h"

#include "base/macro.h"

void signals_stop(sigset_t *ret_set)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	(void)sigemptyset(ret_set);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		struct sigaction action;

		if (sigaction(signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			(void)sigaddset(ret_set, signals[i]);
	}
}
