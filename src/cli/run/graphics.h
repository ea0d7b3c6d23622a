#pragma once

#include "base/str.h"

#include <stdbool.h>

struct buf;

/*
 * Pictures on a terminal, by kitty's graphics protocol. It takes the bytes of a PNG as they are, so
 * a picture that a script made is read by nobody on this side but the terminal; sixel would need a
 * decoder here, with the person's rights. sw.kovidgoyal.net/kitty/graphics-protocol
 */

#define GRAPHICS_PNG_MAX (8u * 1024 * 1024) /* bytes of a picture that is shown */

/* Asks the terminal behind stdin and stdout whether it draws pictures; waits up to a quarter of a
 * second for its answer. False too where there is no terminal, or we are not in its foreground. */
bool graphics_ask(void);

/* What is to come back for the two questions of graphics_ask: whether it says yes to the first; and
 * whether it is whole, which the answer to the second tells, since every terminal gives that. */
bool graphics_is_yes(struct str reply);
bool graphics_is_whole(struct str reply);

/* Appends the words that draw a PNG at the cursor, and a newline. Returns 0; -EINVAL if it is no
 * PNG by its signature; -ENOBUFS. */
int graphics_add_png(struct str png, struct buf *out);
