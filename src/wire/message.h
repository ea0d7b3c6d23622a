#pragma once

#include "wire/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a client (cloche run, the supervisor) and jaild say to each other over a SEQPACKET
 * socket: fixed structs, numbers and at most one bounded name in each. Every request but RUN_LOOK
 * has exactly one answer with the same seq, either its own kind of answer or WIRE_FAILED; a run has
 * one more message at its end. Both sides are of one build: a peer of another version is refused.
 */

#define WIRE_VERSION 1
/* Session keys: 1 to 128 characters, plus NUL. */
#define WIRE_KEY_SIZE 129
/* File paths: at most 4,096 bytes (PATH_MAX with its NUL), plus NUL. */
#define WIRE_PATH_SIZE 4097

enum wire_type {
	WIRE_NONE,
	/* client to jaild */
	WIRE_STATUS,
	WIRE_SESSION_OPEN,
	WIRE_SESSION_CLOSE,
	WIRE_RUN,
	WIRE_RUN_CANCEL,
	WIRE_FILE_OPEN,
	WIRE_FILE_CREATE,
	WIRE_FILE_COMMIT,
	WIRE_FILE_ABORT,
	WIRE_FILE_REMOVE,
	WIRE_LIST,
	WIRE_ATTACH,
	WIRE_MAKE,
	WIRE_LIVE,
	WIRE_SPARES,
	WIRE_RUN_LOOK,
	/* jaild to client */
	WIRE_FAILED,
	WIRE_DONE,
	WIRE_STATUS_IS,
	WIRE_SESSION_IS,
	WIRE_RUN_STARTED,
	WIRE_RUN_ENDED,
	WIRE_FILE_IS,
	WIRE_UPLOAD_IS,
	WIRE_LISTING_IS,
	WIRE_TYPE_MAX
};

struct wire_header {
	uint16_t type;
	uint16_t version;
	uint32_t seq;
};

/* STATUS: asks; STATUS_IS answers. */
enum wire_backend {
	WIRE_CGROUP_NONE,
	WIRE_CGROUP_V1,
	WIRE_CGROUP_V2
};

enum wire_protection {
	WIRE_PROTECT_MEMORY = 1,
	WIRE_PROTECT_PIDS = 2,
	WIRE_PROTECT_CPU = 4,
	WIRE_PROTECT_CGROUP_KILL = 8,
	WIRE_PROTECT_LANDLOCK = 16,
	WIRE_PROTECT_SECCOMP = 32,
	WIRE_PROTECT_NAMESPACES = 64,
	WIRE_PROTECT_ALL = 127
};

struct wire_status {
	struct wire_header header;
};

/* The interpreters that runs of one kind start from (jail/plan/zygote.h). */
enum wire_zygote_state {
	WIRE_ZYGOTE_OFF,
	WIRE_ZYGOTE_LOADING, /* none has served yet, and none has failed */
	WIRE_ZYGOTE_SERVES,
	WIRE_ZYGOTE_FAILED /* another one will be tried */
};

struct wire_zygote {
	uint32_t state;
	uint32_t generation; /* how many have served */
	uint64_t loaded;     /* rows of jail/plan/preload.def that the last one could import */
	uint64_t copies;     /* asked for, of all of them */
	uint64_t used;	     /* runs that started as one */
	uint64_t missed;     /* runs that could have, and were executed */
	uint64_t kills;	     /* by the kernel: they were over their memory */
	uint32_t hot_pages;  /* that copies of the last one have before their run */
	int32_t lesson;	     /* errno: why it has not learnt which, so that copies are slower */
	uint32_t stage;	     /* enum stage of the last failure */
	int32_t error;	     /* its errno */
};

/* Small, then data. */
#define WIRE_ZYGOTES 2

struct wire_status_is {
	struct wire_header header;
	uint32_t backend;
	uint32_t protections;
	uint32_t landlock_abi;
	uint32_t sessions;
	uint32_t cells;
	uint32_t spares;	/* spare sessions that are ready now */
	uint64_t spares_taken;	/* by a SESSION_OPEN */
	uint64_t spares_missed; /* SESSION_OPENs that found none, although spares are wanted */
	uint64_t spares_lost;	/* that went bad, or could not be built */
	struct wire_zygote zygotes[WIRE_ZYGOTES];
};

/* SPARES: from now on keep so many sessions with these limits ready, with a cell in each, for
 * SESSION_OPENs with the same limits; 0: none, as at the start. Answer: DONE, at once. */
#define WIRE_SPARES_MAX 64

struct wire_spares {
	struct wire_header header;
	uint32_t count; /* at most WIRE_SPARES_MAX */
	uint32_t reserved;
	struct wire_limits limits;
};

/* SESSION_OPEN: a new session under a key that is not in use (-EEXIST). Answer: SESSION_IS. */
struct wire_session_open {
	struct wire_header header;
	char key[WIRE_KEY_SIZE];
	uint8_t reserved[7];
	struct wire_limits limits;
};

struct wire_session_is {
	struct wire_header header;
	uint64_t session;
};

/* SESSION_CLOSE: kills what runs, frees the home. Answer: DONE once nothing is left. */
struct wire_session_close {
	struct wire_header header;
	uint64_t session;
};

/* RUN: descriptors package (sealed memfd), stdin, stdout, stderr, report (memfd). Answer:
 * RUN_STARTED once the interpreter has been executed, RUN_ENDED when nothing of it can run any
 * more. A set-up that failed answers FAILED with the stage and has no RUN_ENDED. -EBUSY while the
 * session has another run. */
enum wire_run_fd {
	WIRE_RUN_PACKAGE,
	WIRE_RUN_STDIN,
	WIRE_RUN_STDOUT,
	WIRE_RUN_STDERR,
	WIRE_RUN_REPORT,
	WIRE_RUN_FDS
};

/* What a run could start from: a guess that costs time only (decision 29). */
enum wire_warm {
	WIRE_WARM_NONE,	 /* its program is executed */
	WIRE_WARM_SMALL, /* a copy of an interpreter with the standard library, if there is one */
	WIRE_WARM_DATA,	 /* with numpy, pandas, matplotlib as well */
	WIRE_WARM_MAX
};

struct wire_run {
	struct wire_header header;
	uint64_t session;
	uint64_t wall_ms; /* 0: the session's own limit; never above it */
	uint32_t warm;	  /* enum wire_warm */
	uint32_t reserved;
};

/* LIVE: a call of the session's live interpreter, which is Python and is started when there is
 * none; descriptors and answers are those of RUN, but that stdin comes last or, where it is empty,
 * not at all, and that of a short call RUN_ENDED tells the start too, and no RUN_STARTED comes. In
 * between it stands still, frozen. RUN in such a session makes a cell of its own, as ever.
 * -EOPNOTSUPP without a v2 tree to freeze in. */
enum wire_live_fd {
	WIRE_LIVE_PACKAGE,
	WIRE_LIVE_STDOUT,
	WIRE_LIVE_STDERR,
	WIRE_LIVE_REPORT,
	WIRE_LIVE_STDIN
};

enum wire_live_flag {
	WIRE_LIVE_RESET = 1, /* a new interpreter in any case */
};

struct wire_live {
	struct wire_header header;
	uint64_t session;
	uint64_t wall_ms; /* as in RUN */
	uint32_t flags;	  /* enum wire_live_flag */
	uint32_t reserved;
};

/* Which interpreter a run is given. */
enum wire_interpreter {
	WIRE_INTERPRETER_OWN, /* RUN: its own */
	WIRE_INTERPRETER_NEW,
	WIRE_INTERPRETER_REUSED,
	WIRE_INTERPRETER_MAX
};

/* Why a session's live interpreter is gone. */
enum wire_lost {
	WIRE_LOST_NOTHING,
	WIRE_LOST_REQUEST, /* WIRE_LIVE_RESET */
	WIRE_LOST_TIMEOUT,
	WIRE_LOST_MEMORY,
	WIRE_LOST_CANCELLED,
	WIRE_LOST_CRASH, /* it ended by itself, was killed by its script, or could not be frozen */
	WIRE_LOST_MAX
};

struct wire_run_started {
	struct wire_header header;
	uint64_t run;
	uint64_t start_us;    /* from acceptance until the script's process has the run */
	uint64_t at_us;	      /* when that was, by CLOCK_MONOTONIC (base/clock.h) */
	uint32_t interpreter; /* enum wire_interpreter */
	uint32_t lost;	      /* enum wire_lost: of the one before a NEW one */
};

enum wire_end {
	WIRE_END_EXIT,
	WIRE_END_SIGNAL,
	WIRE_END_TIMEOUT,
	WIRE_END_MEMORY,
	WIRE_END_CANCELLED,
	WIRE_END_MAX
};

enum wire_advice {
	WIRE_ADVICE_PIDS = 1
};

struct wire_run_ended {
	struct wire_header header;
	uint64_t run;
	uint32_t end; /* enum wire_end */
	int32_t code; /* exit status, or the signal's number */
	uint64_t wall_us;
	uint64_t cpu_us;
	uint64_t memory_peak_bytes;
	uint32_t memory_peak_is_rss; /* 1: largest resident set of one process, not the cgroup's */
	uint32_t advice;	     /* enum wire_advice, as a set */
	uint16_t is_kept;	/* 1: the live interpreter stays, and holds the streams' ends */
	uint16_t is_home_empty; /* 1: a LIST would list nothing; 0: it might */
	uint32_t lost;		/* enum wire_lost: the live interpreter has gone since its start */
	/* What RUN_STARTED would have said of a LIVE that was over before it was told. */
	uint32_t interpreter; /* OWN: it has been told */
	uint32_t lost_before;
	uint64_t start_us;
	uint64_t at_us;
};

/* RUN_CANCEL: answer DONE at once, RUN_ENDED follows; -ESRCH for a run that is not there. */
struct wire_run_cancel {
	struct wire_header header;
	uint64_t run;
};

/* RUN_LOOK: both of the run's streams are at their end, so its script may be over already while the
 * kernel frees its memory. If that is so, RUN_ENDED comes at once; if it is not, it comes at the
 * end as ever. No answer of its own, also for a run that is not there. */
struct wire_run_look {
	struct wire_header header;
	uint64_t run;
};

/* FILE_OPEN, FILE_CREATE, FILE_REMOVE name a path below the home; it is given to openat2 as it is.
 * FILE_OPEN answers FILE_IS with a read-only descriptor of a regular file. FILE_CREATE answers
 * UPLOAD_IS with a write-only descriptor of a file that has no name yet; FILE_COMMIT gives it its
 * name, replacing what stood there; FILE_ABORT or the end of the connection drops it. */
struct wire_file {
	struct wire_header header;
	uint64_t session;
	uint32_t mode; /* FILE_CREATE: permission bits; else 0 */
	uint32_t reserved;
	char path[WIRE_PATH_SIZE];
	uint8_t padding[7];
};

struct wire_file_is {
	struct wire_header header;
	uint64_t size_bytes;
	int64_t mtime_ns;
	uint64_t inode;
};

struct wire_upload {
	struct wire_header header;
	uint64_t upload;
};

/* FILE_COMMIT: with its time where has_mtime is 1, else 0. */
struct wire_commit {
	struct wire_header header;
	uint64_t upload;
	int64_t mtime_ns;
	uint32_t has_mtime;
	uint32_t reserved;
};

/* MAKE: what is no file, for a home that is filled again. Folders on the way are made. A folder
 * that is there gets mode and time; a link and a further name of a file are refused (-EEXIST) where
 * something is. Answer: DONE. */
enum wire_make_kind {
	WIRE_MAKE_FOLDER,
	WIRE_MAKE_LINK, /* to the second name, which is text and not looked at */
	WIRE_MAKE_SAME, /* as the regular file that the second name is */
	WIRE_MAKE_KIND_MAX
};

struct wire_make {
	struct wire_header header;
	uint64_t session;
	int64_t mtime_ns; /* of a folder or link */
	uint32_t kind;
	uint32_t mode; /* of a folder: permission bits; else 0 */
	/* The path and NUL, then the second name (but for a folder), NUL to the end. */
	char names[WIRE_PATH_SIZE];
	uint8_t padding[7];
};

/* LIST: answer LISTING_IS with a sealed memfd of records (wire/listing.h). */
enum wire_list_flag {
	WIRE_LIST_HASH = 1,    /* hash the contents of regular files */
	WIRE_LIST_SETTLE = 2,  /* wait until a later change must show in the times */
	WIRE_LIST_TARGETS = 4, /* tell where links point to */
};

#define WIRE_HASH_KEY_SIZE 16

struct wire_list {
	struct wire_header header;
	uint64_t session;
	uint32_t flags;
	uint32_t reserved;
	uint8_t hash_key[WIRE_HASH_KEY_SIZE]; /* extent/extent.h; any, as the client needs it */
};

struct wire_listing_is {
	struct wire_header header;
	uint32_t entries;
	uint32_t is_truncated; /* enum listing_cut, as a set */
	uint64_t size_bytes;
};

/* ATTACH: the descriptor is a SEQPACKET socket and becomes another client of this jaild, for
 * another thread of the same program. What a client has under way (runs, uploads) ends with its
 * connection; sessions belong to all. When the first connection ends, so does jaild. */
struct wire_attach {
	struct wire_header header;
};

struct wire_failed {
	struct wire_header header;
	int32_t error;	/* a positive errno */
	uint32_t stage; /* enum stage; STAGE_NONE when the request itself was refused */
};

struct wire_done {
	struct wire_header header;
};

union wire_any {
	struct wire_header header;
	struct wire_status status;
	struct wire_status_is status_is;
	struct wire_session_open session_open;
	struct wire_session_is session_is;
	struct wire_session_close session_close;
	struct wire_run run;
	struct wire_live live;
	struct wire_run_started run_started;
	struct wire_run_ended run_ended;
	struct wire_run_cancel run_cancel;
	struct wire_run_look run_look;
	struct wire_file file;
	struct wire_file_is file_is;
	struct wire_upload upload;
	struct wire_commit commit;
	struct wire_make make;
	struct wire_list list;
	struct wire_attach attach;
	struct wire_spares spares;
	struct wire_listing_is listing_is;
	struct wire_failed failed;
	struct wire_done done;
};

/* Checks the form of a message received with n_fds descriptors: known type, exact size and number
 * of descriptors, version, NUL-terminated names, zero reserved fields. Returns 0 or -EBADMSG. What
 * the numbers mean is for the handler to check. */
int wire_check(const union wire_any *message, size_t size, size_t n_fds);

/* The exact size of a message of this type, 0 for an unknown one; its name for logs. */
size_t wire_size(unsigned type);
const char *wire_name(unsigned type);

/* True for the types that a client may send. */
bool wire_is_request(unsigned type);
