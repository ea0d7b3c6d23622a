#pragma once

#include <stdint.h>

struct buf;

/* Numbers as people read them: three digits say enough. Nothing is appended when out is full. */

/* "512 bytes", "34.1 KiB", "256 MiB". */
void human_bytes(struct buf *out, uint64_t bytes);

/* "12 ms", "0.83 s", "12.4 s", "30 s". */
void human_duration(struct buf *out, uint64_t us);
