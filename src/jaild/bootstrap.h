#pragma once

#include <stddef.h>

struct template_file;

/* The files of zygote/ that a cell has in /etc/cloche; static storage, *ret_n of them. */
const struct template_file *bootstrap_files(size_t *ret_n);
