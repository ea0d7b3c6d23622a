#pragma once

/*
 * What the edges (HTTP, MCP, CLI) tell a person or program when something cannot be done. Inside,
 * errors are -errno; an errno number never reaches a user. Nothing here allocates.
 */

enum fault_code {
	FAULT_NONE,
#define FAULT(name, code, status, advice) FAULT_##name,
#include "base/fault.def"
#undef FAULT
	FAULT_CODE_MAX,
};

struct fault {
	enum fault_code code;
	char text[256];	  /* one sentence about this case, UTF-8 */
	char stage[48];	  /* the step of making a jail that failed, or "" */
	char field[64];	  /* the request's field that is wrong, or "" */
	char advice[352]; /* what helps in this case; "": what the code says */
};

/* Fills f with code and text; stage, field and advice become "". Text that is too long is cut. */
__attribute__((format(printf, 3, 4))) void fault_set(
	struct fault *f, enum fault_code code, const char *format, ...);

/* FAULT_INVALID_FIELD with the field's name; the text says what it takes, and the advice names the
 * field and leads there: "Mend the field NAME ...". */
__attribute__((format(printf, 3, 4))) void fault_set_field(
	struct fault *f, const char *field, const char *format, ...);

/* FAULT_SANDBOX_UNAVAILABLE with the stage's name. */
__attribute__((format(printf, 3, 4))) void fault_set_stage(
	struct fault *f, const char *stage, const char *format, ...);

/* What helps in this case, where the code's own advice is not it. */
__attribute__((format(printf, 2, 3))) void fault_advise(struct fault *f, const char *format, ...);

/* The stable name ("sandbox_busy"), and HTTP status of a code; "none" and 0 for none. */
const char *fault_name(enum fault_code code);
int fault_status(enum fault_code code);

/* What helps: of this case, or else of its code; "" for FAULT_NONE. */
const char *fault_advice(const struct fault *f);
