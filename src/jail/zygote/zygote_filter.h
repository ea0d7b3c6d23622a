#pragma once

#include <stdint.h>

/* A zygote's filter, as a BPF program in a sealed memfd: what is always denied to scripts, but for
 * what it enters a cell with. Its copies inherit it below the script's own. The caller closes
 * *ret_fd; *ret_count is the number of instructions. Returns 0 or -errno. */
int zygote_filter_make(int *ret_fd, uint32_t *ret_count);
