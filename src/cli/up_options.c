/*
 * Theory of operation: every key of the settings is a long option too, made from the same table.
 * Options win over the file wherever they stand, so the command line is read twice: first for
 * --config, then, over what the file said, for the settings.
 */
#include "cli/up_options.h"

#include "base/buf.h"
#include "base/fault.h"
#include "base/log.h"
#include "cli/base/environment.h"
#include "cli/base/exit.h"
#include "cli/base/image_dir.h"
#include "cli/base/say.h"
#include "cli/base/state_dir.h"
#include "sandbox/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>

#define CONFIG_MAX   (64u * 1024) /* bytes: a person's file */
#define SETTINGS_MAX 32
#define NAME_SIZE    32

enum option_id {
	OPTION_STATE = 256,
	OPTION_CONFIG,
	OPTION_NO_ASSISTANT,
	OPTION_NO_WARM,
	OPTION_UNLIMITED,
	OPTION_FAIL_STAGE,
	OPTION_HELP,
	OPTION_SETTING, /* and above: the settings by number */
};

static const struct option own_options[] = {
	{ "state", required_argument, NULL, OPTION_STATE },
	{ "config", required_argument, NULL, OPTION_CONFIG },
	{ "no-assistant", no_argument, NULL, OPTION_NO_ASSISTANT },
	{ "no-warm", no_argument, NULL, OPTION_NO_WARM },
	{ "unlimited-host", no_argument, NULL, OPTION_UNLIMITED },
#ifdef CLOCHE_FAULT_INJECTION
	{ "fail-stage", required_argument, NULL, OPTION_FAIL_STAGE },
#endif
	{ "help", no_argument, NULL, OPTION_HELP },
};

#define OWN_COUNT (sizeof(own_options) / sizeof(own_options[0]))

struct table {
	struct option rows[OWN_COUNT + SETTINGS_MAX + 1];
	char names[SETTINGS_MAX][NAME_SIZE];
};

struct reading {
	struct up_options *options;
	const char *config; /* as given, or NULL */
	bool is_second;	    /* time, when the file has been read */
};

/* The option's name of key number i. */
static void name_make(const char *key, char name[NAME_SIZE])
{
	(void)str_copy(name, NAME_SIZE, key);
	for (char *at = name; *at; at++)
		if (*at == '_')
			*at = '-';
}

static void table_make(const struct settings *settings, struct table *table)
{
	char value[SETTING_TEXT_SIZE];
	const char *key;

	*table = (struct table){ 0 };
	memcpy(table->rows, own_options, sizeof(own_options));
	for (unsigned i = 0; i < SETTINGS_MAX && settings_get(settings, i, &key, value) == 0; i++) {
		name_make(key, table->names[i]);
		table->rows[OWN_COUNT + i] = (struct option){ table->names[i], required_argument,
			NULL, OPTION_SETTING + (int)i };
	}
}

static int state_set(struct up_options *options, const char *value)
{
	if (!value[0] || str_copy(options->state, sizeof(options->state), value) < 0)
		return say_usage("--state: name a folder");
	return 0;
}

static int setting_set(struct up_options *options, const struct table *table, int number)
{
	struct fault fault;

	if (settings_set(&options->settings, STR(""), str_from(table->names[number]),
		    str_from(optarg), &fault) == 0)
		return 0;
	return say_usage("--%s: %s", table->names[number], fault.text);
}

static int option_apply(struct reading *reading, const struct table *table, int what, char **argv)
{
	struct up_options *options = reading->options;

	switch (what) {
	case OPTION_STATE:
		return state_set(options, optarg);
	case OPTION_CONFIG:
		reading->config = optarg;
		return 0;
	case OPTION_NO_ASSISTANT: /* there is none yet */
		return 0;
	case OPTION_NO_WARM:
		options->is_cold = true;
		return 0;
	case OPTION_UNLIMITED:
		options->is_host_unlimited = true;
		return 0;
	case OPTION_FAIL_STAGE:
		options->fail_stage = optarg;
		return 0;
	case OPTION_HELP:
	case 'h':
		options->is_help = true;
		return 0;
	case '?':
	case ':':
		return say_usage("%s: no such option, or its value is missing; see `cloche up "
				 "--help`",
			argv[optind - 1]);
	default:
		return reading->is_second ? setting_set(options, table, what - OPTION_SETTING) : 0;
	}
}

static int options_read(struct reading *reading, int argc, char **argv)
{
	struct table table;
	int what, status = 0;

	table_make(&reading->options->settings, &table);
	optind = 0; /* glibc: from the start again */
	while (status == 0 && (what = getopt_long(argc, argv, ":h", table.rows, NULL)) != -1)
		status = option_apply(reading, &table, what, argv);
	if (status == 0 && optind < argc)
		return say_usage("there is no '%s' here; see `cloche up --help`", argv[optind]);
	return status;
}

/* The file that was named, or the usual one if it is there. */
static int config_read(struct up_options *options, const char *named)
{
	const struct environment *environment = environment_get();
	AUTO_BUF struct buf text = BUF_INIT(CONFIG_MAX);
	char usual[PATH_MAX] = "/etc/cloche/cloche.conf";
	const char *path = named ? named : usual;
	struct fault fault;
	int r = 0;

	if (!named && geteuid() != 0 && environment->config_home)
		r = str_format(
			usual, sizeof(usual), "%s/cloche/cloche.conf", environment->config_home);
	else if (!named && geteuid() != 0 && environment->home)
		r = str_format(
			usual, sizeof(usual), "%s/.config/cloche/cloche.conf", environment->home);
	if (r == 0)
		r = buf_add_file(&text, AT_FDCWD, path);
	if (r < 0 && !named && (r == -ENOENT || r == -ENOSPC))
		return 0;
	if (r < 0)
		return say_usage("%s: %s", path, strerror(-r));
	if (settings_parse(&options->settings, buf_get_slice(&text), &fault) < 0)
		return say_usage("%s: %s", path, fault.text);
	return 0;
}

static int state_choose(struct up_options *options)
{
	if (options->state[0] || state_dir_default(options->state) == 0)
		return 0;
	return say_usage("name a folder for what must last: --state DIR");
}

/* The image that was built last, unless other system files are named; chosen once, so that all
 * jailds of this service have the same. */
static void rootfs_choose(struct up_options *options)
{
	char *setting = options->settings.rootfs, path[PATH_MAX];
	const char *chosen = image_rootfs(setting, path);

	if (chosen != setting)
		(void)str_copy(setting, sizeof(options->settings.rootfs), chosen ? chosen : "");
	if (chosen == path)
		log_info("msg=\"jails get the files of the image\" path=%s", LOG_VALUE(path));
}

int up_options_parse(int argc, char **argv, struct up_options *ret_options)
{
	struct reading reading = { .options = ret_options };
	struct wire_limits limits;
	struct fault fault;
	int status;

	*ret_options = (struct up_options){ 0 };
	settings_init(&ret_options->settings);
	status = options_read(&reading, argc, argv);
	if (status != 0 || ret_options->is_help)
		return status;
	status = config_read(ret_options, reading.config);
	reading.is_second = true;
	if (status == 0)
		status = options_read(&reading, argc, argv);
	if (status == 0)
		status = state_choose(ret_options);
	if (status == 0)
		rootfs_choose(ret_options);
	if (status == 0 && profile_get(ret_options->settings.profile, &limits, &fault) < 0)
		return say_usage("profile: %s", fault.text);
	return status;
}
