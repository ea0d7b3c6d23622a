#pragma once

/* A file that moves between a session and a client: whose connection is shut down when the session
 * closes. */

enum transfer_kind {
	TRANSFER_NONE,
	TRANSFER_DOWNLOAD,
	TRANSFER_UPLOAD,
};

struct transfer {
	struct transfer *next; /* of the same session */
	enum transfer_kind kind;
	int client_fd; /* the caller's; -1: none */
};
