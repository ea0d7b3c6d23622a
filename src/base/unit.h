#pragma once

/* cmocka after the headers that it needs and does not include. For x_test.c only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
