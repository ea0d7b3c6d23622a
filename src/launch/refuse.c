#include "launch/refuse.h"

#include "wire/channel.h"
#include "wire/message.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Both the launcher and jaild itself can be the one that has to say it. */

void refuse_start(int client_fd, enum stage stage, int error, const char *text)
{
	struct wire_failed failed = { .header = { .type = WIRE_FAILED, .version = WIRE_VERSION },
		.error = error < 0 ? -error : error,
		.stage = stage };

	if (text && text[0])
		(void)fprintf(stderr, "cloche: %s\n", text);
	if (client_fd >= 0)
		(void)channel_send(client_fd, &failed, sizeof(failed), NULL, 0);
	else
		(void)fprintf(stderr, "cloche-jaild: cannot %s: %s\n", stage_name(stage),
			strerror(failed.error));
}
