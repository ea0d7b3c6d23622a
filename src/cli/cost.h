#pragma once

#include "sandbox/answer.h"

/* Prints the last line of a run on stderr: its end and what it cost, and what helps. */
void cost_say(const struct answer *answer, const char *profile);
