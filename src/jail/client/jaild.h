#pragma once

#include "base/fault.h"
#include "wire/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * The client's end of one connection to jaild: typed calls of wire/message.h. One thread at a time.
 *
 * Every call returns 0 or -errno, and on an error leaves in jaild->fault what a person or a program
 * may be told. -ECONNRESET means that the connection is gone or out of step: nothing more will come
 * of it, every later call fails alike. Any other error is an answer to this one request.
 */

/* How long jaild may take for an answer. The slowest is a listing with hashes of a full home, and
 * the walker of that is given a second; the rest is for a machine that is busy elsewhere. */
#define JAILD_ANSWER_MS 30000

/* How long it may take to go once the connection is closed: it kills, waits, and removes cgroups.
 */
#define JAILD_STOP_MS 10000

struct jaild_watch;

/* A message for a request that was not waited for, or NULL once the connection is lost: then the
 * watch is already off the list. */
typedef void jaild_on_message(struct jaild_watch *watch, const union wire_any *message);

/* Embedded in its owner; container_of gives the owner back. On the list from jaild_run until
 * jaild_unwatch. */
struct jaild_watch {
	struct jaild_watch *next;
	jaild_on_message *on_message;
	uint32_t seq;
};

struct jaild {
	int fd;	   /* -1 once the connection is lost */
	int pidfd; /* of the launcher; -1 if this end did not start it */
	pid_t pid;
	uint32_t seq; /* of the last request */
	struct jaild_watch *watches;
	struct fault fault;
};

/* A file on its way into a home: see jaild_file_create. */
struct jaild_upload {
	uint64_t id;
	int fd; /* for writing; the holder closes it */
};

#define JAILD_INIT                                                                                 \
	{                                                                                          \
		.fd = -1, .pidfd = -1                                                              \
	}

struct jaild_options {
	const char *program;	/* NULL: beside our own program, or in ../libexec/cloche */
	const char *rootfs;	/* NULL: the host's own /usr */
	const char *fail_stage; /* NULL: none; only builds for fault injection know the option */
	bool is_host_unlimited; /* go on without a cgroup limit: the person accepts it */
};

/* Starts a jaild of our own and waits until it is ready. Its stderr is ours: remedies are printed
 * by the launcher. End it with jaild_stop, also after an error. */
int jaild_start(struct jaild *jaild, const struct jaild_options *options);

/* Speaks to a jaild that is ready over fd, which it takes over. Cannot fail. */
void jaild_attach(struct jaild *jaild, int fd);

/* Another connection to the same jaild, for another thread. It ends with jaild_stop. Returns 0, or
 * -errno with jaild->fault. */
int jaild_another(struct jaild *jaild, struct jaild *ret_another);

/* Waits for the word that jaild is ready, as jaild_start does. */
int jaild_wait_ready(struct jaild *jaild);

/* Closes the connection and, where jaild_start started it, waits until jaild and all it held are
 * gone. Fine on JAILD_INIT and on one whose start failed. */
void jaild_stop(struct jaild *jaild);

/* Finds a program of ours: beside the running one (a build folder), or in ../libexec/cloche (an
 * installed tree). Returns 0 or -ENOENT. */
int jaild_find_program(const char *name, char *ret_path, size_t size);

int jaild_status(struct jaild *jaild, struct wire_status_is *ret_status);

/* Keep so many sessions with these limits ready from now on; -EINVAL above WIRE_SPARES_MAX. */
int jaild_spares(struct jaild *jaild, uint32_t count, const struct wire_limits *limits);

/* Opens a session under key; -EEXIST if the key is in use. */
int jaild_session_open(struct jaild *jaild, const char *key, const struct wire_limits *limits,
	uint64_t *ret_session);
int jaild_session_close(struct jaild *jaild, uint64_t session);

/* Asks for a run and does not wait: watch->on_message gets RUN_STARTED and RUN_ENDED, or FAILED, or
 * NULL. fds stay the caller's. Of run the header is not looked at. */
int jaild_run(struct jaild *jaild, struct jaild_watch *watch, const struct wire_run *run,
	const int fds[WIRE_RUN_FDS]);

/* The same for a call of the session's live interpreter; flags of enum wire_live_flag. After a
 * RUN_ENDED with is_kept the streams' other ends are still held. */
int jaild_live(struct jaild *jaild, struct jaild_watch *watch, const struct wire_live *request,
	const int fds[WIRE_RUN_FDS]);

/* Takes a watch off the list; fine if it is not on it. */
void jaild_unwatch(struct jaild *jaild, struct jaild_watch *watch);

/* Ends a run; RUN_ENDED still comes to its watch. -ESRCH if it has ended. */
int jaild_run_cancel(struct jaild *jaild, uint64_t run);

/* Has jaild look whether the run is over, now that both its streams are at their end; nothing is
 * waited for: RUN_ENDED comes to its watch, at once or later. */
int jaild_run_look(struct jaild *jaild, uint64_t run);

/* Reads one message, which must be there (poll jaild->fd), and hands it to its watch. */
int jaild_dispatch(struct jaild *jaild);

/* Opens a regular file of the session for reading; the caller closes *ret_fd. -ENOENT, -ELOOP,
 * -EINVAL and others of base/beneath.h. */
int jaild_file_open(struct jaild *jaild, uint64_t session, const char *path,
	struct wire_file_is *ret_file, int *ret_fd);

/* A file without a name yet, to be written through ret_upload->fd, then committed or aborted. mode
 * is permission bits. */
int jaild_file_create(struct jaild *jaild, uint64_t session, const char *path, mode_t mode,
	struct jaild_upload *ret_upload);
/* mtime_ns: since 1970, NULL: now. */
int jaild_file_commit(struct jaild *jaild, uint64_t upload, const int64_t *mtime_ns);
int jaild_file_abort(struct jaild *jaild, uint64_t upload);

/* Makes a folder (mode and time are set where it is there already), a link to text, or a further
 * name of the file that text names. -EEXIST where something else is; -ENAMETOOLONG when path and
 * text together are over JAILD_NAMES_MAX bytes. */
#define JAILD_NAMES_MAX (WIRE_PATH_SIZE - 3)
struct jaild_make {
	uint64_t session;
	enum wire_make_kind kind;
	const char *path;
	const char *text; /* NULL for a folder */
	uint32_t mode;	  /* of a folder: permission bits */
	int64_t mtime_ns;
};
int jaild_make(struct jaild *jaild, const struct jaild_make *make);
int jaild_file_remove(struct jaild *jaild, uint64_t session, const char *path);

/* The listing of the home as a sealed memfd (the caller closes *ret_fd); flags of enum
 * wire_list_flag. Read it with jail/files/snapshot.h. */
int jaild_list(struct jaild *jaild, const struct wire_list *request,
	struct wire_listing_is *ret_listing, int *ret_fd);
