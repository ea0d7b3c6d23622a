#pragma once

#include <stdint.h>

struct buf;

/* Numbers as people read them: three digits say enough. Nothing is appended when out is full. */

/* "512 bytes", "34.1 KiB", "256 MiB". */
void human_bytes(struct buf *out, uint64_t bytes);

/* Whole milliseconds as the answer has them, not rounded up: "12 ms"; "0.83 s", "12.4 s", "30 s";
 * from 10 minutes on "30 min", from 2 hours "5 h", from 2 days "30 d". */
void human_duration(struct buf *out, uint64_t us);
