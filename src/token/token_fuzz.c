/* Any text is read as DIR/tokens; what is taken is written and read again the same. */
#include "token/token.h"

#include "base/assert.h"
#include "base/buf.h"
#include "base/fault.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tokens tokens, again;
	struct fault fault;

	if (tokens_parse((struct str){ .p = (const char *)data, .n = size }, &tokens, &fault) < 0)
		return 0;
	assert(tokens.n <= TOKENS_MAX);
	for (size_t i = 0; i < tokens.n; i++) {
		AUTO_BUF struct buf line = BUF_INIT(1024);

		assert(token_format(&tokens.items[i], &line) == 0);
		assert(tokens_parse(buf_get_slice(&line), &again, &fault) == 0);
		assert(again.n == 1 && again.items[0].scopes == tokens.items[i].scopes);
		assert(strcmp(again.items[0].tenant, tokens.items[i].tenant) == 0);
		free(again.items);
	}
	free(tokens.items);
	return 0;
}
