/*
 * Any text is parsed; what the callback is shown must lie inside the text and keep the promises of
 * base/conf.h.
 */
#include "base/conf.h"

#include "base/assert.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int on_value(void *ctx, struct str section, struct str key, struct str value, unsigned line)
{
	const struct str *text = ctx;

	assert(line > 0);
	assert(key.n > 0 && key.p >= text->p && key.p + key.n <= text->p + text->n);
	assert(value.p >= text->p && value.p + value.n <= text->p + text->n);
	assert(section.n + key.n + value.n <= 2 * CONF_LINE_MAX);
	return value.n == 3 ? -22 : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct conf_error error;
	int r = conf_parse(text, on_value, &text, &error);

	assert((r < 0) == (error.line > 0) && (r < 0) == (error.text[0] != '\0'));
	return 0;
}
