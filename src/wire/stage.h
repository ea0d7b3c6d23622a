#pragma once

#include <errno.h>

/*
 * The named steps from a request to a running script. They are on the wire so that a failure in
 * any process is reported to the person by its name.
 */

enum stage {
	STAGE_NONE,
#define STAGE(id, name) STAGE_##id,
#include "wire/stage.def"
#undef STAGE
	STAGE_MAX
};

/* The name of a stage, for people; "unknown" for a number outside the table. */
const char *stage_name(unsigned stage);

#ifdef CLOCHE_FAULT_INJECTION
/* The stage that a test makes fail (STAGE_NONE: no one). Set once in each program's start. */
extern unsigned stage_to_fail;
#endif

/* True in a build for fault injection when this stage has to fail; else constant false. */
static inline int stage_fails(enum stage stage)
{
#ifdef CLOCHE_FAULT_INJECTION
	return stage_to_fail == (unsigned)stage;
#else
	(void)stage;
	return 0;
#endif
}

/* The value of a step's expression; in a test that wants this stage to fail -EIO, and the
 * expression is not evaluated. */
#ifdef CLOCHE_FAULT_INJECTION
#define STAGE_TRY(stage, expression) (stage_fails(stage) ? -EIO : (expression))
#else
#define STAGE_TRY(stage, expression) (expression)
#endif
