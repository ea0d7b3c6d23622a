#include "jail/outside/filter_code.h"

#include "base/assert.h"
#include "base/macro.h"
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
 * Theory of operation. The calls' numbers fall into spans: allowed, denied with one error, or one
 * call whose arguments decide. A balanced tree of comparisons finds a number's span in eight steps;
 * the span is a return, or a jump to a block that ends in one. That matters where it is installed:
 * the kernel translates each instruction, and tries every number there is through the program.
 *
 * A check of an argument loads it anew, so no block depends on another one's accumulator.
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

/* Calls that are not allowed as such, and the spans that these make. */
#define CALLS_MAX 512
#define SPANS_MAX (2 * CALLS_MAX + 1)

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

/* The rest has no need to tell architectures and numbers that do not exist apart: it is asked
 * together with the base, whose answer to those is at least as strict as any of its own. */
static void emit_numbers(enum filter_part part, struct code *code)
{
	if (part == FILTER_REST) {
		emit_load(code, offsetof(struct seccomp_data, nr));
		return;
	}
	emit_load(code, offsetof(struct seccomp_data, arch));
	emit_jump(code, BPF_JEQ, ARCH_NATIVE, 1, 0);
	emit_return(code, SECCOMP_RET_KILL_PROCESS);
	emit_load(code, offsetof(struct seccomp_data, nr));
	emit_jump(code, BPF_JSET, X32_BIT, 1, 0);
	emit_jump(code, BPF_JGT, SYSCALL_CEILING, 0, 1);
	emit_return(code, errno_action(ENOSYS));
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
	if (condition->mask != UINT32_MAX)
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

/* The argument that one comparison with a value decides about, or -1. */
static int plain_argument(const struct denied_syscall *rule)
{
	const struct syscall_condition *conditions = rule->conditions;

	return conditions[0].op == SYSCALL_EQ && conditions[0].mask == UINT32_MAX &&
			       conditions[1].op == SYSCALL_ALWAYS
		       ? (int)conditions[0].argument
		       : -1;
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
static void emit_socket(struct code *code)
{
	size_t n;
	const struct socket_family *families = socket_families_get(&n);

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
}

/* A call that is not allowed as such. */
struct call {
	uint32_t number;
	const struct denied_syscall *rules; /* its lines in the table; NULL: a socket's call */
	size_t n;
};

/* How many lines from the first on compare that argument and answer one error. */
static size_t alike_count(const struct denied_syscall *rules, size_t n, int argument)
{
	size_t alike = 1;

	while (alike < n && plain_argument(&rules[alike]) == argument &&
		rules[alike].error == rules[0].error)
		alike++;
	return alike;
}

/* Lines in a row that compare one argument load it once, and with one answer they share it. */
static void emit_rules(struct code *code, const struct call *call)
{
	int loaded = -1;

	for (size_t i = 0, n; i < call->n; i += n) {
		const struct denied_syscall *rules = &call->rules[i];
		int argument = plain_argument(rules);

		n = argument < 0 ? 1 : alike_count(rules, call->n - i, argument);
		if (argument < 0) {
			emit_rule(code, rules);
		} else {
			if (argument != loaded)
				emit_load_argument(code, (unsigned)argument);
			for (size_t j = 0; j < n; j++)
				emit_jump(code, BPF_JEQ, rules[j].conditions[0].value,
					(unsigned)(n - j - 1), j + 1 == n);
			emit_return(code, errno_action(rules->error));
		}
		loaded = argument;
	}
	emit_return(code, SECCOMP_RET_ALLOW);
}

/* Numbers from `first` up to the next span. */
struct span {
	uint32_t first;
	const struct call *call; /* NULL: allowed */
	unsigned jump;		 /* where its instruction in the tree is */
};

static bool is_always_denied(const struct call *call)
{
	return call && call->rules && call->rules[0].conditions[0].op == SYSCALL_ALWAYS;
}

/* Keeps the calls in the order of their numbers. */
static void call_add(struct call *calls, size_t *n, const struct call *call)
{
	size_t at = (*n)++;

	assert(at < CALLS_MAX);
	for (; at > 0 && calls[at - 1].number > call->number; at--)
		calls[at] = calls[at - 1];
	calls[at] = *call;
}

/* What scripts are denied and those who build cells need: the maker (setns, clone3), init (mounts,
 * host name, bounding set and filter by prctl). The one limit that the base does not let be set is
 * set before it (src/init/maker.c). */
static bool is_for_builders(const char *name)
{
	static const char *const names[] = { "mount", "move_mount", "setns", "clone3",
		"sethostname", "prctl" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

static bool is_in_part(enum filter_part part, const char *name)
{
	if (part == FILTER_NUMBERS)
		return false;
	return part == FILTER_WHOLE || is_for_builders(name) == (part == FILTER_REST);
}

/* The numbers below the ceiling that nobody has looked at; those above are emit_numbers's. */
static void calls_collect_unknown(struct call *calls, size_t *n)
{
	static const struct denied_syscall unknown = { .error = ENOSYS };

	for (uint32_t number = 0; number <= SYSCALL_CEILING; number++) {
		if (!syscall_is_reviewed(number))
			call_add(calls, n, &(struct call){ number, &unknown, 1 });
	}
}

static size_t calls_collect(enum filter_part part, struct call *calls)
{
	size_t n_rules, n = 0;
	const struct denied_syscall *rules = denied_syscalls_get(&n_rules);

	for (size_t i = 0, end; i < n_rules; i = end) {
		int number = seccomp_syscall_resolve_name(rules[i].name);

		for (end = i + 1; end < n_rules && strcmp(rules[end].name, rules[i].name) == 0;)
			end++;
		/* negative: this architecture has no such call */
		if (number >= 0 && is_in_part(part, rules[i].name))
			call_add(calls, &n, &(struct call){ (uint32_t)number, &rules[i], end - i });
	}
	if (part != FILTER_REST)
		calls_collect_unknown(calls, &n);
	if (part == FILTER_WHOLE || part == FILTER_BASE) {
		call_add(calls, &n, &(struct call){ .number = SYS_socket });
		call_add(calls, &n, &(struct call){ .number = SYS_socketpair });
	}
	return n;
}

static size_t spans_make(const struct call *calls, size_t n_calls, struct span *spans)
{
	uint32_t next = 0; /* the first number that is in no span yet */
	size_t n = 0;

	for (size_t i = 0; i < n_calls; i++) {
		const struct call *call = &calls[i], *last = n > 0 ? spans[n - 1].call : NULL;

		if (call->number > next)
			spans[n++] = (struct span){ .first = next };
		if (call->number > next || !is_always_denied(call) || !is_always_denied(last) ||
			call->rules[0].error != last->rules[0].error)
			spans[n++] = (struct span){ .first = call->number, .call = call };
		next = call->number + 1;
	}
	spans[n++] = (struct span){ .first = next };
	return n;
}

/* The tree under way: comparisons whose answer is a return, which stand together behind it. */
struct tree {
	struct code *code;
	unsigned at[2 * SPANS_MAX];
	bool on_yes[2 * SPANS_MAX];
	uint32_t actions[2 * SPANS_MAX];
	size_t n;
};

/* True, with what it answers, for a span that needs no look at arguments. */
static bool is_return(const struct span *span, uint32_t *ret_action)
{
	*ret_action = SECCOMP_RET_ALLOW;
	if (is_always_denied(span->call))
		*ret_action = errno_action(span->call->rules[0].error);
	return !span->call || is_always_denied(span->call);
}

static void jump_mend(struct code *code, unsigned at, bool on_yes, unsigned target)
{
	unsigned distance = target - at - 1;

	assert(distance <= JUMP_MAX);
	if (at < code->cap && on_yes)
		code->program[at].jt = (unsigned char)distance;
	else if (at < code->cap)
		code->program[at].jf = (unsigned char)distance;
}

static void emit_tree(struct tree *tree, struct span *spans, size_t n);

/* One side of a comparison: a return is left for later, a tree stands here. */
static void emit_side(struct tree *tree, unsigned at, bool on_yes, struct span *spans, size_t n)
{
	uint32_t action;

	if (n == 1 && is_return(spans, &action)) {
		tree->at[tree->n] = at;
		tree->on_yes[tree->n] = on_yes;
		tree->actions[tree->n++] = action;
		return;
	}
	jump_mend(tree->code, at, on_yes, tree->code->count);
	emit_tree(tree, spans, n);
}

/* As deep as the logarithm of n. */
static void emit_tree(struct tree *tree, struct span *spans, size_t n)
{
	unsigned at = tree->code->count;
	size_t middle = n / 2;

	if (n == 1) { /* arguments decide: to its block, which is not there yet */
		spans->jump = at;
		emit(tree->code, BPF_JMP | BPF_JA, 0, 0, 0);
		return;
	}
	emit_jump(tree->code, BPF_JGE, spans[middle].first, 0, 0);
	emit_side(tree, at, false, spans, middle);
	emit_side(tree, at, true, spans + middle, n - middle);
}

/* Each action once, and the jumps there. */
static void emit_returns(struct tree *tree)
{
	for (size_t i = 0; i < tree->n; i++) {
		bool is_new = true;

		for (size_t j = 0; j < i; j++)
			is_new = is_new && tree->actions[j] != tree->actions[i];
		if (!is_new)
			continue;
		for (size_t j = i; j < tree->n; j++)
			if (tree->actions[j] == tree->actions[i])
				jump_mend(tree->code, tree->at[j], tree->on_yes[j],
					tree->code->count);
		emit_return(tree->code, tree->actions[i]);
	}
}

/* Where the jumps of spans lead; the calls of sockets share one block. */
static void emit_blocks(struct code *code, const struct span *spans, size_t n)
{
	unsigned socket_at = 0;

	for (size_t i = 0; i < n; i++) {
		const struct call *call = spans[i].call;
		bool is_there = call && !call->rules && socket_at > 0;
		unsigned target = is_there ? socket_at : code->count;

		if (!call || is_always_denied(call))
			continue;
		if (spans[i].jump < code->cap)
			code->program[spans[i].jump].k = target - spans[i].jump - 1;
		if (!call->rules && !is_there) {
			socket_at = target;
			emit_socket(code);
		} else if (call->rules) {
			emit_rules(code, call);
		}
	}
}

int filter_code_make(enum filter_part part, struct sock_filter *program, unsigned cap)
{
	static struct call calls[CALLS_MAX];
	static struct span spans[SPANS_MAX];
	static struct tree tree;
	struct code code = { .program = program, .cap = cap };
	size_t n = spans_make(calls, calls_collect(part, calls), spans);

	emit_numbers(part, &code);
	tree = (struct tree){ .code = &code };
	emit_tree(&tree, spans, n);
	emit_returns(&tree);
	emit_blocks(&code, spans, n);
	return code.count <= cap ? (int)code.count : -E2BIG;
}
