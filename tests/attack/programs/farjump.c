/* Enters the 32-bit code segment by a far return and makes 32-bit calls there: getpid, then
 * exit(42). */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

int main(void)
{
	static const uint8_t code[] = {
		0xb8, 20, 0, 0, 0, 0xcd, 0x80,	     /* mov $20, %eax; int $0x80 */
		0xb8, 1, 0, 0, 0, 0xbb, 42, 0, 0, 0, /* mov $1, %eax; mov $42, %ebx */
		0xcd, 0x80,			     /* int $0x80 */
	};
	uint8_t *low = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	if (low == MAP_FAILED)
		return 3;
	memcpy(low, code, sizeof(code));
	__asm__ volatile("lea 8192(%0), %%rsp\n\tsub $64, %%rsp\n\tpushq $0x23\n\tpushq %0\n\tlretq"
			 :
			 : "r"((uint64_t)low));
	return 4;
}
