#pragma once

struct fault;
struct wire_failed;

/* Turns jaild's FAILED into what the edges tell: a stage is `sandbox_unavailable` with its name, a
 * refused request has the code that fits its error. Returns the error as -errno, never 0. */
int refusal_take(const struct wire_failed *failed, struct fault *ret_fault);
