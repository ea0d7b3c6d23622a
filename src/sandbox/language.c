/* What a person said wins, then the name, then the first line; nothing is guessed from the code. */
#include "sandbox/language.h"

#include "base/assert.h"
#include "base/buf.h"

#include <errno.h>
#include <string.h>

int language_parse(struct str name, enum package_language *ret_language)
{
	if (str_eq(name, STR("python")))
		*ret_language = PACKAGE_PYTHON;
	else if (str_eq(name, STR("bash")))
		*ret_language = PACKAGE_BASH;
	else
		return -EINVAL;
	return 0;
}

const char *language_name(enum package_language language)
{
	switch (language) {
	case PACKAGE_PYTHON:
		return "python";
	case PACKAGE_BASH:
		return "bash";
	case PACKAGE_PROGRAM:
		return "program";
	case PACKAGE_LANGUAGE_MAX:
		break;
	}
	unreachable_();
}

/* A word of a first line: "/usr/bin/python3.11", "python3", "bash". */
static int word_language(struct str word, enum package_language *ret_language)
{
	const char *slash = word.n > 0 ? memrchr(word.p, '/', word.n) : NULL;

	if (slash) {
		word.n = (size_t)(word.p + word.n - slash) - 1;
		word.p = slash + 1;
	}
	if (str_starts(word, STR("python")))
		*ret_language = PACKAGE_PYTHON;
	else if (str_eq(word, STR("bash")) || str_eq(word, STR("sh")))
		*ret_language = PACKAGE_BASH;
	else
		return -ENOENT;
	return 0;
}

/* "#!/usr/bin/env -S python3 -u": the first word that is an interpreter. */
static int first_line_language(struct str code, enum package_language *ret_language)
{
	struct str line, word;

	if (!str_starts(code, STR("#!")))
		return -ENOENT;
	(void)str_split_once(code, '\n', &line, &code);
	line = str_trim((struct str){ .p = line.p + 2, .n = line.n - 2 });
	while (line.n > 0) {
		(void)str_split_once(line, ' ', &word, &line);
		if (word_language(word, ret_language) == 0)
			return 0;
	}
	return -ENOENT;
}

int language_guess(struct str file_name, struct str code, enum package_language *ret_language)
{
	if (str_ends(file_name, STR(".py"))) {
		*ret_language = PACKAGE_PYTHON;
		return 0;
	}
	if (str_ends(file_name, STR(".sh")) || str_ends(file_name, STR(".bash"))) {
		*ret_language = PACKAGE_BASH;
		return 0;
	}
	return first_line_language(code, ret_language);
}

int language_normalise(enum package_language language, struct str code, struct buf *out)
{
	int r = 0;

	if (language != PACKAGE_BASH)
		return buf_add_slice(out, code);
	while (code.n > 0 && r == 0) {
		struct str line, rest;
		bool has_cr = str_split_once(code, '\r', &line, &rest);

		r = buf_add_slice(out, line);
		if (has_cr && r == 0) {
			if (!str_starts(rest, STR("\n")))
				r = buf_add_char(out, '\n');
		}
		code = rest;
	}
	return r;
}
