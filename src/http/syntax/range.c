/*
 * Theory of operation: a server may ignore a Range header (RFC 9110 section 14.2), so everything
 * but one clean range of bytes gets the whole; several ranges in one answer (multipart/byteranges)
 * are how small requests ask for large answers, and no client of ours needs them.
 */
#include "http/syntax/range.h"

#include "base/macro.h"

#include <errno.h>
#include <strings.h>

/* A position; one too large for us is past every end. Returns 0 or -EINVAL. */
static int position_parse(struct str text, uint64_t *ret)
{
	int r = str_to_u64(text, INT64_MAX, ret);

	if (r == -ERANGE) {
		*ret = INT64_MAX;
		return 0;
	}
	return r;
}

/* "-N": the last N bytes. */
static enum range suffix_parse(
	struct str text, uint64_t size, uint64_t *ret_first, uint64_t *ret_length)
{
	uint64_t n;

	if (position_parse(text, &n) < 0)
		return RANGE_WHOLE;
	if (n == 0)
		return RANGE_UNSATISFIABLE;
	if (size == 0)
		return RANGE_WHOLE; /* satisfiable, but Content-Range cannot say "no bytes" */
	n = MIN(n, size);
	*ret_first = size - n;
	*ret_length = n;
	return RANGE_PART;
}

enum range range_parse(struct str header, uint64_t size, uint64_t *ret_first, uint64_t *ret_length)
{
	struct str unit, set, left, right;
	uint64_t first, last = INT64_MAX;

	if (!str_split_once(header, '=', &unit, &set) || unit.n != 5 ||
		strncasecmp(unit.p, "bytes", 5) != 0)
		return RANGE_WHOLE;
	if (!str_split_once(str_trim(set), '-', &left, &right))
		return RANGE_WHOLE;
	if (left.n == 0)
		return suffix_parse(right, size, ret_first, ret_length);
	if (position_parse(left, &first) < 0)
		return RANGE_WHOLE;
	if (right.n > 0 && (position_parse(right, &last) < 0 || last < first))
		return RANGE_WHOLE;
	if (first >= size)
		return RANGE_UNSATISFIABLE;
	*ret_first = first;
	*ret_length = MIN(last, size - 1) - first + 1;
	return RANGE_PART;
}
