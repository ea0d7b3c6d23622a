#pragma once

struct sock_filter;

/* Writes the prologue of the script's filter (see filter.c) into program, cap places at most.
 * Returns the number of instructions, or -E2BIG. seccomp(2) */
int filter_code_prologue(struct sock_filter *program, unsigned cap);
