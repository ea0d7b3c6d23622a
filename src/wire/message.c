#include "wire/message.h"

#include "base/macro.h"

#include <errno.h>
#include <string.h>

/*
 * The table of OpenSSH's monitor: a message is only looked at after its size, its descriptors and
 * its fixed fields have been found to be exactly those of its type.
 */

struct form {
	const char *name;
	size_t size;
	size_t n_fds;
};

static const struct form forms[WIRE_TYPE_MAX] = {
	[WIRE_STATUS] = { "status", sizeof(struct wire_status), 0 },
	[WIRE_SESSION_OPEN] = { "session_open", sizeof(struct wire_session_open), 0 },
	[WIRE_SESSION_CLOSE] = { "session_close", sizeof(struct wire_session_close), 0 },
	[WIRE_RUN] = { "run", sizeof(struct wire_run), WIRE_RUN_FDS },
	[WIRE_RUN_CANCEL] = { "run_cancel", sizeof(struct wire_run_cancel), 0 },
	[WIRE_RUN_LOOK] = { "run_look", sizeof(struct wire_run_look), 0 },
	[WIRE_FILE_OPEN] = { "file_open", sizeof(struct wire_file), 0 },
	[WIRE_FILE_CREATE] = { "file_create", sizeof(struct wire_file), 0 },
	[WIRE_FILE_COMMIT] = { "file_commit", sizeof(struct wire_commit), 0 },
	[WIRE_FILE_ABORT] = { "file_abort", sizeof(struct wire_upload), 0 },
	[WIRE_FILE_REMOVE] = { "file_remove", sizeof(struct wire_file), 0 },
	[WIRE_LIST] = { "list", sizeof(struct wire_list), 0 },
	[WIRE_ATTACH] = { "attach", sizeof(struct wire_attach), 1 },
	[WIRE_MAKE] = { "make", sizeof(struct wire_make), 0 },
	[WIRE_LIVE] = { "live", sizeof(struct wire_live), WIRE_RUN_FDS },
	[WIRE_SPARES] = { "spares", sizeof(struct wire_spares), 0 },
	[WIRE_FAILED] = { "failed", sizeof(struct wire_failed), 0 },
	[WIRE_DONE] = { "done", sizeof(struct wire_done), 0 },
	[WIRE_STATUS_IS] = { "status_is", sizeof(struct wire_status_is), 0 },
	[WIRE_SESSION_IS] = { "session_is", sizeof(struct wire_session_is), 0 },
	[WIRE_RUN_STARTED] = { "run_started", sizeof(struct wire_run_started), 0 },
	[WIRE_RUN_ENDED] = { "run_ended", sizeof(struct wire_run_ended), 0 },
	[WIRE_FILE_IS] = { "file_is", sizeof(struct wire_file_is), 1 },
	[WIRE_UPLOAD_IS] = { "upload_is", sizeof(struct wire_upload), 1 },
	[WIRE_LISTING_IS] = { "listing_is", sizeof(struct wire_listing_is), 1 },
};

size_t wire_size(unsigned type)
{
	return type < ARRAY_SIZE(forms) ? forms[type].size : 0;
}

const char *wire_name(unsigned type)
{
	return wire_size(type) > 0 ? forms[type].name : "unknown";
}

bool wire_is_request(unsigned type)
{
	return type >= WIRE_STATUS && type <= WIRE_RUN_LOOK;
}

static bool is_zero(const void *data, size_t size)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < size; i++) {
		if (p[i] != 0)
			return false;
	}
	return true;
}

/* A name in an array of `size`: ended by NUL, and nothing but NUL behind its end. */
static int name_check(const char *name, size_t size)
{
	size_t n = strnlen(name, size);

	return n < size && is_zero(name + n, size - n) ? 0 : -EBADMSG;
}

static int file_check(const struct wire_file *file)
{
	if (!is_zero(&file->reserved, sizeof(file->reserved)) ||
		!is_zero(file->padding, sizeof(file->padding)))
		return -EBADMSG;
	return name_check(file->path, sizeof(file->path));
}

/* One name or two in an array, each with its NUL, and nothing behind the last. */
static int make_check(const struct wire_make *make)
{
	size_t size = sizeof(make->names), first = strnlen(make->names, size);

	if (make->kind >= WIRE_MAKE_KIND_MAX || first + 1 >= size ||
		!is_zero(make->padding, sizeof(make->padding)))
		return -EBADMSG;
	if (make->kind != WIRE_MAKE_FOLDER && make->mode != 0)
		return -EBADMSG;
	if ((make->kind == WIRE_MAKE_FOLDER) != (make->names[first + 1] == '\0'))
		return -EBADMSG;
	return name_check(make->names + first + 1, size - first - 1);
}

static int commit_check(const struct wire_commit *commit)
{
	if (commit->has_mtime > 1 || commit->reserved != 0)
		return -EBADMSG;
	return commit->has_mtime || commit->mtime_ns == 0 ? 0 : -EBADMSG;
}

static int session_open_check(const struct wire_session_open *open)
{
	if (!is_zero(open->reserved, sizeof(open->reserved)))
		return -EBADMSG;
	return name_check(open->key, sizeof(open->key));
}

int wire_check(const union wire_any *message, size_t size, size_t n_fds)
{
	unsigned type;

	if (size < sizeof(struct wire_header))
		return -EBADMSG;
	type = message->header.type;
	if (wire_size(type) != size || message->header.version != WIRE_VERSION)
		return -EBADMSG;
	if (forms[type].n_fds != n_fds && !(type == WIRE_LIVE && n_fds == WIRE_LIVE_STDIN))
		return -EBADMSG;
	switch (type) {
	case WIRE_SESSION_OPEN:
		return session_open_check(&message->session_open);
	case WIRE_FILE_OPEN:
	case WIRE_FILE_CREATE:
	case WIRE_FILE_REMOVE:
		return file_check(&message->file);
	case WIRE_MAKE:
		return make_check(&message->make);
	case WIRE_FILE_COMMIT:
		return commit_check(&message->commit);
	case WIRE_RUN:
		return message->run.warm < WIRE_WARM_MAX && message->run.reserved == 0 ? 0
										       : -EBADMSG;
	case WIRE_LIST:
		return message->list.reserved == 0 ? 0 : -EBADMSG;
	case WIRE_LIVE:
		return message->live.reserved == 0 ? 0 : -EBADMSG;
	case WIRE_SPARES:
		return message->spares.reserved == 0 ? 0 : -EBADMSG;
	default:
		return 0;
	}
}
