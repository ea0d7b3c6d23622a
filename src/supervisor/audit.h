#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct caller;
struct http_request;
struct json;

/*
 * Who did what: one JSON object a line, appended to DIR/audit.log. Hashes and sizes, never the
 * code. What cannot be written (a full disk) is counted and logged once; the service goes on.
 */
struct audit {
	pthread_mutex_t mutex;
	int fd; /* for appending; owned */
	bool is_failing;
	bool is_torn; /* the last line is not whole */
	uint64_t failed;
};

void audit_init(struct audit *audit);

/* Writes to fd, taken over, from the next line on; what was written to before is closed. */
void audit_open(struct audit *audit, int fd);

/* A new line about a request: time, event (a literal), request, peer, tenant, token. The caller
 * adds to it and frees it with json_free. */
struct json *audit_line(struct http_request *request, const char *event);

/* Appends it. */
void audit_write(struct audit *audit, const struct json *line);

/* Lines that could not be written since the start. */
uint64_t audit_failed(struct audit *audit);
