/* Makes one 32-bit system call from 64-bit code; ends with 0 and prints the answer when the kernel
 * took it. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	long answer;

	if (argc < 2)
		return 2;
	__asm__ volatile("int $0x80"
			 : "=a"(answer)
			 : "a"(atol(argv[1])), "b"(0L), "c"(0L), "d"(0L)
			 : "memory");
	printf("%ld\n", answer);
	return 0;
}
