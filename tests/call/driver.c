/*
 * A house over a real jaild, for tests: reads one JSON object from each line of stdin, does it in a
 * thread of its own, and prints one JSON object with the same "id". Events of a run are lines with
 * "event". Arguments: name=value of house_config, and jaild=PROGRAM.
 */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/fd.h"
#include "base/macro.h"
#include "base/str.h"
#include "call/archive.h"
#include "call/call.h"
#include "call/files.h"
#include "house/canary.h"
#include "jail/client/program.h"
#include "pool/pool.h"
#include "sandbox/answer.h"
#include "sandbox/language.h"
#include "store/store.h"
#include "wire/channel.h"
#include "json/json.h"
#include "json/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE_MAX_BYTES (16u * 1024 * 1024)
#define WORDS_MAX      128
#define TEXTS_MAX      32

static struct house *house;
static struct canary *canary;
static const char *program;
static const char *store_path;
static uint64_t store_max_bytes = UINT64_MAX;
static _Atomic pid_t jaild_pid; /* each job is a thread */
static pthread_mutex_t print_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t jobs_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t jobs_changed = PTHREAD_COND_INITIALIZER;
static unsigned jobs;

/* One line of work. */
struct job {
	struct call_watch watch;
	struct json *request;
	struct json *reply;
	int64_t id;
	char *texts[TEXTS_MAX]; /* that were handed out */
	size_t n_texts;
};

static void print(const struct json *j)
{
	AUTO_BUF struct buf line = BUF_INIT(LINE_MAX_BYTES);

	if (json_write(j, &line) < 0 || buf_add_char(&line, '\n') < 0)
		abort();
	(void)pthread_mutex_lock(&print_mutex);
	(void)fd_write_full(STDOUT_FILENO, line.data, line.len);
	(void)pthread_mutex_unlock(&print_mutex);
}

/* The member as a C string that lives as long as the job. */
static const char *text_of(struct job *job, const char *name)
{
	struct str text;

	if (json_as_text(json_get(job->request, name), &text) < 0)
		return NULL;
	if (job->n_texts == TEXTS_MAX)
		abort();
	job->texts[job->n_texts] = xasprintf("%.*s", STR_ARG(text));
	return job->texts[job->n_texts++];
}

static struct str slice_of(const struct json *object, const char *name)
{
	struct str text = { .p = NULL, .n = 0 };

	(void)json_as_text(json_get(object, name), &text);
	return text;
}

static int64_t number_of(const struct job *job, const char *name, int64_t otherwise)
{
	int64_t n;

	return json_as_integer(json_get(job->request, name), &n) < 0 ? otherwise : n;
}

static const char *tenant_of(struct job *job)
{
	const char *tenant = text_of(job, "tenant");

	return tenant ? tenant : "default";
}

static void refuse(struct job *job, const struct fault *fault)
{
	json_set_cstr(job->reply, "fault", fault_name(fault->code));
	json_set_cstr(job->reply, "text", fault->text);
	json_set_cstr(job->reply, "field", fault->field);
	json_set_cstr(job->reply, "stage", fault->stage);
}

static struct json *event(struct job *job, const char *name)
{
	struct json *j = json_object_new();

	json_set_integer(j, "id", job->id);
	json_set_cstr(j, "event", name);
	return j;
}

static int on_queued(struct call_watch *watch, unsigned position)
{
	AUTO_JSON struct json *j = event(container_of(watch, struct job, watch), "queued");

	json_set_integer(j, "position", position);
	print(j);
	return 0;
}

static int on_started(struct call_watch *watch, const char *run_id, const char *session_state)
{
	AUTO_JSON struct json *j = event(container_of(watch, struct job, watch), "started");

	json_set_cstr(j, "run_id", run_id);
	json_set_cstr(j, "session_state", session_state);
	print(j);
	return 0;
}

static int on_output(struct call_watch *watch, enum run_stream stream, struct str text)
{
	AUTO_JSON struct json *j = event(
		container_of(watch, struct job, watch), stream == RUN_STDOUT ? "stdout" : "stderr");

	json_set_text(j, "text", text);
	print(j);
	return 0;
}

static int on_file(struct call_watch *watch, const struct answer_file *file)
{
	AUTO_JSON struct json *j = event(container_of(watch, struct job, watch), "file");
	AUTO_JSON struct json *is = answer_file_make(file);
	struct str path;

	if (json_as_text(json_get(is, "path"), &path) == 0)
		json_set_text(j, "path", path);
	print(j);
	return 0;
}

/* The elements of an array of texts. */
static size_t texts_of(const struct job *job, const char *name, struct str texts[WORDS_MAX])
{
	const struct json *array = json_get(job->request, name);
	size_t n = MIN(json_size(array), (size_t)WORDS_MAX);

	for (size_t i = 0; i < n; i++)
		(void)json_as_text(json_at(array, i), &texts[i]);
	return n;
}

static void do_run(struct job *job)
{
	static const char *const strict_only[] = { "strict", NULL };
	struct str args[WORDS_MAX], env[WORDS_MAX];
	struct call_file files[WORDS_MAX];
	const struct json *list = json_get(job->request, "files");
	struct call_request request = { .tenant = tenant_of(job),
		.key = text_of(job, "key"),
		.run_id = text_of(job, "run_id"),
		.policy = text_of(job, "policy"),
		.state = text_of(job, "state"),
		.profile = text_of(job, "profile"),
		.profiles = number_of(job, "strict_only", 0) ? strict_only : NULL,
		.code = slice_of(job->request, "code"),
		.stdin_bytes = slice_of(job->request, "stdin"),
		.args = args,
		.env = env,
		.files = files,
		.timeout_ms = (uint64_t)number_of(job, "timeout_ms", 0),
		.client_fd = (int)number_of(job, "client_fd", -1),
		.watch = number_of(job, "watch", 0) ? &job->watch : NULL };
	struct call_result result;

	if (language_parse(slice_of(job->request, "language"), &request.language) < 0)
		request.language = PACKAGE_PYTHON;
	request.n_args = texts_of(job, "args", args);
	request.n_env = texts_of(job, "env", env);
	for (; request.n_files < MIN(json_size(list), (size_t)WORDS_MAX); request.n_files++) {
		const struct json *file = json_at(list, request.n_files);
		bool is_base64 = json_get(file, "base64") != NULL;

		files[request.n_files] = (struct call_file){ .path = slice_of(file, "path"),
			.content = slice_of(file, is_base64 ? "base64" : "text"),
			.is_base64 = is_base64 };
	}
	if (call_run(house, &request, &result) < 0)
		refuse(job, &result.fault);
	json_set_cstr(job->reply, "run_id", result.run_id);
	json_set_integer(job->reply, "retry_after_s", result.retry_after_s);
	json_set_bool(job->reply, "is_client_gone", result.is_client_gone);
	json_set_cstr(job->reply, "profile", result.profile);
	if (result.answer) {
		AUTO_BUF struct buf answer = BUF_INIT(LINE_MAX_BYTES);

		(void)json_write(result.answer, &answer);
		json_set_text(job->reply, "answer", buf_get_slice(&answer));
		json_free(result.answer);
	}
}

static struct files_at at_of(struct job *job)
{
	return (struct files_at){ .tenant = tenant_of(job),
		.key = text_of(job, "key"),
		.path = slice_of(job->request, "path") };
}

/* Writes `text` `times` times, waiting `pause_ms` before the end. */
static void do_put(struct job *job)
{
	struct files_upload_request request = { .at = at_of(job),
		.profile = text_of(job, "profile"),
		.policy = text_of(job, "policy"),
		.client_fd = -1 };
	struct str text = slice_of(job->request, "text");
	struct files_upload *upload = NULL;
	struct fault fault;
	bool is_new = false;
	int r = files_create(house, &request, &upload, &fault);

	for (int64_t i = 0; r == 0 && i < number_of(job, "times", 1); i++)
		r = files_write(upload, text.p, text.n, &fault);
	(void)usleep((unsigned)number_of(job, "pause_ms", 0) * 1000);
	if (r < 0 || number_of(job, "abort", 0))
		files_abort(upload);
	else
		r = files_commit(upload, &is_new, &fault);
	if (r < 0)
		refuse(job, &fault);
	json_set_bool(job->reply, "is_new", is_new);
}

/* A tar that has no bytes: an import that fails, after a while in which it has its session. */
static void do_import(struct job *job)
{
	struct files_upload_request request = { .at = at_of(job),
		.policy = text_of(job, "policy"),
		.is_import = true,
		.client_fd = -1 };
	struct archive_import *import = NULL;
	struct fault fault;
	uint64_t skipped;

	if (archive_import_begin(house, &request, &import, &fault) < 0) {
		refuse(job, &fault);
		return;
	}
	(void)usleep((unsigned)number_of(job, "pause_ms", 0) * 1000);
	if (archive_import_end(import, &skipped, &fault) < 0)
		refuse(job, &fault);
}

static void do_get(struct job *job)
{
	struct files_at at = at_of(job);
	struct files_open_result file;
	AUTO_BUF struct buf content = BUF_INIT(LINE_MAX_BYTES);
	char chunk[4096];
	struct fault fault;
	ssize_t n;

	if (files_open(house, &at, -1, &file, &fault) < 0) {
		refuse(job, &fault);
		return;
	}
	while ((n = read(file.fd, chunk, sizeof(chunk))) > 0 &&
		buf_add(&content, chunk, (size_t)n) == 0)
		;
	(void)fd_close(file.fd);
	files_download_end(file.download);
	json_set_text(job->reply, "text", buf_get_slice(&content));
	json_set_count(job->reply, "size", file.size_bytes);
	json_set_cstr(job->reply, "mime", file.mime);
}

static void do_ls(struct job *job)
{
	struct files_at at = at_of(job);
	struct files_page page;
	struct json *list;
	struct fault fault;

	if (files_list(house, &at, (size_t)number_of(job, "limit", 1000), &page, &fault) < 0) {
		refuse(job, &fault);
		return;
	}
	list = json_set_array(job->reply, "files");
	for (size_t i = 0; i < page.n; i++) {
		struct json *entry = json_add_object(list);

		json_set_text(entry, "path", page.entries[i].path);
		json_set_count(entry, "size", page.entries[i].size_bytes);
		json_set_cstr(entry, "mime", page.entries[i].mime);
	}
	json_set_bool(job->reply, "has_more", page.has_more);
	files_page_fini(&page);
}

static void do_rm(struct job *job)
{
	struct files_at at = at_of(job);
	struct fault fault;

	if (files_remove(house, &at, &fault) < 0)
		refuse(job, &fault);
}

static void do_close(struct job *job)
{
	struct fault fault;

	if (house_close(house, tenant_of(job), text_of(job, "key"), &fault) < 0)
		refuse(job, &fault);
}

static void do_stop(struct job *job)
{
	struct fault fault;

	if (house_stop(house, tenant_of(job), text_of(job, "key"), &fault) < 0)
		refuse(job, &fault);
}

static void do_cancel(struct job *job)
{
	struct fault fault;

	if (house_cancel(house, text_of(job, "tenant"), text_of(job, "run_id"), &fault) < 0)
		refuse(job, &fault);
}

static void do_look(struct job *job)
{
	struct house_session_info info;
	struct fault fault;

	if (house_look(house, tenant_of(job), text_of(job, "key"), &info, &fault) < 0) {
		refuse(job, &fault);
		return;
	}
	json_set_cstr(job->reply, "run_id", info.run_id);
	json_set_cstr(job->reply, "profile", info.profile);
	json_set_count(job->reply, "opened_ms_ago", info.opened_ms_ago);
	json_set_count(job->reply, "idle_ms", info.idle_ms);
	json_set_count(job->reply, "closes_in_ms", info.closes_in_ms);
	json_set_count(job->reply, "runs", info.runs);
	json_set_bool(job->reply, "is_kept", info.is_kept);
	json_set_bool(job->reply, "is_stopped", info.is_stopped);
	json_set_count(job->reply, "expires_in_ms", info.expires_in_ms);
	json_set_count(job->reply, "files", info.files);
	json_set_count(job->reply, "files_bytes", info.files_bytes);
	json_set_count(job->reply, "stored_bytes", info.stored_bytes);
}

static void do_list(struct job *job)
{
	struct house_session_info *infos;
	size_t n = house_list(house, text_of(job, "tenant"), &infos);
	struct json *list = json_set_array(job->reply, "sessions");

	for (size_t i = 0; i < n; i++)
		json_add_text(list, str_from(infos[i].key));
	free(infos);
}

static void do_gauges(struct job *job)
{
	struct house_gauges gauges;

	house_gauges(house, &gauges);
	json_set_integer(job->reply, "sessions", gauges.sessions);
	json_set_integer(job->reply, "runs", gauges.runs);
	json_set_integer(job->reply, "kept", gauges.kept);
	json_set_count(job->reply, "store_bytes", gauges.store_bytes);
	json_set_count(job->reply, "store_syncs", gauges.store_syncs);
	json_set_integer(job->reply, "waiting", gauges.waiting);
	json_set_integer(job->reply, "calls", gauges.calls);
	json_set_count(job->reply, "connections", gauges.connections);
	for (unsigned i = 0; i < COUNTER_MAX; i++)
		json_set_count(job->reply, counter_name((enum counter)i),
			counters_get(house_counters_get(house), (enum counter)i));
}

/* The canary, which the first that wants it starts; NULL if there is none and nobody wants it. */
static struct canary *canary_get_or(bool starts)
{
	struct canary *is;

	(void)pthread_mutex_lock(&jobs_mutex);
	if (!canary && starts)
		canary = canary_new(house_pool_get(house));
	is = canary;
	(void)pthread_mutex_unlock(&jobs_mutex);
	return is;
}

static void do_canary(struct job *job)
{
	struct canary_result last;

	json_set_bool(job->reply, "is_ready",
		canary_wait(canary_get_or(true), (uint64_t)number_of(job, "wait_ms", 0)));
	canary_get(canary_get_or(false), &last);
	json_set_bool(job->reply, "is_known", last.is_known);
	json_set_bool(job->reply, "is_ok", last.is_ok);
	json_set_cstr(job->reply, "text", last.fault.text);
	json_set_count(job->reply, "took_ms", last.took_ms);
}

static void do_drain(struct job *job)
{
	json_set_count(job->reply, "left",
		house_drain(house, (uint64_t)number_of(job, "grace_ms", 0),
			(uint64_t)number_of(job, "wait_ms", 5000)));
}

/* Starts a jaild and attaches it. */
static void do_start(struct job *job)
{
	const char *argv[] = { "cloche-jaild", "--socket-fd", "3", NULL };
	struct fault fault;
	pid_t pid;
	int pair[2];

	if (channel_pair(pair) < 0 || program_start(&(struct program_request){ .program = program,
							    .argv = argv,
							    .stdout_fd = -1,
							    .socket_fd = pair[1],
							    .has_own_session = true },
					      &pid) < 0)
		abort();
	jaild_pid = pid;
	(void)fd_close(pair[1]);
	if (house_attach(house, pair[0], &fault) < 0)
		refuse(job, &fault);
	if (canary_get_or(false))
		canary_wake(canary_get_or(false));
}

static void do_kill(struct job *job)
{
	(void)kill(jaild_pid, SIGKILL);
	(void)waitpid(jaild_pid, NULL, 0);
	/* jaild itself dies a moment after its launcher. */
	for (int i = 0; i < 500 && pool_generation(house_pool_get(house)) != 0; i++)
		(void)usleep(10000);
	json_set_bool(job->reply, "has_jaild", pool_generation(house_pool_get(house)) != 0);
}

static const struct {
	const char *name;
	void (*work)(struct job *job);
} verbs[] = {
	{ "run", do_run },
	{ "put", do_put },
	{ "import", do_import },
	{ "get", do_get },
	{ "ls", do_ls },
	{ "rm", do_rm },
	{ "close", do_close },
	{ "stop", do_stop },
	{ "cancel", do_cancel },
	{ "look", do_look },
	{ "list", do_list },
	{ "gauges", do_gauges },
	{ "canary", do_canary },
	{ "drain", do_drain },
	{ "start", do_start },
	{ "kill", do_kill },
};

static void jobs_add(int n)
{
	(void)pthread_mutex_lock(&jobs_mutex);
	jobs += (unsigned)n;
	(void)pthread_cond_broadcast(&jobs_changed);
	(void)pthread_mutex_unlock(&jobs_mutex);
}

static void jobs_wait(void)
{
	(void)pthread_mutex_lock(&jobs_mutex);
	while (jobs > 0)
		(void)pthread_cond_wait(&jobs_changed, &jobs_mutex);
	(void)pthread_mutex_unlock(&jobs_mutex);
}

static void *job_main(void *argument)
{
	struct job *job = argument;
	struct str verb = slice_of(job->request, "do");

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (str_eq(verb, str_from(verbs[i].name)))
			verbs[i].work(job);
	print(job->reply);
	json_free(job->request);
	json_free(job->reply);
	for (size_t i = 0; i < job->n_texts; i++)
		free(job->texts[i]);
	free(job);
	jobs_add(-1);
	return NULL;
}

static void job_start(struct str line)
{
	struct job *job = xcalloc(1, sizeof(*job));
	pthread_t thread;
	struct fault fault;

	job->watch = (struct call_watch){ .on_queued = on_queued,
		.on_started = on_started,
		.on_output = on_output,
		.on_file = on_file };
	if (json_parse(line, &job->request, &fault) < 0)
		abort();
	job->reply = json_object_new();
	job->id = number_of(job, "id", 0);
	json_set_integer(job->reply, "id", job->id);
	jobs_add(1);
	if (pthread_create(&thread, NULL, job_main, job) != 0)
		abort();
	(void)pthread_detach(thread);
}

static void configure(struct house_config *config, struct str argument)
{
	struct str name, value;
	uint64_t number = 0;

	(void)str_split_once(argument, '=', &name, &value);
	if (str_eq(name, STR("jaild"))) {
		program = value.p;
		return;
	}
	if (str_eq(name, STR("store"))) {
		store_path = value.p;
		return;
	}
	if (str_to_u64(value, UINT32_MAX, &number) < 0)
		abort();
	if (str_eq(name, STR("max_sessions")))
		config->max_sessions = (unsigned)number;
	else if (str_eq(name, STR("session_idle_ms")))
		config->session_idle_ms = number;
	else if (str_eq(name, STR("session_max_ms")))
		config->session_max_ms = number;
	else if (str_eq(name, STR("queue_wait_ms")))
		config->queue_wait_ms = number;
	else if (str_eq(name, STR("kept_idle_ms")))
		config->kept_idle_ms = number;
	else if (str_eq(name, STR("kept_unused_ms")))
		config->kept_unused_ms = number;
	else if (str_eq(name, STR("kept_max")))
		config->kept_max = (unsigned)number;
	else if (str_eq(name, STR("store_max_bytes")))
		store_max_bytes = number;
	else if (str_eq(name, STR("queue_max")))
		config->queue_max = (unsigned)number;
	else
		abort();
}

/* The secret of tests is no secret. */
static void store_take(void)
{
	const struct key secret = { .bytes = "for tests" };
	struct store *store = NULL;
	int r;

	if (!store_path)
		return;
	r = store_open(open(store_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), &secret,
		store_max_bytes, &store);
	if (r == 0)
		r = house_keep(house, store, NULL);
	if (r < 0)
		abort();
}

int main(int argc, char **argv)
{
	struct house_config config = HOUSE_CONFIG_DEFAULT;
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	for (int i = 1; i < argc; i++)
		configure(&config, str_from(argv[i]));
	(void)signal(SIGPIPE, SIG_IGN);
	house = house_new(&config);
	store_take();
	while ((n = getline(&line, &size, stdin)) > 0)
		job_start((struct str){ .p = line, .n = (size_t)n });
	free(line);
	(void)house_drain(house, 0, 5000);
	jobs_wait();
	canary_free(canary);
	house_free(house);
	(void)waitpid(jaild_pid, NULL, 0);
	return 0;
}
