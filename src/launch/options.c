#include "launch/options.h"

#include "base/str.h"

#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>

/* Programs start us, not people; so the words are few and the errors short. */

enum {
	OPTION_SOCKET = 256,
	OPTION_SETUP,
	OPTION_ROOTFS,
	OPTION_ZYGOTES,
	OPTION_LOG_LEVEL,
	OPTION_FAIL,
	OPTION_UNLIMITED,
	OPTION_DOCTOR
};

static const struct option long_options[] = {
	{ "socket-fd", required_argument, NULL, OPTION_SOCKET },
	{ "inner", required_argument, NULL, OPTION_SETUP },
	{ "rootfs", required_argument, NULL, OPTION_ROOTFS },
	{ "zygotes", required_argument, NULL, OPTION_ZYGOTES },
	{ "log-level", required_argument, NULL, OPTION_LOG_LEVEL },
#ifdef CLOCHE_FAULT_INJECTION
	{ "fail-stage", required_argument, NULL, OPTION_FAIL },
#endif
	{ "unlimited-host", no_argument, NULL, OPTION_UNLIMITED },
	{ "doctor", no_argument, NULL, OPTION_DOCTOR },
	{ 0 },
};

static int number_read(const char *text, uint64_t max, uint64_t *ret)
{
	int r = str_to_u64(str_from(text), max, ret);

	if (r < 0)
		(void)fprintf(stderr, "cloche-jaild: '%s' is no number from 0 to %ju\n", text, max);
	return r < 0 ? -EINVAL : 0;
}

static int option_apply(int option, struct options *options)
{
	uint64_t number = 0;

	switch (option) {
	case OPTION_SOCKET:
	case OPTION_SETUP:
		if (number_read(optarg, 1u << 20, &number) < 0)
			return -EINVAL;
		*(option == OPTION_SOCKET ? &options->socket_fd : &options->setup_fd) = (int)number;
		return 0;
	case OPTION_ZYGOTES:
		if (number_read(optarg, 1000000, &number) < 0)
			return -EINVAL;
		options->zygote_max_runs = (unsigned)number;
		return 0;
	case OPTION_LOG_LEVEL:
		if (log_level_parse(optarg, &options->log_level) == 0)
			return 0;
		(void)fprintf(stderr, "cloche-jaild: '%s' is no level of a log\n", optarg);
		return -EINVAL;
	case OPTION_FAIL:
		if (number_read(optarg, 1000, &number) < 0)
			return -EINVAL;
		options->stage_to_fail = (unsigned)number;
		return 0;
	case OPTION_ROOTFS:
		options->rootfs = optarg;
		return 0;
	case OPTION_UNLIMITED:
		options->is_unlimited = true;
		return 0;
	case OPTION_DOCTOR:
		options->is_doctor = true;
		return 0;
	default:
		return -EINVAL;
	}
}

int options_parse(int argc, char **argv, struct options *ret_options)
{
	struct options options = { .socket_fd = -1, .setup_fd = -1, .log_level = log_level };
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (option_apply(option, &options) < 0)
			return -EINVAL;
	}
	if (optind < argc) {
		(void)fprintf(stderr, "cloche-jaild: unexpected '%s'\n", argv[optind]);
		return -EINVAL;
	}
	*ret_options = options;
	return 0;
}
