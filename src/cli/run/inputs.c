#include "cli/run/inputs.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fd.h"
#include "cli/base/exit.h"
#include "cli/base/say.h"
#include "jail/files/numbered.h"
#include "jail/files/put.h"
#include "sandbox/human.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_taken(const struct inputs *inputs, const char *name)
{
	for (unsigned i = 0; i < inputs->n; i++)
		if (strcmp(inputs->list[i].name, name) == 0)
			return true;
	return false;
}

/* Chooses the input's name in the home: its base name, numbered when an earlier one has it. */
static void name_choose(const struct inputs *inputs, struct input *input)
{
	const char *slash = strrchr(input->path, '/');
	const char *base = slash ? slash + 1 : input->path;
	unsigned n = 1;

	do
		numbered_name(base, n++, input->name);
	while (is_taken(inputs, input->name));
	if (n > 2) {
		AUTO_BUF struct buf shown = BUF_INIT(4 * NAME_MAX);

		say_name(&shown, str_from(input->name));
		say("--file %s: that name is taken, the script finds it as '%s'", input->path,
			buf_get_cstr(&shown));
	}
}

static int input_open(struct input *input)
{
	struct stat st;

	/* O_NONBLOCK: a FIFO must be refused, not waited for. */
	input->fd = open(input->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (input->fd < 0 || fstat(input->fd, &st) < 0)
		return say_unreadable("--file", input->path, errno);
	if (S_ISDIR(st.st_mode))
		return say_usage(
			"--file %s: is a folder; name its files, or pack it with tar", input->path);
	if (!S_ISREG(st.st_mode))
		return say_usage(
			"--file %s: is no regular file; save it to one first", input->path);
	input->size_bytes = (uint64_t)st.st_size;
	input->is_executable = st.st_mode & 0111;
	return 0;
}

static int size_check(const struct run_options *options, const struct inputs *inputs)
{
	AUTO_BUF struct buf sum = BUF_INIT(32), home = BUF_INIT(32);
	uint64_t bytes = 0;

	for (unsigned i = 0; i < inputs->n; i++)
		bytes += inputs->list[i].size_bytes;
	if (bytes <= options->limits.home_bytes)
		return 0;
	human_bytes(&sum, bytes);
	human_bytes(&home, options->limits.home_bytes);
	return say_usage("--file: %s are too much for the script's folder of %s (profile %s); "
			 "take less, or another --profile",
		buf_get_cstr(&sum), buf_get_cstr(&home), options->profile);
}

int inputs_open(const struct run_options *options, struct inputs *ret_inputs)
{
	*ret_inputs = (struct inputs){ .n = 0 };
	ret_inputs->list = xcalloc(options->n_files, sizeof(*ret_inputs->list));
	for (unsigned i = 0; i < options->n_files; i++) {
		struct input *input = &ret_inputs->list[i];
		int status;

		input->path = options->files[i];
		status = input_open(input);
		if (status == 0)
			name_choose(ret_inputs, input);
		ret_inputs->n++;
		if (status != 0)
			return status;
	}
	return size_check(options, ret_inputs);
}

int inputs_put(const struct inputs *inputs, struct jaild *jaild, uint64_t session,
	const struct wire_limits *limits)
{
	for (unsigned i = 0; i < inputs->n; i++) {
		const struct input *input = &inputs->list[i];
		struct put_request request = { .session = session,
			.path = input->name,
			.max_bytes = limits->home_bytes,
			.is_executable = input->is_executable };
		uint64_t bytes;
		int r = put_file(jaild, input->fd, &request, &bytes);

		if (r < 0) {
			say("--file %s: not copied in", input->path);
			return r;
		}
	}
	return 0;
}

void inputs_fini(struct inputs *inputs)
{
	for (unsigned i = 0; i < inputs->n; i++)
		(void)fd_close(inputs->list[i].fd);
	free(inputs->list);
	*inputs = (struct inputs){ .n = 0 };
}
