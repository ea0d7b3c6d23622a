#pragma once

#include "base/str.h"

#include <stdbool.h>

/*
 * A picture as sixel, before it goes to a terminal. What made it had read a picture of a script's
 * and is not trusted: the terminal gets one whole picture of a bounded size and nothing else.
 * DEC VT330/VT340 Graphics Programming, chapter 14; vt100.net/docs/vt3xx-gp/chapter14.html
 */

#define SIXEL_SIDE_MAX	1000u		   /* dots; xterm draws no larger ones unless told to */
#define SIXEL_BYTES_MAX (8u * 1024 * 1024) /* noise of that size has 5 MiB, a photograph 1.4 */
#define SIXEL_COLOURS	256u

/* True if the text is what sixel.py writes: ESC P q "1;1;W;H, colours as RGB, rows of sixels that
 * stay within W and H, each colour at most once in a band, ESC \. */
bool sixel_is_picture(struct str text);
