#pragma once

#include "jaild/options.h"

/* Tries every mechanism on this host and prints a line for each: name, ok or fail, cause, remedy,
 * separated by tabs. Returns 0 when all is there, else 1. */
int doctor_run(const struct options *options);
