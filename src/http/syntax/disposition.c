#include "http/syntax/disposition.h"

#include "base/buf.h"
#include "base/utf8.h"

#include <limits.h>
#include <stdbool.h>

/* attr-char of RFC 8187 section 3.2.1 */
static bool is_plain(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("!#$&+-.^_`|~", c));
}

static struct str last_part(struct str path)
{
	struct str name = path, rest;

	while (str_split_once(name, '/', &rest, &rest))
		name = rest;
	if (name.n > NAME_MAX)
		name.n = NAME_MAX;
	return name;
}

void disposition_make(struct str path, char ret_value[DISPOSITION_SIZE])
{
	AUTO_BUF struct buf text = BUF_INIT(DISPOSITION_SIZE - 1);
	AUTO_BUF struct buf repaired = BUF_INIT(NAME_MAX * 3 + 1);
	struct str name = last_part(path);
	bool is_all_plain = true;

	(void)buf_add_str(&text, "attachment; filename=\"");
	for (size_t i = 0; i < name.n; i++) {
		bool is_good = is_plain(name.p[i]) || name.p[i] == ' ';

		is_all_plain = is_all_plain && is_good;
		(void)buf_add_char(&text, is_good ? name.p[i] : '_');
	}
	(void)buf_add_char(&text, '"');
	if (!is_all_plain) {
		(void)utf8_repair(&repaired, name.p, name.n);
		(void)buf_add_str(&text, "; filename*=UTF-8''");
	}
	for (size_t i = 0; i < repaired.len; i++) {
		char c = repaired.data[i];
		int r = is_plain(c) ? buf_add_char(&text, c)
				    : buf_addf(&text, "%%%02X", (unsigned)(unsigned char)c);

		if (r < 0)
			break;
	}
	(void)str_copy(ret_value, DISPOSITION_SIZE, buf_get_cstr(&text));
}
