/*
 * Theory of operation: only a terminal gets results; in a pipe or file a run's stdout is what the
 * script printed, byte for byte, and programs ask for --json. Text goes through say_name line by
 * line, so that a repr() cannot move the cursor.
 */
#include "cli/run/show.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fd.h"
#include "cli/base/say.h"
#include "cli/run/convert.h"
#include "cli/run/graphics.h"
#include "cli/run/outputs.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define TEXT_SHOWN_MAX (16u * 1024) /* bytes: a person looks at it */

static void text_show(struct str text)
{
	AUTO_BUF struct buf out = BUF_INIT(4 * TEXT_SHOWN_MAX + 64);
	bool is_cut = text.n > TEXT_SHOWN_MAX;
	struct str line;

	text.n = is_cut ? TEXT_SHOWN_MAX : text.n;
	while (text.n > 0) {
		struct str rest = { "", 0 };

		(void)str_split_once(text, '\n', &line, &rest);
		say_name(&out, line);
		(void)buf_add_char(&out, '\n');
		text = rest;
	}
	if (is_cut)
		(void)buf_add_str(&out, "...\n");
	(void)fd_write_full(STDOUT_FILENO, buf_get_cstr(&out), out.len);
}

/* The words that draw the PNG behind fd. Returns 0 or -errno. */
static int picture_add(const struct show *show, enum graphics graphics, int fd, struct buf *out)
{
	AUTO_FREE char *bytes = NULL;
	ssize_t n;
	int r;

	if (graphics == GRAPHICS_SIXEL) {
		r = convert_to_sixel(show->convert, fd, out);
		return r == 0 ? buf_add_char(out, '\n') : r;
	}
	bytes = xmalloc(GRAPHICS_PNG_MAX + 1);
	n = fd_read_full(fd, bytes, GRAPHICS_PNG_MAX + 1);
	if (n < 0 || n > (ssize_t)GRAPHICS_PNG_MAX)
		return -EFBIG;
	return graphics_add_png((struct str){ .p = bytes, .n = (size_t)n }, out);
}

/* Draws a file of the session. Returns 0 or -errno. */
static int picture_show(const struct show *show, enum graphics graphics, struct str path)
{
	AUTO_FREE char *name = xasprintf("%.*s", STR_ARG(path));
	AUTO_BUF struct buf out = BUF_INIT(3u * GRAPHICS_PNG_MAX);
	AUTO_CLOSE int fd = -1;
	const char *why;
	int r = show->source->open(show->source, name, &fd, &why);

	if (r == 0)
		r = picture_add(show, graphics, fd, &out);
	return r < 0 ? r : fd_write_full(STDOUT_FILENO, buf_get_cstr(&out), out.len);
}

static bool is_png(const struct report_result *result)
{
	return result->is_path && str_eq(result->mime, STR("image/png"));
}

void show_results(const struct show *show, const struct report_result *results, size_t n)
{
	enum graphics graphics = GRAPHICS_NONE;
	bool has_picture = false, is_main_drawn = false;

	if (isatty(STDOUT_FILENO) != 1)
		return;
	for (size_t i = 0; i < n; i++)
		has_picture = has_picture || is_png(&results[i]);
	if (has_picture)
		graphics = graphics_ask();
	for (size_t i = 0; i < n; i++) {
		const struct report_result *result = &results[i];

		if (graphics != GRAPHICS_NONE && is_png(result))
			is_main_drawn |=
				picture_show(show, graphics, result->value) == 0 && result->is_main;
		else if (!is_main_drawn && !result->is_path && result->is_main &&
			 str_eq(result->mime, STR("text/plain")))
			text_show(result->value);
	}
}
