#pragma once

#include "jaild/session.h"

struct wire_make;

/* Makes a folder, a link or a further name of a file in the session's home, as wire/message.h says
 * of MAKE, whose form was checked. Returns 0 or -errno: -EEXIST where something else is, and those
 * of beneath_open_parent. */
int make_entry(struct session *session, const struct wire_make *make);
