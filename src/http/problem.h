#pragma once

struct buf;
struct fault;

/* Appends {"type","title","status","code","detail","advice"} and "stage" and "field" where they are
 * set, as JSON (ASCII escapes where JSON needs them). RFC 9457. Returns 0 or -ENOBUFS; at most
 * PROBLEM_SIZE_MAX bytes. */
int problem_write(const struct fault *fault, struct buf *out);

#define PROBLEM_SIZE_MAX 6144 /* bytes: every text of a fault with each byte escaped */
