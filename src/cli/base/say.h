#pragma once

#include "base/str.h"

#include <stdbool.h>

struct buf;
struct fault;
struct json;

/* What cloche tells people: on stderr, one line at a time, never mixed with a script's bytes. */

/* Prints "cloche: ..." and a newline to stderr. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

/* Prints a mistake in the command line with its remedy, and returns EXIT_USAGE. */
__attribute__((format(printf, 1, 2))) int say_usage(const char *format, ...);

/* The same for a file of what (an option, "the script") that cannot be read: error is its errno. */
int say_unreadable(const char *what, const char *path, int error);

/* Tells a person at a terminal that something was done; programs, and those who asked for JSON, see
 * the exit status. */
__attribute__((format(printf, 2, 3))) void say_done(bool is_json, const char *format, ...);

/* Prints what could not be done and what helps, and returns EXIT_OURS. */
int say_fault(const struct fault *fault);

/* Writes the value as one line to stdout. Returns 0, or EXIT_OURS after saying why. */
int say_json(const struct json *j);

/* Appends a name for a terminal: control characters and what is not UTF-8 as \xNN, so that a file
 * name cannot move the cursor or forge a line. */
void say_name(struct buf *out, struct str name);
