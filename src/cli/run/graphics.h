#pragma once

#include "base/str.h"

#include <stdbool.h>

struct buf;

/*
 * Pictures on a terminal, by kitty's graphics protocol or as sixel. The first takes the bytes of a
 * PNG as they are, so a picture that a script made is read by nobody on this side but the terminal;
 * for the second it is converted in a jail (convert.h). sw.kovidgoyal.net/kitty/graphics-protocol
 */

#define GRAPHICS_PNG_MAX (8u * 1024 * 1024) /* bytes of a picture that is shown */

enum graphics {
	GRAPHICS_NONE,
	GRAPHICS_SIXEL,
	GRAPHICS_KITTY
};

/* Asks the terminal behind stdin and stdout how it draws pictures; waits up to a quarter of a
 * second for its answer. NONE too where there is no terminal, or we are not in its foreground. */
enum graphics graphics_ask(void);

/* What is to come back for the two questions of graphics_ask: which way it tells, the better one if
 * both; and whether it is whole, which the answer to the second tells, since every terminal gives
 * that. Attribute 4 of the device is sixel: DEC VT330/VT340, "Primary DA response". */
enum graphics graphics_from(struct str reply);
bool graphics_is_whole(struct str reply);

/* Appends the words that draw a PNG at the cursor by kitty's protocol, and a newline. Returns 0;
 * -EINVAL if it is no PNG by its signature; -ENOBUFS. */
int graphics_add_png(struct str png, struct buf *out);
