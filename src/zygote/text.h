#pragma once

/*
 * The mappings of the program and its libraries, arranged for copies: each mapping costs a copy 1.6
 * us at its birth and 1 us at its end, and each part of the text that it executes a fault, since
 * clone(2) copies no page tables of files. Call it when all is loaded; what the kernel refuses
 * stays as it is.
 */

/* Makes one mapping of what is read and what is executed, where these lie side by side, and takes
 * the program's own text out of its file into huge pages, as far as whole ones fit. Read-only data
 * can be executed then; nothing that can be written can. madvise(2) */
void text_gather(void);
