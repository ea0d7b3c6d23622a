#pragma once

struct buf;
struct sandbox_run_request;

/* Appends the request's body as JSON. Returns 0; -EILSEQ with *ret_what, a literal, when a part
 * that must be UTF-8 is not; -EINVAL for a variable without "="; -ENOBUFS. For this folder only. */
int run_body_write(
	const struct sandbox_run_request *request, struct buf *out, const char **ret_what);
