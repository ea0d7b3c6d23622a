#pragma once

#include "sandbox/answer.h"

/* The last line of a run on stderr: its end and what it cost, and what helps. */

struct cost {
	enum wire_end end;
	bool is_clean;	     /* exited with status 0 */
	struct str sentence; /* how it ended, for people */
	struct str hints;    /* more sentences, or "" */
	uint64_t wall_us, cpu_us, memory_peak_bytes;
	const struct wire_limits *limits; /* of the profile */
	const char *profile;		  /* NULL: nobody knows, and no remedy is told */
	uint64_t wall_ms;		  /* the limit that held */
	struct str error_name;		  /* of the exception that ended it, or "" */
	struct str error_value;		  /* what it said, or "" */
	const char *session;		  /* --session, or NULL */
	bool has_files;			  /* --file was given */
	bool is_elsewhere;		  /* it ran on a server */
};

void cost_say(const struct cost *cost);

/* Of a run of our own. */
void cost_answer_say(const struct answer *answer, const char *profile, bool has_files);
