#include "jail/outside/filter_code.h"

#include "base/assert.h"
#include "jail/plan/syscalls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/*
 * Instructions by hand. Each block ends in a return or is skipped as a whole, and a check of an
 * argument loads it anew, so no block depends on another one's accumulator: each begins by loading
 * the number. Jumps are at most a block long, far below BPF's 255.
 */

#if defined(__x86_64__)
#define ARCH_NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH_NATIVE AUDIT_ARCH_AARCH64
#else
#error "ARCH_NATIVE is missing for this architecture"
#endif

#define SOCKET_TYPE_MASK 0xf /* net.h in the kernel: SOCK_TYPE_MASK */

#define X32_BIT 0x40000000u

/* A jump's length is a byte: a longer one would land in the middle of something. */
#define JUMP_MAX 255

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the low half of an argument is expected first"
#endif

struct code {
	struct sock_filter *program;
	unsigned cap;
	unsigned count;
};

static void emit(struct code *code, unsigned short op, uint32_t k, unsigned yes, unsigned no)
{
	assert(yes <= JUMP_MAX && no <= JUMP_MAX);
	if (code->count < code->cap)
		code->program[code->count] = (struct sock_filter){
			.code = op, .jt = (unsigned char)yes, .jf = (unsigned char)no, .k = k
		};
	code->count++;
}

static void emit_load(struct code *code, size_t offset)
{
	emit(code, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void emit_load_argument(struct code *code, unsigned argument)
{
	emit_load(code, offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t));
}

static void emit_load_argument_high(struct code *code, unsigned argument)
{
	emit_load(code, offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t) +
				sizeof(uint32_t));
}

static void emit_return(struct code *code, uint32_t action)
{
	emit(code, BPF_RET | BPF_K, action, 0, 0);
}

static void emit_jump(
	struct code *code, unsigned short condition, uint32_t k, unsigned yes, unsigned no)
{
	emit(code, (unsigned short)(BPF_JMP | condition | BPF_K), k, yes, no);
}

static uint32_t errno_action(int error)
{
	return SECCOMP_RET_ERRNO | ((uint32_t)error & SECCOMP_RET_DATA);
}

static void emit_numbers(struct code *code)
{
	emit_load(code, offsetof(struct seccomp_data, arch));
	emit_jump(code, BPF_JEQ, ARCH_NATIVE, 1, 0);
	emit_return(code, SECCOMP_RET_KILL_PROCESS);
	emit_load(code, offsetof(struct seccomp_data, nr));
	emit_jump(code, BPF_JSET, X32_BIT, 1, 0);
	emit_jump(code, BPF_JGT, SYSCALL_CEILING, 0, 1);
	emit_return(code, errno_action(ENOSYS));
}

/* Opens a block for one number; block_end closes it with "allowed" and mends the jump over it. */
static unsigned block_begin(struct code *code, int number)
{
	emit_load(code, offsetof(struct seccomp_data, nr));
	emit_jump(code, BPF_JEQ, (uint32_t)number, 0, 0);
	return code->count;
}

static void block_end(struct code *code, unsigned start)
{
	emit_return(code, SECCOMP_RET_ALLOW);
	assert(code->count - start <= JUMP_MAX);
	if (start <= code->cap)
		code->program[start - 1].jf = (unsigned char)(code->count - start);
}

/* Jumps of one rule that lead behind its end, which is known only then. */
struct skips {
	unsigned at[2 * SYSCALL_CONDITIONS];
	bool on_yes[2 * SYSCALL_CONDITIONS];
	unsigned n;
};

/* A jump that goes on when k is met (or, on_yes, when it is not) and else leaves the rule. */
static void emit_skip(
	struct code *code, struct skips *skips, unsigned short condition, uint32_t k, bool on_yes)
{
	skips->at[skips->n] = code->count;
	skips->on_yes[skips->n++] = on_yes;
	emit_jump(code, condition, k, 0, 0);
}

static void skips_land(struct code *code, const struct skips *skips)
{
	for (unsigned i = 0; i < skips->n; i++) {
		unsigned at = skips->at[i];
		unsigned char distance = (unsigned char)(code->count - at - 1);

		assert(code->count - at - 1 <= JUMP_MAX);
		if (at >= code->cap)
			continue;
		if (skips->on_yes[i])
			code->program[at].jt = distance;
		else
			code->program[at].jf = distance;
	}
}

static void emit_load_masked(struct code *code, const struct syscall_condition *condition)
{
	emit_load_argument(code, condition->argument);
	emit(code, BPF_ALU | BPF_AND | BPF_K, condition->mask, 0, 0);
}

/* Goes on when the condition holds, else leaves the rule. */
static void emit_condition(
	struct code *code, const struct syscall_condition *condition, struct skips *skips)
{
	switch (condition->op) {
	case SYSCALL_ALWAYS:
		break;
	case SYSCALL_EQ:
		emit_load_masked(code, condition);
		emit_skip(code, skips, BPF_JEQ, condition->value, false);
		break;
	case SYSCALL_NE:
		emit_load_masked(code, condition);
		emit_skip(code, skips, BPF_JEQ, condition->value, true);
		break;
	case SYSCALL_ANY:
		emit_load_argument(code, condition->argument);
		emit_skip(code, skips, BPF_JSET, condition->mask, false);
		break;
	case SYSCALL_NEITHER:
		emit_load_masked(code, condition);
		emit_skip(code, skips, BPF_JEQ, condition->value, true);
		emit_skip(code, skips, BPF_JEQ, condition->mask, true);
		break;
	case SYSCALL_SET:
		/* a low half that is not 0 is enough; else the high half decides */
		emit_load_argument(code, condition->argument);
		emit_jump(code, BPF_JEQ, 0, 0, 2);
		emit_load_argument_high(code, condition->argument);
		emit_skip(code, skips, BPF_JEQ, 0, true);
		break;
	}
}

/* One line of the table: returns when it holds, else goes on behind itself. */
static void emit_rule(struct code *code, const struct denied_syscall *rule)
{
	struct skips skips = { .n = 0 };

	for (size_t i = 0; i < SYSCALL_CONDITIONS; i++)
		emit_condition(code, &rule->conditions[i], &skips);
	emit_return(code, errno_action(rule->error));
	skips_land(code, &skips);
}

/* All lines of one call, which are neighbours; returns the index behind them. */
static size_t emit_call(struct code *code, const struct denied_syscall *rules, size_t i, size_t n)
{
	const char *name = rules[i].name;
	int number = seccomp_syscall_resolve_name(name);
	unsigned start = number < 0 ? 0 : block_begin(code, number);

	for (; i < n && strcmp(rules[i].name, name) == 0; i++) {
		if (number >= 0)
			emit_rule(code, &rules[i]);
	}
	if (number >= 0)
		block_end(code, start);
	return i;
}

static void emit_arguments(struct code *code)
{
	size_t n, i = 0;
	const struct denied_syscall *rules = denied_syscalls_get(&n);

	while (i < n) {
		if (rules[i].conditions[0].op == SYSCALL_ALWAYS)
			i++;
		else
			i = emit_call(code, rules, i, n);
	}
}

/* Goes on when the accumulator is the number of a bit of the set, else answers the error. */
static void emit_set(struct code *code, uint32_t set, int error)
{
	unsigned left = (unsigned)__builtin_popcount(set);

	for (unsigned bit = 0; bit < 32; bit++) {
		if (set & (1u << bit))
			emit_jump(code, BPF_JEQ, bit, left--, 0);
	}
	emit_return(code, errno_action(error));
}

/* socket(2) and socketpair(2): family, type with flags, protocol. */
static void emit_socket(struct code *code, int number)
{
	size_t n;
	const struct socket_family *families = socket_families_get(&n);
	unsigned start = block_begin(code, number);

	for (size_t i = 0; i < n; i++) {
		struct skips skips = { .n = 0 };

		emit_load_argument(code, 0);
		emit_skip(code, &skips, BPF_JEQ, families[i].number, false);
		emit_load_argument(code, 1);
		emit(code, BPF_ALU | BPF_AND | BPF_K, SOCKET_TYPE_MASK, 0, 0);
		emit_set(code, families[i].types, ESOCKTNOSUPPORT);
		emit_load_argument(code, 2);
		emit_set(code, families[i].protocols, EPROTONOSUPPORT);
		emit_return(code, SECCOMP_RET_ALLOW);
		skips_land(code, &skips);
	}
	emit_return(code, errno_action(EAFNOSUPPORT));
	block_end(code, start);
}

int filter_code_prologue(struct sock_filter *program, unsigned cap)
{
	struct code code = { .program = program, .cap = cap };

	emit_numbers(&code);
	emit_arguments(&code);
	emit_socket(&code, SYS_socket);
	emit_socket(&code, SYS_socketpair);
	return code.count < cap ? (int)code.count : -E2BIG;
}
