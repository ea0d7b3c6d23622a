#include "cli/cost.h"

#include "base/buf.h"
#include "base/fault.h"
#include "base/fd.h"
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
static void remedy(struct buf *line, const struct answer *answer, const char *profile)
{
	const struct wire_limits *limits = answer->limits;

	switch (answer->run->ended.end) {
	case WIRE_END_TIMEOUT:
		if (answer->wall_ms == limits->wall_ms) {
			more_elsewhere(line, profile, false, limits->wall_ms);
			return;
		}
		(void)buf_add_str(line, " (--timeout raises it up to the profile's ");
		human_duration(line, limits->wall_ms * 1000);
		(void)buf_add_char(line, ')');
		return;
	case WIRE_END_MEMORY:
		more_elsewhere(line, profile, true, limits->memory_bytes);
		return;
	default:
		return;
	}
}

void cost_say(const struct answer *answer, const char *profile)
{
	const struct wire_run_ended *ended = &answer->run->ended;
	AUTO_BUF struct buf line = BUF_INIT(2048), hints = BUF_INIT(1024);

	if (ended->end == WIRE_END_EXIT && ended->code == 0) {
		(void)buf_add_str(&line, "ok in ");
		human_duration(&line, ended->wall_us);
	} else {
		answer_end_sentence(answer, &line);
		remedy(&line, answer, profile);
	}
	(void)buf_add_str(&line, ", ");
	human_duration(&line, ended->cpu_us);
	(void)buf_add_str(&line, " CPU, ");
	human_bytes(&line, ended->memory_peak_bytes);
	(void)buf_add_str(&line, " at peak\n");
	answer_end_hints(answer, &hints);
	if (hints.len > 0) /* each begins with a blank */
		(void)buf_addf(&line, "%s\n", buf_get_cstr(&hints) + 1);
	(void)fd_write_full(STDERR_FILENO, buf_get_cstr(&line), line.len);
}
