#include "init/bare/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * System calls as the C library names them, one line each: the kernel's answer, or -1 with errno.
 * Where library and kernel differ in form it stands at the function.
 */

#define SIGNAL_SET_SIZE 8 /* the kernel's sigset_t; the library's is longer */

/* Not only here: also named by assembly below. */
__attribute__((visibility("hidden"))) int bare_errno;

int *__errno_location(void)
{
	return &bare_errno;
}

static long answer(long result)
{
	if (result >= 0 || result < -4095)
		return result;
	bare_errno = (int)-result;
	return -1;
}

#define WORD(value)	((long)(uintptr_t)(value))
#define CALL(name, ...) answer(machine_call(SYS_##name, (const long[6]){ __VA_OPT__(__VA_ARGS__) }))

long syscall(long number, ...)
{
	long arguments[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	return answer(machine_call(number, arguments));
}

int prctl(int option, ...)
{
	long arguments[6] = { option };
	va_list list;

	va_start(list, option);
	for (int i = 1; i < 5; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	return (int)answer(machine_call(SYS_prctl, arguments));
}

int fcntl(int fd, int command, ...)
{
	va_list list;
	long argument;

	va_start(list, command);
	argument = va_arg(list, long);
	va_end(list);
	return (int)CALL(fcntl, fd, command, argument);
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list list;
	long argument;

	va_start(list, request);
	argument = va_arg(list, long);
	va_end(list);
	return (int)CALL(ioctl, fd, (long)request, argument);
}

int openat(int dirfd, const char *path, int flags, ...)
{
	va_list list;
	long mode;

	va_start(list, flags);
	mode = flags & O_CREAT ? (long)va_arg(list, mode_t) : 0;
	va_end(list);
	return (int)CALL(openat, dirfd, WORD(path), flags, mode);
}

int open(const char *path, int flags, ...)
{
	va_list list;
	long mode;

	va_start(list, flags);
	mode = flags & O_CREAT ? (long)va_arg(list, mode_t) : 0;
	va_end(list);
	return (int)CALL(openat, AT_FDCWD, WORD(path), flags, mode);
}

/* FORTIFY's name for an open without a mode (meson asks for 64-bit offsets, as it does everywhere).
 */
int __open64_2(const char *path, int flags);
int __open64_2(const char *path, int flags)
{
	return (int)CALL(openat, AT_FDCWD, WORD(path), flags);
}

int close(int fd)
{
	return (int)CALL(close, fd);
}

int close_range(unsigned first, unsigned last, int flags)
{
	return (int)CALL(close_range, first, last, flags);
}

/* dup3(2) refuses equal numbers, which dup2 takes. */
int dup2(int from, int to)
{
	if (from == to)
		return (int)CALL(fcntl, from, F_GETFD) < 0 ? -1 : to;
	return (int)CALL(dup3, from, to);
}

ssize_t read(int fd, void *data, size_t size)
{
	return CALL(read, fd, WORD(data), (long)size);
}

ssize_t pread(int fd, void *data, size_t size, off_t at)
{
	return CALL(pread64, fd, WORD(data), (long)size, at);
}

ssize_t write(int fd, const void *data, size_t size)
{
	return CALL(write, fd, WORD(data), (long)size);
}

int fstat(int fd, struct stat *status)
{
	return (int)CALL(fstat, fd, WORD(status));
}

int fchmod(int fd, mode_t mode)
{
	return (int)CALL(fchmod, fd, mode);
}

int chdir(const char *path)
{
	return (int)CALL(chdir, WORD(path));
}

mode_t umask(mode_t mask)
{
	return (mode_t)CALL(umask, mask);
}

int mount(const char *source, const char *target, const char *type, unsigned long flags,
	const void *data)
{
	return (int)CALL(mount, WORD(source), WORD(target), WORD(type), (long)flags, WORD(data));
}

int move_mount(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
	return (int)CALL(move_mount, from_fd, WORD(from), to_fd, WORD(to), flags);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	return (void *)CALL(mmap, WORD(at), (long)size, protection, flags, fd, offset);
}

int munmap(void *at, size_t size)
{
	return (int)CALL(munmap, WORD(at), (long)size);
}

int mprotect(void *at, size_t size, int protection)
{
	return (int)CALL(mprotect, WORD(at), (long)size, protection);
}

int socket(int family, int type, int protocol)
{
	return (int)CALL(socket, family, type, protocol);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	return CALL(sendmsg, fd, WORD(message), flags);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	return CALL(recvmsg, fd, WORD(message), flags);
}

int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	struct timespec timeout = { .tv_sec = timeout_ms / 1000,
		.tv_nsec = timeout_ms % 1000 * 1000000L };

	return (int)CALL(
		ppoll, WORD(fds), (long)n, timeout_ms < 0 ? 0 : WORD(&timeout), 0, SIGNAL_SET_SIZE);
}

int sigemptyset(sigset_t *set)
{
	*set = (sigset_t){ 0 };
	return 0;
}

int sigaddset(sigset_t *set, int number)
{
	set->__val[0] |= 1UL << (number - 1);
	return 0;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	return (int)CALL(rt_sigprocmask, how, WORD(set), WORD(old), SIGNAL_SET_SIZE);
}

int signalfd(int fd, const sigset_t *set, int flags)
{
	return (int)CALL(signalfd4, fd, WORD(set), SIGNAL_SET_SIZE, flags);
}

int setns(int fd, int kind)
{
	return (int)CALL(setns, fd, kind);
}

pid_t getpid(void)
{
	return (pid_t)CALL(getpid);
}

pid_t setsid(void)
{
	return (pid_t)CALL(setsid);
}

int sethostname(const char *name, size_t size)
{
	return (int)CALL(sethostname, WORD(name), (long)size);
}

int personality(unsigned long persona)
{
	return (int)CALL(personality, (long)persona);
}

int getrlimit(__rlimit_resource_t resource, struct rlimit *limit)
{
	return (int)CALL(prlimit64, 0, resource, 0, WORD(limit));
}

int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
	return (int)CALL(prlimit64, 0, resource, WORD(limit), 0);
}

int sched_getscheduler(pid_t pid)
{
	return (int)CALL(sched_getscheduler, pid);
}

int sched_setscheduler(pid_t pid, int policy, const struct sched_param *param)
{
	return (int)CALL(sched_setscheduler, pid, policy, WORD(param));
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	return (int)CALL(sched_setaffinity, pid, (long)size, WORD(set));
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	return (int)CALL(clock_gettime, clock, WORD(time));
}

pid_t wait4(pid_t pid, int *status, int flags, struct rusage *usage)
{
	return (pid_t)CALL(wait4, pid, WORD(status), flags, WORD(usage));
}

int execve(const char *path, char *const argv[], char *const envp[])
{
	return (int)CALL(execve, WORD(path), WORD(argv), WORD(envp));
}

void _exit(int status)
{
	(void)CALL(exit_group, status);
	__builtin_trap();
}

/* Process 1 ignores SIGABRT; a trap ends it. */
void abort(void)
{
	__builtin_trap();
}

void __stack_chk_fail(void);
void __stack_chk_fail(void)
{
	__builtin_trap();
}

/*
 * The child runs on our stack and writes over what lies below the caller's frame, so nothing of
 * ours may lie there: the way back is kept in a register.
 */
#if defined(__x86_64__)
__asm__(".pushsection .text\n"
	".globl vfork\n"
	".type vfork, @function\n"
	"vfork:\n"
	"	endbr64\n"
	"	pop %rdx\n"
	"	mov $58, %eax\n" /* SYS_vfork */
	"	syscall\n"
	"	push %rdx\n"
	"	cmp $-4095, %rax\n"
	"	jae 1f\n"
	"	ret\n"
	"1:	neg %eax\n"
	"	mov %eax, bare_errno(%rip)\n"
	"	mov $-1, %eax\n"
	"	ret\n"
	".popsection\n");
#else
__asm__(".pushsection .text\n"
	".globl vfork\n"
	".type vfork, %function\n"
	"vfork:\n"
	"	mov x0, #0x4111\n" /* CLONE_VFORK | CLONE_VM | SIGCHLD */
	"	mov x1, #0\n"
	"	mov x8, #220\n" /* SYS_clone */
	"	svc 0\n"
	"	cmn x0, #4095\n"
	"	b.hs 1f\n"
	"	ret\n"
	"1:	neg w0, w0\n"
	"	adrp x1, bare_errno\n"
	"	str w0, [x1, #:lo12:bare_errno]\n"
	"	mov w0, #-1\n"
	"	ret\n"
	".popsection\n");
#endif
