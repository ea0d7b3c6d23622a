#include "jail/inside/wall.h"

#include "jail/plan/plan.h"
#include "wire/channel.h"

#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/*
 * Two places that a failure can go to: init itself sends it, the script's process (between vfork
 * and exec) leaves it in a variable that init looks at next. Either way the process is over.
 */

static struct wall_failure *failure_place;

void wall_failure_set(struct wall_failure *failure)
{
	failure_place = failure;
}

void wall_check(enum stage stage, long result)
{
	struct init_event event = { .kind = INIT_FAILED, .stage = stage, .error = (int)-result };

	if (result >= 0)
		return;
	if (failure_place)
		*failure_place =
			(struct wall_failure){ .stage = (int)stage, .error = (int)-result };
	else
		(void)channel_send(INIT_CONTROL_FD, &event, sizeof(event), NULL, 0);
	_exit(1);
}
