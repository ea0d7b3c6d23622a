#include "cli/run/cost.h"

#include "base/buf.h"
#include "base/fd.h"
#include "cli/base/say.h"
#include "sandbox/human.h"
#include "sandbox/profile.h"

#include <string.h>
#include <unistd.h>

/* " (--profile roomy allows 120 s)" where a profile has more of this limit. */
static void more_elsewhere(struct buf *line, bool is_memory, uint64_t met)
{
	uint64_t more;
	const char *profile = profile_with_more(is_memory ? "memory_bytes" : "wall_ms", met, &more);

	if (!profile)
		return;
	(void)buf_addf(line, " (--profile %s allows ", profile);
	if (is_memory)
		human_bytes(line, more);
	else
		human_duration(line, more * 1000);
	(void)buf_add_char(line, ')');
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
			more_elsewhere(line, false, limits->wall_ms);
			return;
		}
		(void)buf_add_str(line, " (--timeout raises it up to the profile's ");
		human_duration(line, limits->wall_ms * 1000);
		(void)buf_add_char(line, ')');
		return;
	case WIRE_END_MEMORY:
		more_elsewhere(line, true, limits->memory_bytes);
		return;
	case WIRE_END_EXIT:
	case WIRE_END_SIGNAL:
	case WIRE_END_CANCELLED:
	case WIRE_END_MAX:
		return;
	}
}

/* Of urllib, socket, requests and httpx; or an OSError whose text has ENETUNREACH. */
static bool is_of_network(struct str name, struct str value)
{
	static const char unreachable[] = "Network is unreachable";

	if (str_eq(name, STR("OSError")) && value.n > 0)
		return memmem(value.p, value.n, unreachable, strlen(unreachable)) != NULL;
	return str_eq(name, STR("URLError")) || str_eq(name, STR("gaierror")) ||
	       str_eq(name, STR("ConnectionError")) || str_eq(name, STR("ConnectError"));
}

/* Errors that mostly mean that the jail has not what the script had outside. Only the error's name
 * and text count, which are compared and never shown: a script can make them up, and gets a line
 * too much. */
static void missing_say(const struct cost *cost)
{
	if (cost->end != WIRE_END_EXIT || cost->is_clean)
		return;
	if (str_eq(cost->error_name, STR("FileNotFoundError")) && cost->session)
		say("`cloche files ls %s` lists what is there", cost->session);
	else if (str_eq(cost->error_name, STR("FileNotFoundError")) && !cost->has_files)
		say("the script sees none of your files: --file NAME puts one beside it");
	else if (is_of_network(cost->error_name, cost->error_value))
		say("a jail has no network: fetch it here, and bring it in by --file NAME");
	else if (str_eq(cost->error_name, STR("ModuleNotFoundError")) && cost->is_elsewhere)
		say("a module of your own comes in by --file NAME; packages are those of the "
		    "server's system files, which its /v1/info lists");
	else if (str_eq(cost->error_name, STR("ModuleNotFoundError")))
		say("a module of your own comes in by --file NAME; packages are those of the "
		    "system "
		    "files: `cloche image build` makes an image with the usual ones, `cloche image "
		    "ls` lists them");
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
	missing_say(cost);
}

void cost_answer_say(const struct answer *answer, const char *profile, bool has_files)
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
		.wall_ms = answer->wall_ms,
		.error_name = answer->run->report.text[REPORT_ERROR_NAME],
		.error_value = answer->run->report.text[REPORT_ERROR_VALUE],
		.has_files = has_files };

	answer_end_sentence(answer, &sentence);
	answer_end_hints(answer, &hints);
	cost.sentence = buf_get_slice(&sentence);
	cost.hints = str_trim(buf_get_slice(&hints)); /* each begins with a blank */
	cost_say(&cost);
}
