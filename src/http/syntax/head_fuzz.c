/*
 * Any bytes are scanned, in two steps as they would drip in, and judged as a whole head. What is
 * accepted must keep the promises of http/syntax/head.h: one reading, slices inside, framing of one
 * kind.
 */
#include "http/syntax/head.h"

#include "base/assert.h"
#include "base/fault.h"
#include "base/str.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_inside(struct str part, struct str whole)
{
	return part.p >= whole.p && part.p + part.n <= whole.p + whole.n;
}

static void check_head(const struct head *head, struct str bytes)
{
	struct str value;

	assert(is_inside(head->method, bytes) && head->method.n > 0);
	assert(is_inside(head->path, head->target) && head->path.n > 0 && head->path.p[0] == '/');
	assert(is_inside(head->query, head->target) && head->target.n <= HEAD_TARGET_MAX);
	assert(head->n_fields <= HEAD_FIELDS_MAX);
	for (size_t i = 0; i < head->n_fields; i++) {
		struct str name = head->fields[i].name;

		value = head->fields[i].value;
		assert(is_inside(name, bytes) && name.n > 0 && is_inside(value, bytes));
		assert(!memchr(name.p, ' ', name.n) && !memchr(name.p, '\t', name.n));
		assert(!memchr(value.p, '\n', value.n) && !memchr(value.p, '\0', value.n));
	}
	assert(head->is_http_1_0 || head_field_get(head, "Host", &value));
	assert(head->is_chunked == head_field_get(head, "Transfer-Encoding", &value));
	assert(!head->is_chunked || !head_field_get(head, "Content-Length", &value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str bytes = { (const char *)data, size };
	struct str half = { bytes.p, size / 2 };
	size_t whole_size = 0, later_size = 0;
	int whole = head_scan(bytes, 0, &whole_size), early = head_scan(half, 0, &later_size);
	struct head head;
	struct fault fault;

	if (early == 0) {
		int later = head_scan(bytes, half.n, &later_size);

		assert(later == whole && (whole != 1 || later_size == whole_size));
	}
	if (whole != 1)
		return 0;
	bytes.n = whole_size;
	if (head_judge(bytes, &head, &fault) == 0)
		check_head(&head, bytes);
	else
		assert(fault.code != FAULT_NONE && fault.text[0]);
	return 0;
}
