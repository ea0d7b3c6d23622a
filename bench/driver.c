#include "jailed.h"
#include "spawned.h"

#include "base/macro.h"
#include "base/str.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * bench/run's clock. One command a line comes on stdin, its words separated by tabs; one line of
 * microseconds goes out for it, or "failed" and why. Cells and peers are timed by the same clock in
 * the same process, and whoever asks decides on the order.
 *
 *   jaild PROGRAM                     starts one, answers the launcher's process id
 *   open                              opens the sessions that run and runs use
 *   spawn null|pipes WORD...          one program
 *   spawns WIDTH COUNT WORD...        COUNT programs, WIDTH at a time
 *   run LANGUAGE TEXT                 one run in an open session: all, jaild's start, its wall time
 *   session LANGUAGE TEXT             the same in a session of its own
 *   spare LANGUAGE TEXT               the same when a spare session is ready
 *   runs WIDTH COUNT LANGUAGE TEXT    COUNT runs, WIDTH at a time
 *
 * LANGUAGE is python or bash with a code, or program with a path.
 */

#define WORDS_MAX 64
#define LINE_MAX_ 8192

struct command {
	char *words[WORDS_MAX + 1]; /* NULL-ended */
	size_t n;
};

static struct jailed jailed = { .jaild = JAILD_INIT };

static int number_take(const char *word, unsigned *ret_number)
{
	uint64_t number;
	int r = str_to_u64(str_from(word), UINT32_MAX, &number);

	if (r == 0)
		*ret_number = (unsigned)number;
	return r;
}

static int package_take(const char *language, const char *text, struct package *ret_package)
{
	static const char *const names[PACKAGE_LANGUAGE_MAX] = {
		[PACKAGE_PYTHON] = "python", [PACKAGE_BASH] = "bash", [PACKAGE_PROGRAM] = "program"
	};

	*ret_package = (struct package){ .language = PACKAGE_LANGUAGE_MAX };
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(language, names[i]) == 0)
			ret_package->language = (enum package_language)i;
	}
	if (ret_package->language == PACKAGE_LANGUAGE_MAX)
		return -EINVAL;
	if (ret_package->language == PACKAGE_PROGRAM) {
		ret_package->args[0] = text;
		ret_package->n_args = 1;
	} else {
		ret_package->code = text;
		ret_package->code_size = strlen(text);
	}
	return 0;
}

static int on_jaild(const struct command *command)
{
	int r = jailed_start(&jailed, command->words[1]);

	if (r == 0)
		(void)printf("%d\n", jailed.jaild.pid);
	return r;
}

static int on_open(const struct command *command)
{
	int r = jailed_open(&jailed);

	(void)command;
	if (r == 0)
		(void)printf("0\n");
	return r;
}

static int on_spawn(const struct command *command)
{
	usec_t us;
	int r = spawned_run(command->words + 2, strcmp(command->words[1], "pipes") == 0, &us);

	if (r == 0)
		(void)printf("%" PRIu64 "\n", us);
	return r;
}

static int on_spawns(const struct command *command)
{
	unsigned width, count;
	usec_t us;
	int r = number_take(command->words[1], &width);

	if (r == 0)
		r = number_take(command->words[2], &count);
	if (r == 0)
		r = spawned_run_many(command->words + 3, width, count, &us);
	if (r == 0)
		(void)printf("%" PRIu64 "\n", us);
	return r;
}

static int on_run(const struct command *command)
{
	struct jailed_times times = { 0 };
	struct package package;
	int r = package_take(command->words[1], command->words[2], &package);

	if (r == 0 && strcmp(command->words[0], "session") == 0)
		r = jailed_run_in_new_session(&jailed, &package, &times);
	else if (r == 0 && strcmp(command->words[0], "spare") == 0)
		r = jailed_run_in_spare_session(&jailed, &package, &times);
	else if (r == 0)
		r = jailed_run(&jailed, &package, &times);
	if (r == 0)
		(void)printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", times.all_us, times.start_us,
			times.wall_us);
	return r;
}

static int on_runs(const struct command *command)
{
	struct package package;
	unsigned width, count;
	usec_t us;
	int r = number_take(command->words[1], &width);

	if (r == 0)
		r = number_take(command->words[2], &count);
	if (r == 0)
		r = package_take(command->words[3], command->words[4], &package);
	if (r == 0)
		r = jailed_run_many(&jailed, &package, width, count, &us);
	if (r == 0)
		(void)printf("%" PRIu64 "\n", us);
	return r;
}

static const struct {
	const char *name;
	size_t words; /* the least, with the name */
	int (*run)(const struct command *command);
} commands[] = {
	{ "jaild", 2, on_jaild },
	{ "open", 1, on_open },
	{ "spawn", 3, on_spawn },
	{ "spawns", 4, on_spawns },
	{ "run", 3, on_run },
	{ "session", 3, on_run },
	{ "spare", 3, on_run },
	{ "runs", 5, on_runs },
};

static void command_split(char *line, struct command *command)
{
	char *rest = line;

	*command = (struct command){ .n = 0 };
	line[strcspn(line, "\n")] = '\0';
	while (command->n < WORDS_MAX && rest)
		command->words[command->n++] = strsep(&rest, "\t");
}

static int command_run(const struct command *command)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(command->words[0], commands[i].name) == 0)
			return command->n < commands[i].words ? -EINVAL : commands[i].run(command);
	}
	return -ENOENT;
}

int main(void)
{
	static char line[LINE_MAX_];
	struct command command;

	while (fgets(line, sizeof(line), stdin)) {
		int r;

		command_split(line, &command);
		r = command_run(&command);
		if (r < 0)
			(void)printf("failed %s: %s; %s\n", command.words[0], strerror(-r),
				jailed.jaild.fault.text);
		(void)fflush(stdout);
	}
	jailed_stop(&jailed);
	return 0;
}
