/* A table, so that each error that jaild can answer with has one meaning for every client. */
#include "jail/client/refusal.h"

#include "base/fault.h"
#include "base/macro.h"
#include "wire/message.h"
#include "wire/stage.h"

#include <errno.h>
#include <string.h>

#define ERRNO_MAX 4095 /* the kernel's own bound, include/linux/err.h */

struct row {
	int error;
	enum fault_code code;
	const char *text;
};

static const struct row rows[] = {
	{ EBUSY, FAULT_SESSION_BUSY, "the session has a run in progress" },
	{ EEXIST, FAULT_SESSION_BUSY, "the session is open already" },
	{ ESRCH, FAULT_RUN_FINISHED, "the run has ended" },
	{ ENOENT, FAULT_NOT_FOUND, "there is no such file or session" },
	{ ENOTDIR, FAULT_NOT_FOUND, "a part of the path is no folder" },
	{ EISDIR, FAULT_NOT_FOUND, "the path names a folder" },
	{ ELOOP, FAULT_NOT_FOUND, "the path leads through a link" },
	{ EXDEV, FAULT_NOT_FOUND, "the path leads out of the session" },
	{ EINVAL, FAULT_NOT_FOUND,
		"the path names no regular file, or has a part that is empty, \".\" or \"..\"" },
	{ ERANGE, FAULT_BAD_REQUEST, "a key or a number is outside of its range" },
	{ ENXIO, FAULT_NOT_FOUND, "the path names no regular file" },
	{ ENAMETOOLONG, FAULT_BAD_REQUEST, "the path is too long" },
	{ ENOSPC, FAULT_HOME_FULL, "the session's home is full" },
	{ EDQUOT, FAULT_HOME_FULL, "the session's home is full" },
	{ EFBIG, FAULT_HOME_FULL, "the file is larger than the session may hold" },
	{ EAGAIN, FAULT_SANDBOX_BUSY, "jaild has no free place" },
	{ EOPNOTSUPP, FAULT_INVALID_FIELD,
		"state: live needs the v2 tree of control groups, to freeze in; this host has "
		"none" },
	{ EMFILE, FAULT_SANDBOX_BUSY, "jaild has no free place" },
	{ ENFILE, FAULT_SANDBOX_BUSY,
		"jaild has no free place: its hard limit of open descriptors (ulimit -Hn, "
		"LimitNOFILE=) allows no more sessions" },
};

int refusal_take(const struct wire_failed *failed, struct fault *ret_fault)
{
	int error = failed->error > 0 && failed->error <= ERRNO_MAX ? failed->error : EPROTO;

	if (failed->stage != STAGE_NONE) {
		fault_set_stage(ret_fault, stage_name(failed->stage),
			"the jail could not be made: %s: %s", stage_name(failed->stage),
			strerror(error));
		return -error;
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].error == error) {
			fault_set(ret_fault, rows[i].code, "%s", rows[i].text);
			return -error;
		}
	fault_set(ret_fault, FAULT_SANDBOX_UNAVAILABLE, "jaild refused: %s", strerror(error));
	return -error;
}
