#pragma once

#include "base/str.h"
#include "wire/package.h"

struct buf;

/* In which language a script is, and its text as that language wants it. */

/* "python" or "bash", as options and the API name them. Returns 0 or -EINVAL. */
int language_parse(struct str name, enum package_language *ret_language);
const char *language_name(enum package_language language);

/* By the extension of the file's name (.py, .sh, .bash), else by the first line (#! with python,
 * bash or sh). Returns 0, or -ENOENT when neither tells. */
int language_guess(struct str file_name, struct str code, enum package_language *ret_language);

/* Appends the code as the interpreter gets it: in bash CR LF and a lone CR become LF (B10), Python
 * is left alone, as it reads all three itself. Returns 0 or -ENOBUFS. */
int language_normalise(enum package_language language, struct str code, struct buf *out);
