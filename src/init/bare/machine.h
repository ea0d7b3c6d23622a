#pragma once

#include <sys/syscall.h>

/*
 * What differs between processors: the system call instruction, the place of the stack protector's
 * canary, the one kind of relocation that a static program has.
 */

#if defined(__x86_64__)

#define MACHINE_RELATIVE 8 /* R_X86_64_RELATIVE */

static inline long machine_call(long number, const long arguments[6])
{
	register long r10 __asm__("r10") = arguments[3];
	register long r8 __asm__("r8") = arguments[4];
	register long r9 __asm__("r9") = arguments[5];
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(arguments[0]), "S"(arguments[1]), "d"(arguments[2]),
			 "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#elif defined(__aarch64__)

#define MACHINE_RELATIVE 1027 /* R_AARCH64_RELATIVE */

static inline long machine_call(long number, const long arguments[6])
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = arguments[0];
	register long x1 __asm__("x1") = arguments[1];
	register long x2 __asm__("x2") = arguments[2];
	register long x3 __asm__("x3") = arguments[3];
	register long x4 __asm__("x4") = arguments[4];
	register long x5 __asm__("x5") = arguments[5];

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

#else
#error "init/bare does not know this processor"
#endif
