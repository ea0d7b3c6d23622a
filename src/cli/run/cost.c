#include "cli/run/cost.h"

#include "base/buf.h"
#include "base/fault.h"
#include "base/fd.h"
#include "cli/base/say.h"
#include "sandbox/human.h"
#include "sandbox/profile.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* " (--profile roomy allows 120 s)" for another profile that has more of this limit. */
static void more_elsewhere(struct buf *line, const char *profile, bool is_memory, uint64_t limit)
{
	const char *name;

	for (unsigned i = 0; (name = profile_name(i)) != NULL; i++) {
		struct wire_limits limits;
		struct fault fault;
		uint64_t more;

		if (strcmp(name, profile) == 0 || profile_get(name, &limits, &fault) < 0)
			continue;
		more = is_memory ? limits.memory_bytes : limits.wall_ms;
		if (more <= limit)
			continue;
		(void)buf_addf(line, " (--profile %s allows ", name);
		if (is_memory)
			human_bytes(line, more);
		else
			human_duration(line, more * 1000);
		(void)buf_add_char(line, ')');
		return;
	}
}

/* What to do about a limit that was met. */
static void remedy(struct buf *line, const struct cost *cost)
{
	const struct wire_limits *limits = cost->limits;

	if (!cost->profile)
		return;
	switch (cost->end) {
	case WIRE_END_TIMEOUT:
		if (cost->wall_ms == limits->wall_ms) {
			more_elsewhere(line, cost->profile, false, limits->wall_ms);
			return;
		}
		(void)buf_add_str(line, " (--timeout raises it up to the profile's ");
		human_duration(line, limits->wall_ms * 1000);
		(void)buf_add_char(line, ')');
		return;
	case WIRE_END_MEMORY:
		more_elsewhere(line, cost->profile, true, limits->memory_bytes);
		return;
	case WIRE_END_EXIT:
	case WIRE_END_SIGNAL:
	case WIRE_END_CANCELLED:
	case WIRE_END_MAX:
		return;
	}
}

void cost_say(const struct cost *cost)
{
	AUTO_BUF struct buf line = BUF_INIT(4096);

	if (cost->is_clean) {
		(void)buf_add_str(&line, "ok in ");
		human_duration(&line, cost->wall_us);
	} else {
		say_name(&line, cost->sentence);
		remedy(&line, cost);
	}
	(void)buf_add_str(&line, ", ");
	human_duration(&line, cost->cpu_us);
	(void)buf_add_str(&line, " CPU, ");
	human_bytes(&line, cost->memory_peak_bytes);
	(void)buf_add_str(&line, " at peak\n");
	if (cost->hints.n > 0) {
		say_name(&line, cost->hints);
		(void)buf_add_char(&line, '\n');
	}
	(void)fd_write_full(STDERR_FILENO, buf_get_cstr(&line), line.len);
}

void cost_answer_say(const struct answer *answer, const char *profile)
{
	const struct wire_run_ended *ended = &answer->run->ended;
	AUTO_BUF struct buf sentence = BUF_INIT(1024), hints = BUF_INIT(1024);
	struct cost cost = { .end = (enum wire_end)ended->end,
		.is_clean = ended->end == WIRE_END_EXIT && ended->code == 0,
		.wall_us = ended->wall_us,
		.cpu_us = ended->cpu_us,
		.memory_peak_bytes = ended->memory_peak_bytes,
		.limits = answer->limits,
		.profile = profile,
		.wall_ms = answer->wall_ms };

	answer_end_sentence(answer, &sentence);
	answer_end_hints(answer, &hints);
	cost.sentence = buf_get_slice(&sentence);
	cost.hints = str_trim(buf_get_slice(&hints)); /* each begins with a blank */
	cost_say(&cost);
}
