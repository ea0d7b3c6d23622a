#pragma once

#include <stddef.h>

/*
 * One line per event to stderr, logfmt, in one write(2): `level=info msg="run finished" ms=812`.
 * The format holds the key=value pairs; text that is not ours goes through LOG_VALUE. A control
 * character in the line becomes '?', a line over LOG_LINE_MAX is cut. errno is kept.
 */

#define LOG_LINE_MAX  1024 /* bytes: below PIPE_BUF, so lines of several threads never mix */
#define LOG_VALUE_MAX 256  /* bytes of one quoted value, with quotes and NUL */

enum log_level {
	LOG_LEVEL_ERROR,   /* someone must act */
	LOG_LEVEL_WARNING, /* something is off, we go on */
	LOG_LEVEL_INFO,	   /* one per request or run */
	LOG_LEVEL_DEBUG,
	LOG_LEVEL_MAX,
};

/* The most talkative level that is written; set once by main. */
extern enum log_level log_level;

#define log_error(...)	 log_write(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_write(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)	 log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)	 log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)

/* A value for "%s", quoted if it must be: `log_info("msg=opened path=%s", LOG_VALUE(path))`. Lives
 * as long as the block around it. */
#define LOG_VALUE(s) log_quote((char[LOG_VALUE_MAX]){ 0 }, (s))

/* From now on a line that stderr has no room for at the moment (a full pipe) is dropped, and the
 * next one that fits is followed by a line that tells how many were. For a process that others wait
 * for. Whoever shares the pipe can still fill it between our look and our write, unless stderr is
 * O_NONBLOCK. */
void log_drop_when_full(void);

/* Writes one line if level is at most log_level. Never fails. */
__attribute__((format(printf, 2, 3))) void log_write(enum log_level level, const char *format, ...);

/* Copies s (NULL is "") into buf as a logfmt value: bare if it can be, else in double quotes with
 * \" \\ \n \t and \xNN; cut with "..." if it is long. Returns buf. */
const char *log_quote(char buf[LOG_VALUE_MAX], const char *s);

/* "error", "warning", "info" or "debug" to its level. Returns 0 or -EINVAL. */
int log_level_parse(const char *name, enum log_level *ret_level);
