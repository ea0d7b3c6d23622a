#include "zygote/text.h"

#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

/*
 * Theory of operation. Linkers make three read-only segments, of which the middle one is executed,
 * in one row of a file: with the same protection the kernel merges them by itself. To let the outer
 * two be executed takes nothing from anybody: a script may make memory of its own that is executed.
 *
 * The text in huge pages is a copy in anonymous memory, moved over the mapping of the file: such
 * page tables are copied, one entry for 2 MiB, and have no faults.
 */

#define PAGE_BYTES 4096ULL
#define HUGE_BYTES (2ULL << 20)

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

/* Addresses [from, to). */
struct row {
	uint64_t from;
	uint64_t to;
};

static void *at(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

/* The read-only segments at an object's start, without a gap; empty if there is none. */
static struct row row_of(const struct dl_phdr_info *info)
{
	struct row row = { 0 };

	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t from = (info->dlpi_addr + segment->p_vaddr) & ~(PAGE_BYTES - 1);
		uint64_t to = info->dlpi_addr + segment->p_vaddr + segment->p_memsz;

		if (segment->p_type != PT_LOAD)
			continue;
		if (row.to > from)
			row.to = from; /* they share a page, which is as the later one is */
		if (segment->p_flags & PF_W || (row.to > 0 && row.to != from))
			break;
		if (row.to == 0)
			row.from = from;
		row.to = (to + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	}
	return row;
}

/* Whether a copy of the row's bytes lies in huge pages at place, to be executed. */
static bool copied(const struct row *row, void *place)
{
	size_t size = row->to - row->from;

	(void)madvise(place, size, MADV_HUGEPAGE);
	memcpy(place, at(row->from), size);
	return madvise(place, size, MADV_COLLAPSE) == 0 &&
	       mprotect(place, size, PROT_READ | PROT_EXEC) == 0;
}

static void row_copy(const struct row *row)
{
	size_t size = row->to - row->from;
	void *memory = mmap(NULL, size + HUGE_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t start = (uintptr_t)memory, place = (start + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);

	if (memory == MAP_FAILED)
		return;
	if (copied(row, at(place)))
		(void)mremap(at(place), size, size, MREMAP_MAYMOVE | MREMAP_FIXED, at(row->from));
	(void)munmap(memory, size + HUGE_BYTES);
}

static int object_gather(struct dl_phdr_info *info, size_t size, void *is_first)
{
	struct row row = row_of(info);

	(void)size;
	if (row.from < row.to)
		(void)mprotect(at(row.from), row.to - row.from, PROT_READ | PROT_EXEC);
	if (*(bool *)is_first) { /* the program */
		row.from = (row.from + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
		row.to &= ~(HUGE_BYTES - 1);
		if (row.from < row.to)
			row_copy(&row);
	}
	*(bool *)is_first = false;
	return 0;
}

void text_gather(void)
{
	bool is_first = true;

	(void)dl_iterate_phdr(object_gather, &is_first);
}
