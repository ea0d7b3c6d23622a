#include "supervisor/options.h"

#include "base/fault.h"
#include "base/str.h"

#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>

enum {
	OPTION_CONTROL = 256,
	OPTION_STORE,
	OPTION_SECRET,
	OPTION_USER
};

static const struct option long_options[] = {
	{ "control-fd", required_argument, NULL, OPTION_CONTROL },
	{ "store-fd", required_argument, NULL, OPTION_STORE },
	{ "secret-fd", required_argument, NULL, OPTION_SECRET },
	{ "user", required_argument, NULL, OPTION_USER },
	{ 0 },
};

static int user_parse(const char *text, struct options *options)
{
	struct str uid_text, gid_text;
	uint64_t uid = 0, gid = 0;

	/* Root is no one to go on as, and -1 means "as it is". */
	if (!str_split_once(str_from(text), ':', &uid_text, &gid_text) ||
		str_to_u64(uid_text, UINT32_MAX - 1, &uid) < 0 ||
		str_to_u64(gid_text, UINT32_MAX - 1, &gid) < 0 || uid == 0 || gid == 0)
		return -EINVAL;
	options->has_user = true;
	options->uid = (uid_t)uid;
	options->gid = (gid_t)gid;
	return 0;
}

static int option_apply(int option, struct options *options)
{
	uint64_t number = 0;

	if (option == OPTION_USER)
		return user_parse(optarg, options);
	if (str_to_u64(option == '?' ? STR("") : str_from(optarg), 1u << 20, &number) < 0)
		return -EINVAL;
	if (option == OPTION_CONTROL)
		options->control_fd = (int)number;
	else if (option == OPTION_STORE)
		options->store_fd = (int)number;
	else
		options->secret_fd = (int)number;
	return 0;
}

static int setting_apply(const char *word, struct options *options)
{
	struct str key, value;
	struct fault fault;

	(void)str_split_once(str_from(word), '=', &key, &value);
	if (settings_set(&options->settings, STR(""), key, value, &fault) == 0)
		return 0;
	(void)fprintf(stderr, "cloche-supervisor: %s\n", fault.text);
	return -EINVAL;
}

int options_parse(int argc, char **argv, struct options *ret_options)
{
	int option;

	*ret_options = (struct options){ .control_fd = -1, .store_fd = -1, .secret_fd = -1 };
	settings_init(&ret_options->settings);
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		if (option_apply(option, ret_options) < 0)
			return -EINVAL;
	for (int i = optind; i < argc; i++)
		if (setting_apply(argv[i], ret_options) < 0)
			return -EINVAL;
	if (ret_options->control_fd < 0) {
		(void)fprintf(stderr, "cloche-supervisor: started by cloche up, which gives it "
				      "--control-fd\n");
		return -EINVAL;
	}
	return 0;
}
