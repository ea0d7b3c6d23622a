/*
 * Theory of operation: as in run.c, with calls instead of a jaild: read all that the person gave;
 * upload files; run, showing the events as they come; fetch what was made; print. The session is
 * one of this run alone and closed at the end, unless --session names one, which stays.
 *
 * Ctrl-C cancels the run by the id that we chose, and the stream then tells its end; a second one
 * gives up. A reader of our output that goes away would be the script's EPIPE here; a supervisor
 * cannot hand that on, so the run is cancelled as by SIGPIPE.
 */
#include "cli/run/run_remote.h"

#include "base/alloc.h"
#include "base/fd.h"
#include "base/id.h"
#include "base/macro.h"
#include "cli/base/exit.h"
#include "cli/base/say.h"
#include "cli/run/convert.h"
#include "cli/run/cost.h"
#include "cli/run/inputs.h"
#include "cli/run/outputs.h"
#include "cli/run/run_options.h"
#include "cli/run/screen.h"
#include "cli/run/script.h"
#include "cli/run/show.h"
#include "client/files.h"
#include "client/run.h"
#include "sandbox/language.h"
#include "sandbox/profile.h"
#include "json/json.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ANSWER_GRACE_MS 60000	/* beyond the run: the queue's 5 s, the kill, the files' listing */
#define QUEUE_MS_MAX	3600000 /* of queue_wait_s; a stream is not silent then */
#define RESET_SHOWN_MAX 1024	/* bytes of names that were lost: a few lines of a terminal */

struct remote {
	const struct run_options *options;
	struct sandbox *sandbox;
	const char *session;
	char key[ID_LEN + 5], run_id[ID_LEN + 1];
	struct script script;
	struct inputs inputs;
	struct screen screen;
	struct sandbox_watch watch;
	struct outputs_source source;
	struct convert_server convert;
	struct sandbox_trouble trouble;
	struct sandbox_answer answer;
	uint64_t shown[RUN_STREAM_MAX];
	int signal; /* that ended the run, or 0 */
};

static int fail(const struct remote *remote, int r)
{
	return server_trouble_say(NULL, r, &remote->trouble, remote->options->is_json);
}

/* Ends the run for a signal; below 0 when it is not known there, or for the second time. */
static int run_end(struct remote *remote, int signal_number)
{
	struct sandbox_trouble trouble;

	if (remote->signal != 0)
		return -ECANCELED;
	remote->signal = signal_number;
	return sandbox_cancel(remote->sandbox, remote->run_id, &trouble);
}

static int on_wake(struct sandbox_watch *watch)
{
	struct remote *remote = container_of(watch, struct remote, watch);
	int signal_number = screen_turn(&remote->screen);

	return signal_number == 0 ? 0 : run_end(remote, signal_number);
}

static int on_output(struct sandbox_watch *watch, bool is_stderr, struct str text)
{
	struct remote *remote = container_of(watch, struct remote, watch);
	enum run_stream stream = is_stderr ? RUN_STDERR : RUN_STDOUT;

	remote->shown[stream] += text.n;
	if (screen_show(&remote->screen, stream, text) == 0 || remote->signal != 0)
		return 0;
	return run_end(remote, SIGPIPE);
}

static int on_queued(struct sandbox_watch *watch, unsigned position)
{
	struct remote *remote = container_of(watch, struct remote, watch);

	screen_wait(&remote->screen, true);
	if (remote->screen.is_terminal)
		say("all places are taken; number %u of those who wait", position);
	return 0;
}

static int on_started(struct sandbox_watch *watch, struct str run_id, struct str session_state)
{
	struct remote *remote = container_of(watch, struct remote, watch);

	(void)run_id, (void)session_state;
	screen_wait(&remote->screen, false);
	return 0;
}

/* Downloads a file into memory that has no name, for outputs_collect. */
static int on_open(
	struct outputs_source *source, const char *path, int *ret_fd, const char **ret_why)
{
	struct remote *remote = container_of(source, struct remote, source);
	AUTO_CLOSE int fd = memfd_create("download", MFD_CLOEXEC);
	int r;

	*ret_why = "no memory for it";
	if (fd < 0)
		return -errno;
	*ret_why = remote->trouble.fault.text;
	r = sandbox_file_get(
		remote->sandbox, remote->session, str_from(path), fd, &remote->trouble);
	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	if (r == 0)
		*ret_fd = TAKE_FD(fd);
	return r;
}

/* Reads all that the person gave. Returns 0 or an exit status. */
static int prepare(struct remote *remote)
{
	const struct run_options *options = remote->options;
	int status = outputs_check(options->out_dir);

	if (status == 0)
		status = script_load(options, &remote->script);
	if (status == 0)
		status = inputs_open(options, &remote->inputs);
	if (status == 0)
		status = server_open(&options->server, &remote->sandbox);
	if (status == 0 && id_make(remote->run_id) < 0)
		status = EXIT_OURS;
	(void)str_format(remote->key, sizeof(remote->key), "run-%s", remote->run_id);
	remote->session = options->session ? options->session : remote->key;
	convert_server_init(&remote->convert, remote->sandbox, remote->run_id);
	return status;
}

static int upload(struct remote *remote)
{
	for (unsigned i = 0; i < remote->inputs.n; i++) {
		const struct input *input = &remote->inputs.list[i];
		const struct sandbox_put put = { .key = remote->session,
			.path = str_from(input->name),
			.profile = remote->options->profile,
			.policy = remote->options->policy,
			.is_executable = input->is_executable,
			.fd = input->fd,
			.size_bytes = input->size_bytes };
		int r = sandbox_file_put(remote->sandbox, &put, &remote->trouble);

		if (r < 0) {
			say("--file %s: not copied in", input->path);
			return fail(remote, r);
		}
	}
	return 0;
}

/* Waits for the end. Returns 0 with the answer, or an exit status. */
static int watch_run(struct remote *remote)
{
	const struct run_options *options = remote->options;
	struct sandbox_run_request request = { .session = remote->session,
		.run_id = remote->run_id,
		.language = language_name(remote->script.language),
		.code = buf_get_slice(&remote->script.code),
		.args = options->args,
		.n_args = options->n_args,
		.env = options->env,
		.n_env = options->n_env,
		.profile = options->profile,
		.policy = options->policy,
		.is_live = options->is_live,
		.is_reset = options->is_reset,
		.timeout_ms = options->has_timeout ? options->wall_ms : 0,
		.answer_ms = options->wall_ms + ANSWER_GRACE_MS +
			     (options->is_json ? 0 : QUEUE_MS_MAX) };
	int r;

	if (remote->script.has_input)
		request.stdin_text = (struct str){ .p = buf_get_cstr(&remote->script.input),
			.n = remote->script.input.len };
	r = options->is_json ? sandbox_run(remote->sandbox, &request, &remote->watch,
				       &remote->answer, &remote->trouble)
			     : sandbox_run_stream(remote->sandbox, &request, &remote->watch,
				       &remote->answer, &remote->trouble);
	screen_wait(&remote->screen, false);
	if (r < 0 && remote->signal != 0)
		return EXIT_SIGNAL_BASE + remote->signal;
	return r < 0 ? fail(remote, r) : 0;
}

static int run_script(struct remote *remote)
{
	const struct run_options *options = remote->options;
	bool is_limit_known = options->profile || options->has_timeout;
	int status;

	if (screen_init(&remote->screen, is_limit_known ? options->wall_ms : 0) < 0) {
		say("no descriptors for the run's output");
		return EXIT_OURS;
	}
	remote->watch = (struct sandbox_watch){ .on_queued = on_queued,
		.on_started = on_started,
		.on_output = on_output,
		.on_wake = on_wake,
		.has_wake = true,
		.wake_fd = remote->screen.wake_fd };
	status = watch_run(remote);
	screen_fini(&remote->screen);
	return status;
}

/* Number n of "SIGSEGV" or "signal 40", 0 when there is none. */
static int signal_number(struct str name)
{
	uint64_t n;

	if (str_starts(name, STR("signal ")) &&
		str_to_u64((struct str){ name.p + 7, name.n - 7 }, 64, &n) == 0)
		return (int)n;
	for (int i = 1; i < NSIG; i++) {
		const char *abbreviation = sigabbrev_np(i);

		if (abbreviation && str_starts(name, STR("SIG")) &&
			str_eq((struct str){ name.p + 3, name.n - 3 }, str_from(abbreviation)))
			return i;
	}
	return 0;
}

static enum wire_end end_get(const struct sandbox_answer *answer)
{
	static const struct {
		struct str reason;
		enum wire_end end;
	} rows[] = {
		{ STR("exit"), WIRE_END_EXIT },
		{ STR("signal"), WIRE_END_SIGNAL },
		{ STR("timeout"), WIRE_END_TIMEOUT },
		{ STR("memory"), WIRE_END_MEMORY },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (str_eq(answer->reason, rows[i].reason))
			return rows[i].end;
	return WIRE_END_CANCELLED;
}

/* The exit status that tells the end, as for a run here. */
static int exit_status(const struct remote *remote)
{
	switch (end_get(&remote->answer)) {
	case WIRE_END_EXIT:
		return remote->answer.code;
	case WIRE_END_SIGNAL:
		return EXIT_SIGNAL_BASE + signal_number(remote->answer.signal);
	case WIRE_END_TIMEOUT:
		return EXIT_TIMED_OUT;
	case WIRE_END_MEMORY:
		return EXIT_MEMORY;
	case WIRE_END_CANCELLED:
	case WIRE_END_MAX:
		break;
	}
	return EXIT_SIGNAL_BASE + (remote->signal != 0 ? remote->signal : SIGINT);
}

/* The limits that held, for the remedy of a run that met one. Without --profile they are those of
 * the session, which is asked for them; left out if it does not tell. */
static void limits_find(
	const struct remote *remote, struct cost *cost, struct wire_limits *limits, char name[32])
{
	const struct run_options *options = remote->options;
	struct sandbox_trouble trouble;
	struct json *session = NULL;
	struct fault fault;
	struct str profile;

	if (options->profile || (cost->end != WIRE_END_TIMEOUT && cost->end != WIRE_END_MEMORY))
		return;
	if (sandbox_session_get(remote->sandbox, remote->session, &session, &trouble) == 0 &&
		json_as_text(json_get(session, "profile"), &profile) == 0 &&
		str_format(name, 32, "%.*s", STR_ARG(profile)) == 0 &&
		profile_get(name, limits, &fault) == 0) {
		cost->profile = name;
		cost->limits = limits;
		if (!options->has_timeout)
			cost->wall_ms = limits->wall_ms;
	}
	json_free(session);
}

/* The answer's text is a sentence, and hints behind a full stop. */
static void remote_cost_say(const struct remote *remote)
{
	const struct sandbox_answer *answer = &remote->answer;
	struct wire_limits limits;
	char profile[32];
	struct cost cost = { .end = end_get(answer),
		.sentence = answer->end_text,
		.wall_us = answer->wall_ms * 1000,
		.cpu_us = answer->cpu_ms * 1000,
		.memory_peak_bytes = answer->memory_peak_bytes,
		.limits = &remote->options->limits,
		.profile = remote->options->profile,
		.wall_ms = remote->options->wall_ms,
		.has_files = remote->inputs.n > 0,
		.session = remote->options->session,
		.is_elsewhere = true };
	const char *stop = answer->end_text.n > 0
				   ? memmem(answer->end_text.p, answer->end_text.n, ". ", 2)
				   : NULL;

	(void)json_as_text(json_get(json_get(answer->whole, "error"), "name"), &cost.error_name);
	(void)json_as_text(json_get(json_get(answer->whole, "error"), "value"), &cost.error_value);
	limits_find(remote, &cost, &limits, profile);
	cost.is_clean = cost.end == WIRE_END_EXIT && answer->code == 0;
	if (stop) {
		cost.sentence.n = (size_t)(stop - cost.sentence.p);
		cost.hints = (struct str){ stop + 2, answer->end_text.n - cost.sentence.n - 2 };
	}
	cost_say(&cost);
}

/* The person sees what came as events; the supervisor sends the first megabyte of each stream. */
static void cut_say(const struct remote *remote)
{
	const uint64_t all[RUN_STREAM_MAX] = { remote->answer.out.bytes, remote->answer.err.bytes };
	static const char *const names[RUN_STREAM_MAX] = { "stdout", "stderr" };

	for (int i = 0; i < RUN_STREAM_MAX; i++)
		if (remote->shown[i] < all[i] && remote->signal == 0)
			say("%s: %" PRIu64 " of %" PRIu64 " bytes were sent; let the script "
			    "write long output to a file",
				names[i], remote->shown[i], all[i]);
	if (remote->answer.is_files_truncated)
		say("too many changed files, or too long paths: not all were taken (at most %d); "
		    "let "
		    "the script pack them into one",
			CHANGES_MAX);
}

/* What the session no longer has: who goes on with it would look for it in vain. */
static void reset_say(const struct remote *remote)
{
	const struct json *reset = json_get(remote->answer.whole, "reset");
	const struct json *lost = json_get(reset, "lost");
	AUTO_BUF struct buf names = BUF_INIT(RESET_SHOWN_MAX);
	size_t n = json_size(lost), shown = 0;
	struct str name;

	if (remote->answer.reset_reason.n == 0)
		return;
	for (; shown < n && names.len < RESET_SHOWN_MAX / 2; shown++) {
		if (json_as_text(json_at(lost, shown), &name) < 0)
			break;
		(void)buf_add_str(&names, shown == 0 ? "; lost: " : ", ");
		say_name(&names, name);
	}
	if (shown < n)
		(void)buf_addf(&names, " and %zu more", n - shown);
	say("the session began anew (%.*s)%s", STR_ARG(remote->answer.reset_reason),
		buf_get_cstr(&names));
}

/* The names that the files got here, beside their own. */
static void saved_set(struct json *whole, const struct outputs *outputs)
{
	struct json *files = json_edit(whole, "files");

	for (size_t i = 0; i < outputs->n; i++)
		if (outputs->files[i].saved)
			answer_saved_set(json_edit_at(files, i), outputs->files[i].saved);
}

static int tell(const struct remote *remote, const struct outputs *outputs)
{
	bool is_plain = exit_status(remote) == 0 && outputs->n_saved == 0 && outputs->n_failed == 0;

	if (remote->options->is_json) {
		saved_set(remote->answer.whole, outputs);
		return say_json(remote->answer.whole);
	}
	cut_say(remote);
	reset_say(remote);
	if (!is_plain || remote->screen.is_terminal)
		remote_cost_say(remote);
	return 0;
}

/* Reads the list of changed files. Returns 0, or an exit status after saying why. */
static int changes_read(
	struct remote *remote, struct sandbox_changed_file *files, struct changes *changes)
{
	static const enum change_kind kinds[] = { [SANDBOX_CREATED] = CHANGE_CREATED,
		[SANDBOX_MODIFIED] = CHANGE_MODIFIED,
		[SANDBOX_DELETED] = CHANGE_DELETED };

	for (size_t i = 0; i < changes->n; i++) {
		if (sandbox_answer_file(&remote->answer, i, &files[i]) < 0) {
			say("%s: the answer's list of files is malformed",
				sandbox_server_get(remote->sandbox));
			return EXIT_OURS;
		}
		changes->list[i] = (struct change){ .kind = kinds[files[i].change],
			.path = { files[i].path.bytes, files[i].path.n },
			.size_bytes = files[i].size_bytes };
	}
	return 0;
}

/* As show_results takes them; their slices live in the answer and in paths. */
static void results_show(struct remote *remote)
{
	size_t n = MIN(remote->answer.n_results, (size_t)REPORT_RESULTS_MAX);
	AUTO_FREE struct sandbox_result *told = xcalloc(n, sizeof(*told));
	struct report_result results[REPORT_RESULTS_MAX];

	for (size_t i = 0; i < n; i++) {
		const struct sandbox_path *path = &told[i].path;
		bool is_path;

		if (sandbox_answer_result(&remote->answer, i, &told[i]) < 0)
			return;
		is_path = !told[i].text.p;
		results[i] = (struct report_result){ .mime = told[i].mime,
			.value = is_path ? (struct str){ .p = path->bytes, .n = path->n }
					 : told[i].text,
			.is_main = told[i].is_main,
			.is_path = is_path };
	}
	show_results(
		&(struct show){ .source = &remote->source, .convert = &remote->convert.convert },
		results, n);
}

/* Fetches what the run made and says how it went. */
static int finish(struct remote *remote)
{
	size_t n = remote->answer.n_files;
	AUTO_FREE struct sandbox_changed_file *files = xcalloc(n, sizeof(*files));
	AUTO_FREE struct change *list = xcalloc(n, sizeof(*list));
	struct changes changes = { .list = list, .n = n };
	const struct outputs_request request = { .source = &remote->source,
		.out_dir = remote->options->out_dir,
		.max_bytes = remote->options->limits.home_bytes,
		.is_quiet = remote->options->is_json };
	struct outputs outputs;
	int status = changes_read(remote, files, &changes);

	if (status != 0)
		return status;
	outputs_collect(&request, &changes, &outputs);
	if (!remote->options->is_json)
		results_show(remote);
	status = tell(remote, &outputs);
	if (status == 0)
		status = exit_status(remote);
	if (status == 0 && outputs.n_failed > 0)
		status = EXIT_OURS;
	outputs_fini(&outputs);
	return status;
}

/* Best effort: what is left closes by itself when it is idle. */
static void session_end(struct remote *remote)
{
	struct sandbox_trouble trouble;

	if (!remote->options->session)
		(void)sandbox_session_close(remote->sandbox, remote->session, &trouble);
}

int run_remote(const struct run_options *options)
{
	struct remote remote = { .options = options, .source = { .open = on_open } };
	int status = prepare(&remote);

	if (status == 0) {
		status = upload(&remote);
		if (status == 0)
			status = run_script(&remote);
		if (status == 0)
			status = finish(&remote);
		session_end(&remote);
	}
	sandbox_answer_fini(&remote.answer);
	sandbox_free(remote.sandbox);
	inputs_fini(&remote.inputs);
	script_fini(&remote.script);
	return status;
}
