#pragma once

/*
 * Force-included in every source (meson.build): these functions have no safe use. The headers that
 * declare them come first, since a poisoned name may not appear even there; #undef because clang
 * and _FORTIFY_SOURCE make some of them macros. git's banned.h is the model.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#undef strcpy
#undef stpcpy
#undef strncpy
#undef strcat
#undef strncat
#undef sprintf
#undef vsprintf
#undef gets
#undef strtok
#undef atoi
#undef atol
#undef atoll
#undef system
#undef popen
#undef alloca
#undef mktemp
#undef tmpnam
#undef tempnam

#pragma GCC poison strcpy stpcpy strncpy strcat strncat
#pragma GCC poison sprintf vsprintf gets strtok
#pragma GCC poison atoi atol atoll
#pragma GCC poison system popen alloca mktemp tmpnam tempnam
