#pragma once

#include "base/buf.h"
#include "jail/client/jaild.h"
#include "sandbox/output.h"
#include "wire/package.h"
#include "wire/report.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * One run over a connection to jaild, from the request to the whole end: RUN_ENDED has come and
 * both pipes are drained. Start it, then wait until it is over.
 */

#define RUN_STDIN_MAX (1024u * 1024) /* bytes: input, not a way to bring files in */

/* How long a run may take beyond its wall limit before jaild is taken for stuck: it kills, waits
 * for an empty cgroup, and only then tells. */
#define RUN_GRACE_MS 30000

enum run_stream {
	RUN_STDOUT,
	RUN_STDERR,
	RUN_STREAM_MAX
};

enum run_state {
	RUN_IDLE,
	RUN_STARTING,
	RUN_RUNNING,
	RUN_ENDED,
	RUN_FAILED
};

struct run;

/* A chunk of a stream as it came: bytes, perhaps half a character at its ends. Below 0: the reader
 * behind it is gone, and the script's next write there fails with EPIPE, as it would unjailed. */
typedef int run_on_chunk(struct run *run, enum run_stream stream, struct str chunk);

/* The script is running: run->started is there. */
typedef void run_on_started(struct run *run);

struct run_request {
	uint64_t session;
	uint64_t wall_ms;  /* 0: the session's limit, which limit_ms tells */
	uint64_t limit_ms; /* the session's wall limit */
	const struct package *package;
	struct str stdin_bytes; /* .p NULL: /dev/null */
	bool is_live;		/* a call of the session's live interpreter */
	bool is_reset;		/* of a new one in any case */
	run_on_chunk *on_chunk; /* NULL: nobody looks on */
	run_on_started *on_started;
};

/* Embedded in its owner; container_of gives the owner back in on_chunk. */
struct run {
	struct jaild *jaild;
	struct jaild_watch watch;
	enum run_state state;
	bool is_watched_end;	  /* its streams' end tells that it may be over */
	bool has_looked;	  /* jaild was asked to look */
	bool is_cancelled;	  /* asked for, perhaps before there was anything to cancel */
	int fds[RUN_STREAM_MAX];  /* our ends; -1 once at the end */
	int held[RUN_STREAM_MAX]; /* the script's ends, until jaild has told the end; or -1 */
	int report_fd;
	int hangup_fd; /* wakes run_wait as well, when it hangs up; the owner's, -1: none */
	uint64_t deadline_us;
	run_on_chunk *on_chunk;
	run_on_started *on_started;
	struct output output[RUN_STREAM_MAX];
	struct wire_run_started started;
	struct wire_run_ended ended;
	struct buf report_bytes;
	struct report report; /* slices of report_bytes, filled at the end */
	struct fault fault;   /* why it failed */
};

/* An empty run that run_fini takes. */
void run_init(struct run *run);

/* Asks for the run. Returns 0, or -errno with run->fault: then nothing runs. The request may go. */
int run_start(struct run *run, struct jaild *jaild, const struct run_request *request);

/* Waits for the end, draining. wake_fd (-1: none) is one that becomes readable when the caller
 * wants attention. Returns 0 at the end, RUN_WOKEN, or -errno with run->fault: no jail, or no jaild
 * any more. */
enum run_wait_result {
	RUN_OVER,
	RUN_WOKEN
};
int run_wait(struct run *run, int wake_fd);

/* From acceptance to the script's first instruction, in us, of a run that is over. Only the
 * script's process can tell when that was, and it may lie: what it says is put between acceptance
 * and the run's end. Where it has said nothing (bash; a script that never began) it is when the
 * process had the run. */
uint64_t run_start_us(const struct run *run);

/* Ends the script; run_wait still has to see the end. Before the start it is remembered. */
void run_cancel(struct run *run);

/* Frees what the run holds; one that has not ended is left to jaild, which ends it with its session
 * or connection. */
void run_fini(struct run *run);
