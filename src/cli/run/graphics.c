#include "cli/run/graphics.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/macro.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define REPLY_MAX  256
#define WAIT_MS	   250
#define CHUNK_SIZE 4096 /* of base64; the protocol's bound */

/* A picture of one dot, to be looked at and not drawn; then the device's attributes. */
static const char question[] = "\033_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\033\\\033[c";

#define KITTY_YES  "\033_Gi=31;OK"
#define ATTRIBUTES "\033[?"
#define SIXEL	   "4"

static const char *find(struct str text, struct str what)
{
	return text.n > 0 ? memmem(text.p, text.n, what.p, what.n) : NULL;
}

/* The list between ESC [ ? and c. Returns false if it is not whole. */
static bool attributes_find(struct str reply, struct str *ret_list)
{
	const char *start = find(reply, STR(ATTRIBUTES));
	struct str rest;

	if (!start)
		return false;
	start += sizeof(ATTRIBUTES) - 1;
	rest = (struct str){ start, reply.n - (size_t)(start - reply.p) };
	return str_split_once(rest, 'c', ret_list, &rest);
}

enum graphics graphics_from(struct str reply)
{
	struct str list, one;

	if (find(reply, STR(KITTY_YES)))
		return GRAPHICS_KITTY;
	if (!attributes_find(reply, &list))
		return GRAPHICS_NONE;
	(void)str_split_once(list, ';', &one, &list); /* the first tells the terminal's class */
	while (list.n > 0) {
		(void)str_split_once(list, ';', &one, &list);
		if (str_eq(one, STR(SIXEL)))
			return GRAPHICS_SIXEL;
	}
	return GRAPHICS_NONE;
}

bool graphics_is_whole(struct str reply)
{
	struct str list;

	return attributes_find(reply, &list);
}

/* Reads the reply from a terminal that neither echoes nor waits for a line. */
static enum graphics reply_read(void)
{
	usec_t until_us = clock_now_us() + WAIT_MS * USEC_PER_MS, now_us;
	char reply[REPLY_MAX];
	struct str so_far = { .p = reply, .n = 0 };

	if (fd_write_full(STDOUT_FILENO, question, sizeof(question) - 1) < 0)
		return GRAPHICS_NONE;
	while (!graphics_is_whole(so_far) && so_far.n < sizeof(reply) &&
		(now_us = clock_now_us()) < until_us) {
		struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };
		ssize_t n;

		if (poll(&fd, 1, (int)((until_us - now_us) / USEC_PER_MS) + 1) <= 0)
			continue;
		n = read(STDIN_FILENO, reply + so_far.n, sizeof(reply) - so_far.n);
		if (n <= 0)
			break;
		so_far.n += (size_t)n;
	}
	return graphics_from(so_far);
}

enum graphics graphics_ask(void)
{
	struct termios before, raw;
	enum graphics graphics;

	if (isatty(STDOUT_FILENO) != 1 || tcgetattr(STDIN_FILENO, &before) < 0 ||
		tcgetpgrp(STDIN_FILENO) != getpgrp())
		return GRAPHICS_NONE;
	raw = before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) < 0)
		return GRAPHICS_NONE;
	graphics = reply_read();
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &before);
	return graphics;
}

int graphics_add_png(struct str png, struct buf *out)
{
	AUTO_BUF struct buf text = BUF_INIT(BASE64_SIZE(GRAPHICS_PNG_MAX));
	int r = str_starts(png, STR("\x89PNG\r\n\x1a\n")) ? base64_encode(png, &text) : -EINVAL;

	for (size_t at = 0; r == 0 && at < text.len; at += CHUNK_SIZE) {
		size_t n = MIN(text.len - at, (size_t)CHUNK_SIZE);

		r = buf_addf(out, "\033_G%sm=%d;%.*s\033\\", at == 0 ? "a=T,f=100," : "",
			at + n < text.len, (int)n, text.data + at);
	}
	return r == 0 ? buf_add_char(out, '\n') : r;
}
