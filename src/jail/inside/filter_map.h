#pragma once

#include <linux/filter.h>
#include <stdint.h>

/* Maps the script's filter out of its sealed memfd: count instructions, for the life of the
 * process; fd stays the caller's. Returns 0, -EPERM for what is not sealed, -EBADMSG for another
 * size, or -errno. */
int filter_map(int fd, uint32_t count, const struct sock_filter **ret_filter);

/* The same, copied to where the caller has room for count instructions. */
int filter_read(int fd, uint32_t count, struct sock_filter *ret_filter);
