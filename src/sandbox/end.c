/*
 * Theory of operation: the sentence comes from the numbers of RUN_ENDED. The hints look for traces
 * of what surprises people in a jail (no input, no /proc, full file systems, the process limit) in
 * the error that the bootstrap reported and in what went to stderr. A hint adds to the sentence and
 * never changes outcome or reason, so a script that prints such words can fool a reader and no
 * program.
 */
#include "sandbox/end.h"

#include "base/assert.h"
#include "base/buf.h"
#include "base/macro.h"
#include "sandbox/human.h"
#include "sandbox/profile.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

const char *end_outcome(const struct wire_run_ended *ended)
{
	switch (ended->end) {
	case WIRE_END_EXIT:
		return ended->code == 0 ? "ok" : "error";
	case WIRE_END_TIMEOUT:
		return "timeout";
	default:
		return "killed";
	}
}

const char *end_reason(const struct wire_run_ended *ended)
{
	static const char *const reasons[] = {
		[WIRE_END_EXIT] = "exit",
		[WIRE_END_SIGNAL] = "signal",
		[WIRE_END_TIMEOUT] = "timeout",
		[WIRE_END_MEMORY] = "memory",
		[WIRE_END_CANCELLED] = "cancelled",
	};

	return ended->end < ARRAY_SIZE(reasons) ? reasons[ended->end] : "signal";
}

void end_signal(int number, char name[16])
{
	const char *known = sigabbrev_np(number);

	(void)str_format(name, 16, known ? "SIG%s" : "signal %s%d", known ? known : "", number);
}

void end_sentence(const struct end_facts *facts, struct buf *out)
{
	const struct wire_run_ended *ended = facts->ended;
	char name[16];

	switch (ended->end) {
	case WIRE_END_EXIT:
		(void)buf_add_str(out, "ran ");
		human_duration(out, ended->wall_us);
		(void)buf_addf(out, " and exited with status %" PRIi32, ended->code);
		return;
	case WIRE_END_TIMEOUT:
		(void)buf_add_str(out, "stopped after ");
		human_duration(out, facts->wall_ms * 1000);
		(void)buf_add_str(out, ", the time limit");
		return;
	case WIRE_END_MEMORY:
		(void)buf_add_str(out, "stopped: over the memory limit of ");
		human_bytes(out, facts->limits->memory_bytes);
		return;
	case WIRE_END_CANCELLED:
		(void)buf_add_str(out, "cancelled after ");
		human_duration(out, ended->wall_us);
		return;
	default:
		end_signal(ended->code, name);
		(void)buf_add_str(out, "ran ");
		human_duration(out, ended->wall_us);
		(void)buf_addf(out, " and was ended by %s", name);
		return;
	}
}

static bool contains(struct str text, const char *what)
{
	return text.n > 0 && memmem(text.p, text.n, what, strlen(what)) != NULL;
}

/* What a script or its interpreter said of its error. */
static bool says(const struct end_facts *facts, const char *what)
{
	return contains(facts->report->text[REPORT_ERROR_VALUE], what) ||
	       contains(facts->stderr_text, what);
}

static void hint_input(const struct end_facts *facts, struct buf *out)
{
	if (facts->has_stdin || !str_eq(facts->report->text[REPORT_ERROR_NAME], STR("EOFError")))
		return;
	(void)buf_add_str(out, " There is no interactive input: pass what the script reads as "
			       "stdin (--stdin FILE).");
}

static void hint_proc(const struct end_facts *facts, struct buf *out)
{
	if (facts->limits->own_proc || facts->language != PACKAGE_BASH)
		return;
	if (!contains(facts->stderr_text, "/dev/fd/") &&
		!contains(facts->stderr_text, "/dev/stderr: No such file") &&
		!contains(facts->stderr_text, "/dev/stdout: No such file"))
		return;
	(void)buf_add_str(out,
		" Without /proc bash has no <(...) and no /dev/stderr: use a file in "
		"$TMPDIR, >&2, or the profile roomy.");
}

/* " (the profile roomy allows 512 MiB)", if one has more of this limit. */
static void more_add(struct buf *out, const char *limit, uint64_t met, bool is_bytes)
{
	uint64_t more;
	const char *profile = profile_with_more(limit, met, &more);

	if (!profile)
		return;
	(void)buf_addf(out, " (the profile %s allows ", profile);
	if (is_bytes)
		human_bytes(out, more);
	else
		(void)buf_addf(out, "%" PRIu64, more);
	(void)buf_add_char(out, ')');
}

static void bytes_add(struct buf *out, const char *limit, uint64_t met)
{
	human_bytes(out, met);
	more_add(out, limit, met, true);
}

static bool is_too_large(const struct end_facts *facts)
{
	return says(facts, "File too large") ||
	       says(facts, "File size limit exceeded") || /* bash of a process of its own */
	       (facts->ended->end == WIRE_END_SIGNAL && facts->ended->code == SIGXFSZ);
}

static void hint_space(const struct end_facts *facts, struct buf *out)
{
	if (says(facts, "No space left on device")) {
		(void)buf_add_str(out, " Full: the home holds ");
		bytes_add(out, "home_bytes", facts->limits->home_bytes);
		(void)buf_add_str(out, ", /tmp ");
		bytes_add(out, "tmp_bytes", facts->limits->tmp_bytes);
		(void)buf_add_char(out, '.');
	} else if (is_too_large(facts)) {
		(void)buf_add_str(out, " One file may have ");
		bytes_add(out, "file_bytes", facts->limits->file_bytes);
		(void)buf_add_char(out, '.');
	}
}

static void hint_processes(const struct end_facts *facts, struct buf *out)
{
	const uint64_t limit = facts->limits->processes;

	if (!(facts->ended->advice & WIRE_ADVICE_PIDS))
		return;
	(void)buf_addf(
		out, " It reached the limit of %" PRIu64 " processes and threads together", limit);
	more_add(out, "processes", limit, false);
	(void)buf_add_char(out, '.');
}

static void hint_results(const struct end_facts *facts, struct buf *out)
{
	if (facts->report->advice & REPORT_ADVICE_FIGURES)
		(void)buf_add_str(out,
			" More than 20 figures were shown or left open: the rest are "
			"not saved; save them by savefig.");
	if (facts->report->advice & REPORT_ADVICE_FIGURE)
		(void)buf_add_str(out, " A figure could not be drawn or not be saved.");
	if (facts->report->advice & REPORT_ADVICE_RESULT)
		(void)buf_add_str(out, " The last value could not be shown, or not all of it.");
}

void end_hints(const struct end_facts *facts, struct buf *out)
{
	hint_processes(facts, out);
	hint_results(facts, out);
	if (facts->ended->end == WIRE_END_EXIT && facts->ended->code == 0)
		return;
	hint_input(facts, out);
	hint_proc(facts, out);
	hint_space(facts, out);
}
