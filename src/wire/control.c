#include "wire/control.h"

#include <errno.h>

static const struct {
	size_t fds_min, fds_max;
} rows[CONTROL_TYPE_MAX] = {
	[CONTROL_NONE] = { 1, 0 }, /* no number fits */
	[CONTROL_START] = { 2, 1 + CONTROL_LISTENERS_MAX },
	[CONTROL_TOKENS] = { 1, 1 },
	[CONTROL_JAILD] = { 1, 1 },
	[CONTROL_AUDIT] = { 1, 1 },
	[CONTROL_KNOWN] = { 1, 1 },
	[CONTROL_READY] = { 0, 0 },
};

int control_check(const struct control *control, ssize_t size, size_t n_fds)
{
	if (size != (ssize_t)sizeof(*control) || control->type >= CONTROL_TYPE_MAX)
		return -EBADMSG;
	if (n_fds < rows[control->type].fds_min || n_fds > rows[control->type].fds_max)
		return -EBADMSG;
	return control->type == CONTROL_START || control->owner_uid == 0 ? 0 : -EBADMSG;
}
