#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * One HTTP request as straight-line code: it is sent, and the answer handed on piece by piece at
 * constant memory. Redirects are not followed, proxies, cookies and .netrc not looked at, nothing
 * but http and https spoken. May be called from any thread; each call is a connection of its own.
 * RFC 9110, RFC 9112
 */

/* How it went. With all but FETCH_DONE, fetch_answer.text says why. */
enum fetch_end {
	FETCH_DONE,	   /* a whole answer came, whatever its status */
	FETCH_UNREACHABLE, /* refused, no such host or socket, no route */
	FETCH_TIMEOUT,	   /* one of the four bounds of time */
	FETCH_INSECURE,	   /* TLS failed: no trust, or no TLS there */
	FETCH_MALFORMED,   /* what came is no HTTP answer, or has no end that can be told */
	FETCH_CUT,	   /* the connection ended before the answer did */
	FETCH_TOO_LARGE,   /* head or body over its bound */
	FETCH_STOPPED,	   /* a function of the watch said so */
	FETCH_FAILED,	   /* here: the body's source could not be read, no descriptors */
};

#define FETCH_HEAD_MAX (64u * 1024) /* bytes of all header lines of an answer */

struct fetch_answer {
	int status; /* 0 when none came */
	char content_type[96];
	int64_t length;	 /* Content-Length, or -1 */
	bool is_framed;	 /* its end is told by the answer itself, not by the connection's */
	bool is_encoded; /* Content-Encoding is there: the bytes are not what they stand for */
	unsigned retry_after_s; /* Retry-After in seconds, 0 without; at most 86,400 */
	uint64_t body_bytes;
	char text[256]; /* why it ended so, without a full stop; "" with FETCH_DONE */
};

/*
 * Who takes the answer. Embedded in its owner (container_of); each function may be NULL and runs in
 * the thread of fetch_run. Below 0: stop, FETCH_STOPPED.
 */
struct fetch_watch {
	/* The head is whole: status, content_type, length, is_framed, is_encoded, retry_after_s are
	 * set. */
	int (*on_head)(struct fetch_watch *watch, const struct fetch_answer *answer);
	int (*on_body)(struct fetch_watch *watch, struct str bytes);
	/* wake_fd is readable. */
	int (*on_wake)(struct fetch_watch *watch);
};

/* Zero is "without" for every member but those named otherwise. Pointers are borrowed until
 * fetch_run returns. */
struct fetch_request {
	const char *method;	  /* a literal */
	const char *url;	  /* absolute; its path is sent as it is */
	const char *socket_path;  /* connect to this unix socket instead of the url's host */
	const char *token;	  /* sent as Authorization: Bearer; never in a text or log */
	const char *accept;	  /* a literal */
	const char *content_type; /* a literal; with it there is a body */
	struct str body;	  /* its bytes, unless body_fd is taken */
	bool is_body_fd; /* body_size bytes are read from body_fd; fewer are FETCH_FAILED */
	int body_fd;
	uint64_t body_size;
	uint64_t answer_max; /* bytes of the body that are taken; 0: none */
	/* Milliseconds; 0: unbounded. total_ms, plus the time that the bytes of both bodies so far
	 * take at rate_bytes_per_s. silence_ms: without a byte in either direction. */
	unsigned connect_ms;
	unsigned silence_ms;
	unsigned total_ms;
	unsigned rate_bytes_per_s; /* 0: the bytes earn no time */
	bool has_wake;		   /* wake_fd is to be watched */
	int wake_fd;
	struct fetch_watch *watch; /* NULL: nobody looks on */
};

/* Sends the request and takes the answer. ret_answer is filled however it ends. */
enum fetch_end fetch_run(const struct fetch_request *request, struct fetch_answer *ret_answer);
