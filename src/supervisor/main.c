/*
 * cloche-supervisor: the HTTP service over jails. It is started by `cloche up`, which gives it all
 * that it works with as descriptors; the first thing it does is to give up everything else.
 *
 * Threads: this one talks to `up` (control.c); the http module has one for each request, in which
 * a handler (api_*.c) is straight-line code; the house has one for what is idle or old, and the
 * canary has one.
 */
#include "base/clock.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/str.h"
#include "crypt/key.h"
#include "house/canary.h"
#include "house/house.h"
#include "http/gate.h"
#include "store/store.h"
#include "supervisor/caller.h"
#include "supervisor/claim.h"
#include "supervisor/control.h"
#include "supervisor/lock/lock.h"
#include "supervisor/options.h"
#include "supervisor/supervisor.h"
#include "wire/control.h"
#include "wire/descriptors.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

/* The order to end comes with 5 s: three are the runs' (decision 28), one is for their ends. */
#define DRAIN_MS	3000
#define DRAIN_WAIT_MS	900
#define ANSWERS_WAIT_MS 400

/* Descriptors: of connections that wait or linger, one each. A request that is served has two of
 * its connection (ours and the library's), four ends of its run's pipes, its package, stdin,
 * report, a word with jaild, what wakes it, and one of a file or a listing; two are to spare
 * (tests/api/test_flat.py counts). Where the hard limit is lower, fewer connections may wait: what
 * is served comes first. */
#define DESCRIPTORS_MAX	       4096
#define DESCRIPTORS_OF_REQUEST 14
#define DESCRIPTORS_SERVED     (GATE_LINGER_MAX + HTTP_SERVED_MAX * DESCRIPTORS_OF_REQUEST)
#define DESCRIPTORS_OTHERS     64 /* listeners, logs, the store, connections to jaild that wait */
#define WAITING_MIN	       64

_Static_assert(DESCRIPTORS_SERVED + HTTP_WAITING_MAX + DESCRIPTORS_OTHERS <= DESCRIPTORS_MAX,
	"all that may be open at once can be");
/* Bytes from which on memory goes back to the kernel when it is freed: a request's body and its
 * values are not kept for later ones. */
#define HEAP_THRESHOLD (128 * 1024)

static struct supervisor supervisor;

/* Threads share two heaps, so that what a burst of them has used is used again by the next. Returns
 * how many descriptors there may be. */
static rlim_t resources_set(void)
{
	struct rlimit limit;

	(void)mallopt(M_ARENA_MAX, 2);
	(void)mallopt(M_MMAP_THRESHOLD, HEAP_THRESHOLD);
	(void)mallopt(M_TRIM_THRESHOLD, HEAP_THRESHOLD);
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 0;
	if (limit.rlim_cur < DESCRIPTORS_MAX) {
		limit.rlim_cur = MIN(limit.rlim_max, (rlim_t)DESCRIPTORS_MAX);
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (limit.rlim_cur < DESCRIPTORS_MAX)
		log_warning("msg=\"few descriptors: raise the hard limit (ulimit -Hn)\" now=%llu "
			    "wanted=%d",
			(unsigned long long)limit.rlim_cur, DESCRIPTORS_MAX);
	return limit.rlim_cur;
}

/* jaild has the same hard limit as we, and takes all of it. With too few it refuses the sessions
 * that do not fit: whoever set the number hears of it now, and not only then. */
static void sessions_compare(const struct settings *settings)
{
	uint64_t wanted = WIRE_OTHER_DESCRIPTORS +
			  WIRE_SESSION_DESCRIPTORS * (uint64_t)settings->max_sessions;
	struct rlimit limit;
	rlim_t left;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_max >= wanted)
		return;
	left = limit.rlim_max - MIN(limit.rlim_max, (rlim_t)WIRE_OTHER_DESCRIPTORS);
	log_warning(
		"msg=\"descriptors for fewer sessions than max_sessions: lower it, or raise the "
		"hard limit (ulimit -Hn, LimitNOFILE=)\" max_sessions=%llu fit=%llu now=%llu "
		"wanted=%llu",
		(unsigned long long)settings->max_sessions,
		(unsigned long long)MAX(left / WIRE_SESSION_DESCRIPTORS, (rlim_t)1),
		(unsigned long long)limit.rlim_max, (unsigned long long)wanted);
}

static struct http_limits limits_make(rlim_t descriptors)
{
	struct http_limits limits = HTTP_LIMITS_DEFAULT;
	rlim_t left = descriptors > DESCRIPTORS_SERVED ? descriptors - DESCRIPTORS_SERVED : 0;

	limits.waiting_max =
		(unsigned)MIN((rlim_t)limits.waiting_max, MAX(left, (rlim_t)WAITING_MIN));
	return limits;
}

static int signals_take(int *ret_fd)
{
	sigset_t set;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	*ret_fd = signalfd(-1, &set, SFD_CLOEXEC);
	return *ret_fd < 0 ? -errno : 0;
}

/* The profile's name as the house keeps it: settings live as long as we do. */
static struct house *house_make(const struct settings *settings)
{
	const struct house_config config = { .max_sessions = (unsigned)settings->max_sessions,
		.session_idle_ms = settings->session_idle_s * 1000,
		.session_max_ms = settings->session_max_s * 1000,
		.queue_wait_ms = settings->queue_wait_s * 1000,
		.queue_max = (unsigned)settings->queue_max,
		.kept_idle_ms = settings->kept_idle_s * 1000,
		.kept_unused_ms = settings->kept_unused_s * 1000,
		.kept_max = (unsigned)settings->kept_max,
		.profile = settings->profile };

	return house_new(&config);
}

/* Gives the house its store. One that cannot be used is no reason not to serve: what needs it is
 * told so. */
static int store_take(const struct options *options)
{
	struct store *store = NULL;
	const char *trouble = NULL;
	struct key secret;
	int r;

	if (options->store_fd < 0)
		return house_keep(supervisor.house, NULL, NULL);
	r = pread(options->secret_fd, secret.bytes, KEY_SIZE, 0) == KEY_SIZE ? 0 : -EKEYREJECTED;
	if (r == 0)
		r = store_open(
			options->store_fd, &secret, supervisor.settings.store_max_bytes, &store);
	key_wipe(&secret);
	(void)fd_close(options->secret_fd);
	if (r == -EKEYREJECTED)
		trouble = "the folder store belongs to another secret.key";
	else if (r < 0)
		trouble = "the folder store cannot be used";
	if (r == 0)
		r = house_keep(supervisor.house, store, NULL);
	else
		(void)house_keep(supervisor.house, NULL, trouble);
	if (r < 0)
		log_error("msg=\"no sessions are kept\" cause=%s error=%s", LOG_VALUE(trouble),
			LOG_VALUE(strerror(-r)));
	return 0;
}

static int serve(const struct options *options, int signal_fd)
{
	int control_fd = options->control_fd;
	int listeners[CONTROL_LISTENERS_MAX];
	int n, r;

	supervisor.house = house_make(&supervisor.settings);
	(void)store_take(options);
	n = control_begin(&supervisor, control_fd, listeners);
	if (n < 0)
		return n;
	supervisor.canary = canary_new(house_pool_get(supervisor.house));
	supervisor.http.routes = routes_get(&supervisor.http.n_routes);
	supervisor.http.admit = caller_admit;
	supervisor.http.no_route_advice =
		"GET /openapi.yaml has the paths; those of sessions begin with /v1/sessions.";
	supervisor.http.release = claim_release;
	supervisor.http.take_body = claim_body;
	supervisor.http.note_size = sizeof(struct note);
	(void)pthread_mutex_lock(&supervisor.starting);
	r = http_server_start(&supervisor.http, listeners, (size_t)n, &supervisor.server);
	(void)pthread_mutex_unlock(&supervisor.starting);
	return r < 0 ? r : control_serve(&supervisor, control_fd, signal_fd);
}

/* Waits a moment for answers that are made but not sent. */
static void answers_await(void)
{
	const struct timespec pause = { .tv_nsec = 5 * 1000 * 1000 };
	usec_t until_us = clock_now_us() + ANSWERS_WAIT_MS * USEC_PER_MS;
	struct http_stats stats;

	http_server_stats(supervisor.server, &stats);
	while (stats.served > 0 && clock_now_us() < until_us) {
		(void)nanosleep(&pause, NULL);
		http_server_stats(supervisor.server, &stats);
	}
}

/* Lets what is under way end. What does not is ended by the kernel with us. */
static void drain(void)
{
	size_t left;

	if (!supervisor.server)
		return;
	http_server_quiesce(supervisor.server);
	left = house_drain(supervisor.house, DRAIN_MS, DRAIN_WAIT_MS);
	log_info("msg=drained left=%zu", left);
	answers_await();
	if (left == 0)
		http_server_stop(supervisor.server);
}

int main(int argc, char **argv)
{
	struct shares_limits shares;
	struct options options;
	const char *what = NULL;
	int signal_fd = -1, r;

	if (options_parse(argc, argv, &options) < 0)
		return 2;
	(void)prctl(PR_SET_NAME, "cloche-supervis", 0, 0, 0);
	(void)log_level_parse(options.settings.log_level, &log_level);
	log_drop_when_full(); /* every request would wait for the reader of a log */
	supervisor.http.limits = limits_make(resources_set());
	sessions_compare(&options.settings);
	r = lock_in(&options, &what);
	if (r < 0) {
		log_error("msg=\"cannot lock itself in\" step=%s error=%s", what,
			LOG_VALUE(strerror(-r)));
		return 1;
	}
	supervisor.settings = options.settings;
	supervisor.settings.spares = MIN(options.settings.spares, options.settings.max_sessions);
	supervisor.starting = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	shares = shares_limits_for((unsigned)options.settings.max_sessions);
	shares_init(&supervisor.shares, &shares);
	keyring_init(&supervisor.keyring);
	audit_init(&supervisor.audit);
	r = signals_take(&signal_fd);
	if (r == 0)
		r = serve(&options, signal_fd);
	if (r == 0)
		drain();
	else
		log_error("msg=ending error=%s", LOG_VALUE(strerror(-r)));
	/* Threads may still be at work: no destructors. */
	_exit(r < 0);
}
