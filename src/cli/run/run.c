/*
 * `cloche run`: a jail of its own for one script, without any daemon.
 *
 * The order: read and check everything that the person gave (a mistake is exit 2, and nothing ran);
 * start jaild and open one session; copy files in; run, showing output as it comes; find out what
 * changed and copy that out; print the answer or the cost; let jaild go and wait until it is gone.
 *
 * Exit statuses are the script's where it ended by itself, so ours (cli/base/exit.h) speak only
 * when there was no end of its own, or when its files could not be saved.
 */
#include "cli/run/run.h"

#include "base/alloc.h"
#include "base/fd.h"
#include "base/id.h"
#include "base/macro.h"
#include "cli/base/exit.h"
#include "cli/base/image_dir.h"
#include "cli/base/say.h"
#include "cli/base/system_files.h"
#include "cli/run/convert.h"
#include "cli/run/cost.h"
#include "cli/run/inputs.h"
#include "cli/run/outputs.h"
#include "cli/run/run_options.h"
#include "cli/run/run_remote.h"
#include "cli/run/screen.h"
#include "cli/run/script.h"
#include "cli/run/show.h"
#include "extent/extent.h"
#include "jail/client/jaild.h"
#include "jail/files/snapshot.h"
#include "sandbox/answer.h"
#include "sandbox/language.h"
#include "sandbox/results.h"
#include "wire/stage.h"
#include "json/json.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SESSION_KEY "run" /* jaild is ours alone: any key does */

struct job {
	struct run_options options;
	char image[PATH_MAX]; /* the image's path, if there is one and no --rootfs */
	int image_fd;	      /* our share in it */
	struct script script;
	struct inputs inputs;
	struct jaild jaild;
	uint64_t session;
	struct extent_key hash_key; /* of contents, to see what the script changed */
	uint32_t protections;
	struct outputs_source source;
	struct convert_jail convert;
	struct snapshot before, after;
	struct screen screen;
	struct run run;
	int signal; /* that ended the run, or 0 */
};

static int on_chunk(struct run *run, enum run_stream stream, struct str chunk)
{
	struct job *job = container_of(run, struct job, run);

	return screen_show(&job->screen, stream, chunk);
}

/* A file of the session, for outputs_collect. */
static int on_open(
	struct outputs_source *source, const char *path, int *ret_fd, const char **ret_why)
{
	struct job *job = container_of(source, struct job, source);
	struct wire_file_is is;

	*ret_why = job->jaild.fault.text;
	return jaild_file_open(&job->jaild, job->session, path, &is, ret_fd);
}

/* Says what could not be done; a program that asked for JSON gets it as such. Returns EXIT_OURS. */
static int fail(const struct job *job, const struct fault *fault)
{
	AUTO_JSON struct json *problem = job->options.is_json ? answer_problem(fault) : NULL;

	/* A tree of the person's own may well lack the language. */
	if (strcmp(fault->stage, stage_name(STAGE_SCRIPT_EXEC)) == 0)
		say("%s does not start: is it in %s?", language_name(job->script.language),
			job->options.rootfs ? job->options.rootfs : "/usr");
	if (problem)
		(void)say_json(problem);
	return say_fault(fault);
}

/* The launcher would name a stage for it; to the person it is a mistake in an option. */
static int rootfs_check(const char *rootfs)
{
	struct stat st;

	if (!rootfs || (stat(rootfs, &st) == 0 && S_ISDIR(st.st_mode)))
		return 0;
	return say_usage("--rootfs %s: is no folder; name the root of a file system tree", rootfs);
}

/* Which system files: told on a terminal, because the image is used without being asked for. */
static void rootfs_choose(struct job *job)
{
	AUTO_BUF struct buf shown = BUF_INIT(4 * PATH_MAX);
	AUTO_FREE struct system_files *files = NULL;

	job->options.rootfs = image_rootfs(job->options.rootfs, job->image);
	if (job->options.is_json || isatty(STDERR_FILENO) != 1)
		return;
	files = xcalloc(1, sizeof(*files));
	system_files_look(job->options.rootfs, files);
	system_files_tell(files, &shown);
	say("with %s", buf_get_cstr(&shown));
}

/* Reads all that the person gave. Returns 0 or an exit status. */
static int prepare(struct job *job)
{
	int status = outputs_check(job->options.out_dir);

	rootfs_choose(job);
	if (status == 0)
		status = rootfs_check(job->options.rootfs);
	if (status == 0)
		status = image_begin(job->options.rootfs, &job->image_fd);
	if (status == 0)
		status = script_load(&job->options, &job->script);
	return status != 0 ? status : inputs_open(&job->options, &job->inputs);
}

/* A jaild of our own with one open session that holds the files. */
static int open_session(struct job *job)
{
	const struct jaild_options options = { .rootfs = job->options.rootfs,
		.fail_stage = job->options.fail_stage,
		.is_host_unlimited = job->options.is_host_unlimited };
	struct wire_status_is status;
	int r = jaild_start(&job->jaild, &options);

	if (r == 0)
		r = jaild_status(&job->jaild, &status);
	if (r == 0)
		r = jaild_session_open(
			&job->jaild, SESSION_KEY, &job->options.limits, &job->session);
	if (r < 0)
		return fail(job, &job->jaild.fault);
	job->protections = status.protections;
	return inputs_put(&job->inputs, &job->jaild, job->session, &job->options.limits) < 0
		       ? fail(job, &job->jaild.fault)
		       : 0;
}

/* Lists the home. Without files there is nothing in it before the run. */
static int list(struct job *job, uint32_t flags, struct snapshot *ret_snapshot)
{
	if (snapshot_fetch(&job->jaild, job->session, flags, &job->hash_key, ret_snapshot) < 0)
		return fail(job, &job->jaild.fault);
	return 0;
}

/* Drains and shows until the end, cancelling at the first signal, giving up at the second. */
static int watch_run(struct job *job)
{
	int r;

	while ((r = run_wait(&job->run, job->screen.wake_fd)) == RUN_WOKEN) {
		int signal_number = screen_turn(&job->screen);

		if (signal_number == 0)
			continue;
		if (job->signal != 0)
			return EXIT_SIGNAL_BASE + signal_number;
		job->signal = signal_number;
		run_cancel(&job->run);
	}
	return r < 0 ? fail(job, &job->run.fault) : 0;
}

static int run_script(struct job *job)
{
	struct package package = { .language = job->script.language,
		.code = buf_get_cstr(&job->script.code),
		.code_size = job->script.code.len,
		.n_args = job->options.n_args,
		.n_env = job->options.n_env };
	struct run_request request = { .session = job->session,
		.wall_ms = job->options.wall_ms,
		.package = &package,
		.on_chunk = job->options.is_json ? NULL : on_chunk };
	int status;

	memcpy(package.args, job->options.args, sizeof(job->options.args));
	memcpy(package.env, job->options.env, sizeof(job->options.env));
	if (job->script.has_input)
		request.stdin_bytes = (struct str){ .p = buf_get_cstr(&job->script.input),
			.n = job->script.input.len };
	if (screen_init(&job->screen, job->options.wall_ms) < 0) {
		say("no descriptors for the run's output");
		return EXIT_OURS;
	}
	if (run_start(&job->run, &job->jaild, &request) < 0)
		status = fail(job, &job->run.fault);
	else
		status = watch_run(job);
	screen_fini(&job->screen);
	return status;
}

/* The exit status that tells the end. */
static int exit_status(const struct job *job)
{
	const struct wire_run_ended *ended = &job->run.ended;

	switch (ended->end) {
	case WIRE_END_EXIT:
		return ended->code;
	case WIRE_END_SIGNAL:
		return EXIT_SIGNAL_BASE + ended->code;
	case WIRE_END_TIMEOUT:
		return EXIT_TIMED_OUT;
	case WIRE_END_MEMORY:
		return EXIT_MEMORY;
	default:
		return EXIT_SIGNAL_BASE + (job->signal != 0 ? job->signal : SIGINT);
	}
}

/* Prints the answer, or the line of cost where somebody wants it. */
static int tell(const struct job *job, const struct answer *answer, const struct outputs *outputs)
{
	bool is_plain = exit_status(job) == 0 && outputs->n_saved == 0 && outputs->n_failed == 0;

	if (job->options.is_json) {
		AUTO_JSON struct json *j = answer_make(answer);
		AUTO_FREE struct system_files *files = xcalloc(1, sizeof(*files));

		system_files_look(job->options.rootfs, files);
		system_files_set(files, j);
		return say_json(j);
	}
	if (answer->is_files_truncated)
		say("too many changed files, or too long paths: not all were taken (at most %d); "
		    "let "
		    "the script pack them into one",
			CHANGES_MAX);
	if (!is_plain || job->screen.is_terminal)
		cost_answer_say(answer, job->options.profile, job->inputs.n > 0);
	return 0;
}

/* Copies out what the run made and says how it went. */
static int finish(struct job *job)
{
	const struct outputs_request request = { .source = &job->source,
		.out_dir = job->options.out_dir,
		.max_bytes = job->options.limits.home_bytes,
		.is_quiet = job->options.is_json };
	struct answer answer = { .session = SESSION_KEY,
		.session_state = "new",
		.language = job->script.language,
		.run = &job->run,
		.limits = &job->options.limits,
		.wall_ms = job->options.wall_ms,
		.has_stdin = job->script.has_input,
		.protections = job->protections };
	struct report_result results[REPORT_RESULTS_MAX];
	struct outputs outputs;
	struct changes changes;
	char id[ID_LEN + 1] = "";
	int status;

	(void)id_make(id);
	changes_find(&job->before, &job->after, &changes);
	outputs_collect(&request, &changes, &outputs);
	answer.run_id = id;
	answer.files = outputs.files;
	answer.n_files = outputs.n;
	answer.is_files_truncated = changes.is_truncated;
	answer.results = results;
	answer.n_results = results_pick(&job->run.report, &job->after, results);
	if (!job->options.is_json)
		show_results(
			&(struct show){ .source = &job->source, .convert = &job->convert.convert },
			results, answer.n_results);
	status = tell(job, &answer, &outputs);
	if (status == 0)
		status = exit_status(job);
	if (status == 0 && outputs.n_failed > 0)
		status = EXIT_OURS;
	outputs_fini(&outputs);
	changes_fini(&changes);
	return status;
}

static int execute(struct job *job)
{
	/* Only files that were there before can look unchanged after a write through mmap. */
	uint32_t hash = job->inputs.n > 0 ? WIRE_LIST_HASH : 0;
	int status = open_session(job);

	if (status == 0 && job->inputs.n > 0)
		status = list(job, hash | WIRE_LIST_SETTLE, &job->before);
	if (status == 0)
		status = run_script(job);
	if (status == 0)
		status = list(job, hash, &job->after);
	return status == 0 ? finish(job) : status;
}

int cli_run(int argc, char **argv)
{
	AUTO_FREE struct job *job = xcalloc(1, sizeof(*job)); /* large for a stack */
	int r, status;

	job->image_fd = -1;
	job->jaild = (struct jaild)JAILD_INIT;
	job->source.open = on_open;
	r = run_options_parse(argc, argv, &job->options);
	if (r < 0)
		return EXIT_USAGE;
	if (r == RUN_OPTIONS_HELP)
		return EXIT_HELP;
	if (job->options.server.server)
		return run_remote(&job->options);
	extent_key_make(&job->hash_key);
	run_init(&job->run);
	convert_jail_init(&job->convert, &job->jaild);
	status = prepare(job);
	if (status == 0)
		status = execute(job);
	run_fini(&job->run);
	jaild_stop(&job->jaild);
	snapshot_fini(&job->before);
	snapshot_fini(&job->after);
	inputs_fini(&job->inputs);
	script_fini(&job->script);
	(void)fd_close(job->image_fd);
	return status;
}
