#include "cli/run/convert.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fd.h"
#include "base/macro.h"
#include "cli/run/sixel.h"

#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SIDE_USUAL 800u /* dots, of a terminal that does not tell its size */

static const struct {
	const char *name, *text;
	size_t size;
} script[] = {
#include "cli/run/sixel.inc"
};

static unsigned side_choose(unsigned told)
{
	return MIN(told > 0 ? told : SIDE_USUAL, SIXEL_SIDE_MAX);
}

int convert_to_sixel(struct convert *convert, int png_fd, struct buf *ret)
{
	char width[16], height[16];
	const struct convert_script request = { .code = { script[0].text, script[0].size },
		.args = { width, height } };
	struct winsize size = { 0 };
	AUTO_FREE char *bytes = NULL;
	AUTO_CLOSE int fd = -1;
	ssize_t n;
	int r;

	(void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	(void)str_format(width, sizeof(width), "%u", side_choose(size.ws_xpixel));
	(void)str_format(height, sizeof(height), "%u", side_choose(size.ws_ypixel));
	r = convert->run(convert, png_fd, &request, &fd);
	if (r < 0)
		return r;
	bytes = xmalloc(SIXEL_BYTES_MAX + 1);
	n = fd_read_full(fd, bytes, SIXEL_BYTES_MAX + 1);
	r = n < 0 ? (int)n : -EBADMSG;
	if (n > 0 && sixel_is_picture((struct str){ bytes, (size_t)n }))
		r = buf_add(ret, bytes, (size_t)n);
	return r;
}
