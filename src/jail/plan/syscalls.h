#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The reviewed tables of profiles/ as arrays: what the filter is compiled from and what
 * `cloche jail syscalls --denied` prints.
 */

/* The newest system call number that was reviewed (set_mempolicy_home_node, Linux 5.17; the same on
 * every architecture). */
#define SYSCALL_CEILING 450

/* Numbers that were reviewed, both ends among them. */
struct syscall_range {
	uint32_t first;
	uint32_t last;
};

/* All of them, *ret_n ranges in order; static storage. Whatever lies between and above them answers
 * ENOSYS: towards calls that nobody has looked at, the denied calls are an allow list. */
const struct syscall_range *syscalls_reviewed_get(size_t *ret_n);

/* True if the number lies in one of them. */
bool syscall_is_reviewed(uint32_t number);

enum syscall_op {
	SYSCALL_ALWAYS,
	SYSCALL_EQ,
	SYSCALL_NE,
	SYSCALL_ANY,	 /* any bit of the mask is set */
	SYSCALL_NEITHER, /* neither the value nor the whole mask */
	SYSCALL_SET	 /* not 0, in all 64 bits: a pointer */
};

/* What decides about a call: one of its arguments, its low 32 bits but for SET. */
struct syscall_condition {
	enum syscall_op op;
	unsigned argument; /* from 0 */
	uint32_t mask;
	uint32_t value;
};

/* A rule holds when both conditions do. */
#define SYSCALL_CONDITIONS 2

struct denied_syscall {
	const char *name;
	const char *answer; /* "EPERM", "ENOSYS", ...; "0": nothing is done, and success is told */
	int error;
	struct syscall_condition conditions[SYSCALL_CONDITIONS];
	const char *reason;
};

struct socket_family {
	const char *name;
	uint32_t number;
	uint32_t types;	    /* a bit for each allowed number of a type */
	uint32_t protocols; /* a bit for each allowed number below 32 */
	const char *reason;
};

/* The denied calls, *ret_n of them; static storage. Lines about one call are neighbours. */
const struct denied_syscall *denied_syscalls_get(size_t *ret_n);

/* The allowed socket families, likewise. */
const struct socket_family *socket_families_get(size_t *ret_n);
