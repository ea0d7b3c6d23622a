#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * The reviewed tables of profiles/ as arrays: what the filter is compiled from and what
 * `cloche jail syscalls --denied` prints.
 */

/* The newest system call number that was reviewed (set_mempolicy_home_node, Linux 5.17; the same on
 * every architecture). Above it everything answers ENOSYS, so the list is an allow list towards
 * the future. */
#define SYSCALL_CEILING 450

/* NEITHER: the argument is neither the value nor the whole mask. */
enum syscall_op {
	SYSCALL_ALWAYS,
	SYSCALL_EQ,
	SYSCALL_NE,
	SYSCALL_ANY,
	SYSCALL_NEITHER,
};

struct denied_syscall {
	const char *name;
	const char *answer; /* "EPERM" or "ENOSYS" */
	int error;
	/* NEITHER: the argument is neither the value nor the whole mask. */
	enum syscall_op op; /* when it is denied: always, or by one argument */
	unsigned argument;  /* from 0 */
	uint32_t mask;
	uint32_t value;
	const char *reason;
};

struct socket_family {
	const char *name;
	uint32_t number;
	uint32_t protocols; /* a bit for each allowed number below 32 */
	const char *reason;
};

/* The denied calls, *ret_n of them; static storage. Lines about one call are neighbours. */
const struct denied_syscall *denied_syscalls_get(size_t *ret_n);

/* The allowed socket families, likewise. */
const struct socket_family *socket_families_get(size_t *ret_n);
