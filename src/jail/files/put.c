#include "jail/files/put.h"

#include "base/fd.h"
#include "jail/files/copy.h"

#include <errno.h>
#include <string.h>

/* Says what went wrong while the bytes were on their way. */
static void copy_failed(struct jaild *jaild, int error)
{
	if (error == -ENOSPC || error == -EDQUOT || error == -EFBIG)
		fault_set(
			&jaild->fault, FAULT_HOME_FULL, "it does not fit into the session's home");
	else
		fault_set(&jaild->fault, FAULT_INTERNAL, "copying stopped: %s", strerror(-error));
}

int put_file(struct jaild *jaild, int fd, const struct put_request *request, uint64_t *ret_bytes)
{
	struct jaild_upload upload = { .fd = -1 };
	int r = jaild_file_create(jaild, request->session, request->path,
		request->is_executable ? 0755 : 0644, &upload);

	if (r < 0)
		return r;
	r = copy_all(fd, upload.fd, request->max_bytes, ret_bytes);
	(void)fd_close(upload.fd);
	if (r < 0) {
		/* The abort's own answer must not hide why; a lost connection tells by the next
		 * call. */
		(void)jaild_file_abort(jaild, upload.id);
		copy_failed(jaild, r);
		return r;
	}
	return jaild_file_commit(jaild, upload.id, NULL);
}
