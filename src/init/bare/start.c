#include "init/bare/machine.h"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * cloche-init without a C library. glibc's start costs half a millisecond in a virtual machine (70
 * cpuid instructions that trap, 27 page faults), more than all that init does with it; this folder
 * is the two dozen functions that init and what it links of base, wire and jail/inside really
 * call. The headers are the C library's.
 *
 * The program is position-independent and static, so it relocates itself: nothing but relative
 * relocations, which are additions. Then it makes the relocated constants read-only, gives the
 * stack protector a random canary, and calls main.
 */

#ifndef DT_RELR
#define DT_RELR 36 /* glibc 2.36 */
#endif

extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));
extern const Elf64_Dyn _DYNAMIC[] __attribute__((visibility("hidden")));

int main(int argc, char **argv);

/* Aborts: nothing is there yet that could tell. */
__attribute__((no_stack_protector)) static void check(int is_good)
{
	if (!is_good)
		__builtin_trap();
}

__attribute__((no_stack_protector)) static void relocate(uintptr_t base)
{
	const Elf64_Rela *rela = NULL;
	size_t size = 0;

	for (const Elf64_Dyn *entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_RELA)
			rela = (const Elf64_Rela *)(base + entry->d_un.d_ptr);
		if (entry->d_tag == DT_RELASZ)
			size = entry->d_un.d_val;
		check(entry->d_tag != DT_JMPREL && entry->d_tag != DT_REL &&
			entry->d_tag != DT_RELR);
	}
	for (size_t i = 0; rela && i < size / sizeof(*rela); i++) {
		check(rela[i].r_info == MACHINE_RELATIVE);
		*(uintptr_t *)(base + rela[i].r_offset) = base + (uintptr_t)rela[i].r_addend;
	}
}

/* A value that the kernel left on the stack, behind arguments and environment. getauxval(3) */
__attribute__((no_stack_protector)) static uintptr_t auxiliary_get(
	const uintptr_t *stack, uintptr_t type)
{
	const uintptr_t *word = stack + 1 + stack[0] + 1; /* behind argc, argv and its NULL */

	while (*word)
		word++;
	for (word++; *word != AT_NULL; word += 2) {
		if (*word == type)
			return word[1];
	}
	__builtin_trap();
}

/* Whole pages only, as ld.so does: the linker sees to it that these are all on x86-64, and on arm64
 * with pages of 4 KiB. */
__attribute__((no_stack_protector)) static void constants_lock(uintptr_t base, uintptr_t page_size)
{
	const Elf64_Phdr *header = (const Elf64_Phdr *)(base + __ehdr_start.e_phoff);

	for (int i = 0; i < __ehdr_start.e_phnum; i++) {
		uintptr_t start = (base + header[i].p_vaddr) & ~(page_size - 1);
		uintptr_t end = (base + header[i].p_vaddr + header[i].p_memsz) & ~(page_size - 1);

		if (header[i].p_type == PT_GNU_RELRO && end > start)
			check(mprotect((void *)start, end - start, PROT_READ) == 0);
	}
}

#if defined(__x86_64__)

/* gcc reads the canary at this distance from the thread pointer, whose first word is itself. */
#define CANARY_AT 0x28

static union {
	void *self;
	char bytes[CANARY_AT + sizeof(uintptr_t)];
	uintptr_t words[CANARY_AT / sizeof(uintptr_t) + 1];
} thread;

#define ARCH_SET_FS 0x1002

__attribute__((no_stack_protector)) static void canary_put(uintptr_t canary)
{
	thread.words[CANARY_AT / sizeof(uintptr_t)] = canary;
}

__attribute__((no_stack_protector)) static void canary_set(uintptr_t canary)
{
	const long arguments[6] = { ARCH_SET_FS, (long)(uintptr_t)&thread };

	thread.self = &thread;
	canary_put(canary);
	check(machine_call(SYS_arch_prctl, arguments) == 0);
}

#else

extern uintptr_t __stack_chk_guard;
uintptr_t __stack_chk_guard;

__attribute__((no_stack_protector)) static void canary_put(uintptr_t canary)
{
	__stack_chk_guard = canary;
}

__attribute__((no_stack_protector)) static void canary_set(uintptr_t canary)
{
	canary_put(canary);
}

#endif

/* The kernel's 16 random bytes; the lowest byte is 0, so that a string cannot carry a canary. */
__attribute__((no_stack_protector)) static uintptr_t canary_get(const uintptr_t *stack)
{
	return *(const uintptr_t *)auxiliary_get(stack, AT_RANDOM) & ~(uintptr_t)0xff;
}

/* In a copy of the process, in a function that does not return: what is called from here on has a
 * canary that the process's other copies do not have. */
__attribute__((no_stack_protector)) void bare_canary_renew(void);

void bare_canary_renew(void)
{
	uintptr_t canary;
	const long arguments[6] = { (long)(uintptr_t)&canary, sizeof(canary) };

	check(machine_call(SYS_getrandom, arguments) == sizeof(canary));
	canary_put(canary & ~(uintptr_t)0xff);
}

/* stack is as the kernel left it: argc, argv, envp, the auxiliary vector. execve(2) */
__attribute__((no_stack_protector, noreturn, used)) void bare_start(const uintptr_t *stack);

void bare_start(const uintptr_t *stack)
{
	uintptr_t base = (uintptr_t)&__ehdr_start;

	relocate(base);
	canary_set(canary_get(stack));
	constants_lock(base, auxiliary_get(stack, AT_PAGESZ));
	_exit(main((int)stack[0], (char **)(uintptr_t)(stack + 1)));
}

#if defined(__x86_64__)
__asm__(".pushsection .text\n"
	".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	"	endbr64\n"
	"	xor %ebp, %ebp\n"
	"	mov %rsp, %rdi\n"
	"	and $-16, %rsp\n"
	"	call bare_start\n"
	"	hlt\n"
	".popsection\n");
#else
__asm__(".pushsection .text\n"
	".globl _start\n"
	".type _start, %function\n"
	"_start:\n"
	"	mov x29, #0\n"
	"	mov x30, #0\n"
	"	mov x0, sp\n"
	"	and sp, x0, #-16\n"
	"	bl bare_start\n"
	"	brk #1\n"
	".popsection\n");
#endif
