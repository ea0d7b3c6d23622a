#include "base/fd.h"
#include "base/log.h"
#include "jaild/jaild.h"
#include "jaild/monitor.h"
#include "jaild/session.h"
#include "jaild/start.h"
#include "launch/doctor.h"
#include "launch/launcher.h"
#include "launch/options.h"
#include "launch/refuse.h"
#include "launch/setup.h"
#include "wire/channel.h"
#include "wire/message.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

/*
 * cloche-jaild, the only privileged program, in two lives: started by a client it is the launcher
 * (launcher.c), which executes it again, in the outer namespaces and without rights in the initial
 * ones, as jaild itself.
 */

static int setup_read(int fd, struct setup *setup)
{
	if (pread(fd, setup, sizeof(*setup), 0) != sizeof(*setup) || setup->magic != SETUP_MAGIC)
		return -EBADMSG;
	(void)close(fd);
	return 0;
}

static int ready_tell(int client_fd)
{
	struct wire_done done = { .header = { .type = WIRE_DONE, .version = WIRE_VERSION } };

	return channel_send(client_fd, &done, sizeof(done), NULL, 0);
}

static int jaild_main(int setup_fd)
{
	static struct jaild jaild;
	enum stage stage = STAGE_START_SETUP;
	struct setup setup = { .client_fd = -1 };
	int r;

	log_drop_when_full(); /* every session would wait for the reader of a log */
	(void)prctl(PR_SET_NAME, "cloche-jaild", 0, 0, 0);
	r = setup_read(setup_fd, &setup);
	if (r == 0)
		log_level = (enum log_level)setup.log_level;
#ifdef CLOCHE_FAULT_INJECTION
	stage_to_fail = setup.stage_to_fail;
#endif
	if (r == 0)
		r = start_jaild(&jaild, &setup, &stage);
	if (r == 0)
		r = monitor_start(&jaild, setup.client_fd);
	if (r < 0) {
		refuse_start(setup.client_fd, stage, r, NULL);
		return 1;
	}
	r = ready_tell(setup.client_fd);
	if (r == 0)
		r = loop_run(&jaild.loop);
	sessions_end(&jaild);
	return r < 0 ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct options options;

	if (fd_standard_fill() < 0)
		return 2;
	/* A parent may have left SIGCHLD ignored, and then nobody could be waited for. */
	for (int number = 1; number < NSIG; number++)
		(void)signal(number, SIG_DFL);
	if (options_parse(argc, argv, &options) < 0)
		return 2;
	log_level = options.log_level;
	if (options.setup_fd >= 0)
		return jaild_main(options.setup_fd);
#ifdef CLOCHE_FAULT_INJECTION
	stage_to_fail = options.stage_to_fail;
#endif
	if (options.is_doctor)
		return doctor_run(&options);
	if (options.socket_fd < 0 || fcntl(options.socket_fd, F_GETFD) < 0) {
		(void)fprintf(stderr,
			"cloche-jaild: started by cloche run or cloche up, which give it "
			"--socket-fd; to check this host: cloche doctor\n");
		return 2;
	}
	return launcher_run(&options);
}
