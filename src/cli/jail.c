/* `cloche jail`: what the jail forbids, from the same tables that the filter is compiled from. */
#include "base/str.h"
#include "cli/base/exit.h"
#include "cli/base/say.h"
#include "cli/command.h"
#include "jail/plan/syscalls.h"
#include "json/json.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Room for two conditions of a rule. */
#define CONDITION_SIZE 160

/* "argument 0 & 0x7e020000 is not 0" */
static int one_format(const struct syscall_condition *when, char *text, size_t size)
{
	switch (when->op) {
	case SYSCALL_ALWAYS:
		return str_copy(text, size, "always");
	case SYSCALL_EQ:
	case SYSCALL_NE:
		return str_format(text, size, "argument %u & 0x%x %s 0x%x", when->argument,
			when->mask, when->op == SYSCALL_EQ ? "is" : "is not", when->value);
	case SYSCALL_NEITHER:
		return str_format(text, size, "argument %u is neither 0x%x nor 0x%x",
			when->argument, when->value, when->mask);
	case SYSCALL_ANY:
		return str_format(
			text, size, "argument %u & 0x%x is not 0", when->argument, when->mask);
	case SYSCALL_SET:
		return str_format(text, size, "argument %u is not 0", when->argument);
	}
	return -1;
}

/* What decides: "always", one argument, or two. */
static void condition_format(const struct denied_syscall *row, char text[CONDITION_SIZE])
{
	char first[CONDITION_SIZE / 2 - 4], second[CONDITION_SIZE / 2 - 4];

	(void)one_format(&row->conditions[0], first, sizeof(first));
	(void)one_format(&row->conditions[1], second, sizeof(second));
	if (row->conditions[1].op == SYSCALL_ALWAYS)
		(void)str_copy(text, CONDITION_SIZE, first);
	else
		(void)str_format(text, CONDITION_SIZE, "%s and %s", first, second);
}

static void ranges_set(struct json *list)
{
	size_t n;
	const struct syscall_range *ranges = syscalls_reviewed_get(&n);

	for (size_t i = 0; i < n; i++) {
		struct json *range = json_add_object(list);

		json_set_integer(range, "first", ranges[i].first);
		json_set_integer(range, "last", ranges[i].last);
	}
}

static int print_json(const struct denied_syscall *rows, size_t n)
{
	AUTO_JSON struct json *object = json_object_new();
	struct json *list = json_set_array(object, "denied");

	for (size_t i = 0; i < n; i++) {
		struct json *row = json_add_object(list);
		char condition[CONDITION_SIZE];

		condition_format(&rows[i], condition);
		json_set_cstr(row, "name", rows[i].name);
		json_set_cstr(row, "answer", rows[i].answer);
		json_set_cstr(row, "when", condition);
		json_set_cstr(row, "reason", rows[i].reason);
	}
	json_set_integer(object, "ceiling", SYSCALL_CEILING);
	ranges_set(json_set_array(object, "reviewed"));
	return say_json(object);
}

static int print_table(const struct denied_syscall *rows, size_t n)
{
	size_t n_ranges;
	const struct syscall_range *ranges = syscalls_reviewed_get(&n_ranges);

	for (size_t i = 0; i < n; i++) {
		char condition[CONDITION_SIZE];

		condition_format(&rows[i], condition);
		(void)printf("%-24s %-7s %s", rows[i].name, rows[i].answer, rows[i].reason);
		(void)printf(
			rows[i].conditions[0].op == SYSCALL_ALWAYS ? "\n" : " [%s]\n", condition);
	}
	(void)printf("every call above number %d: ENOSYS\n", SYSCALL_CEILING);
	for (size_t i = 1; i < n_ranges; i++)
		(void)printf("every call from number %u to %u: ENOSYS\n", ranges[i - 1].last + 1,
			ranges[i].first - 1);
	return 0;
}

int cli_jail(int argc, char **argv)
{
	const struct denied_syscall *rows;
	bool is_json = false, is_denied = false;
	size_t n;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			(void)fputs(command_find("jail")->usage, stdout);
			return 0;
		}
		if (strcmp(argv[i], "--json") == 0)
			is_json = true;
		else if (strcmp(argv[i], "--denied") == 0)
			is_denied = true;
		else if (i != 1 || strcmp(argv[i], "syscalls") != 0)
			return say_usage(
				"there is no '%s' here; see `cloche jail --help`", argv[i]);
	}
	if (!is_denied || strcmp(argv[1], "syscalls") != 0)
		return say_usage("say what: cloche jail syscalls --denied");
	rows = denied_syscalls_get(&n);
	return is_json ? print_json(rows, n) : print_table(rows, n);
}
