/*
 * Theory of operation: one function, sequence_at, knows table 3-7 of the Unicode Standard: for a
 * lead byte, the length and the range of the second byte (which is what excludes overlong forms,
 * surrogates and what lies over U+10FFFF); later bytes are 80..BF. Everything else asks it. A
 * "maximal invalid subpart" is the longest start of a valid sequence, or one byte.
 */
#include "base/utf8.h"

#include <errno.h>
#include <string.h>

struct lead {
	unsigned char from, to; /* lead bytes */
	unsigned char length;	/* of the whole sequence */
	unsigned char min, max; /* of the second byte */
};

static const struct lead leads[] = {
	{ 0x00, 0x7f, 1, 0, 0 },
	{ 0xc2, 0xdf, 2, 0x80, 0xbf },
	{ 0xe0, 0xe0, 3, 0xa0, 0xbf },
	{ 0xe1, 0xec, 3, 0x80, 0xbf },
	{ 0xed, 0xed, 3, 0x80, 0x9f },
	{ 0xee, 0xef, 3, 0x80, 0xbf },
	{ 0xf0, 0xf0, 4, 0x90, 0xbf },
	{ 0xf1, 0xf3, 4, 0x80, 0xbf },
	{ 0xf4, 0xf4, 4, 0x80, 0x8f },
};

struct sequence {
	size_t used; /* bytes that belong together, at least 1 */
	enum {
		SEQUENCE_WHOLE,
		SEQUENCE_BROKEN,
		SEQUENCE_UNFINISHED
	} state;
};

static const struct lead *lead_find(unsigned char c)
{
	for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++)
		if (c >= leads[i].from && c <= leads[i].to)
			return &leads[i];
	return NULL;
}

/* Looks at the sequence that starts at p, n >= 1 bytes before the end. */
static struct sequence sequence_at(const char *p, size_t n)
{
	const unsigned char *s = (const unsigned char *)p;
	const struct lead *lead = lead_find(s[0]);

	if (!lead)
		return (struct sequence){ 1, SEQUENCE_BROKEN };
	for (size_t i = 1; i < lead->length; i++) {
		unsigned char min = i == 1 ? lead->min : 0x80;
		unsigned char max = i == 1 ? lead->max : 0xbf;

		if (i == n)
			return (struct sequence){ n, SEQUENCE_UNFINISHED };
		if (s[i] < min || s[i] > max)
			return (struct sequence){ i, SEQUENCE_BROKEN };
	}
	return (struct sequence){ lead->length, SEQUENCE_WHOLE };
}

/* Length of the valid text at the start of the n bytes at p. */
static size_t valid_prefix(const char *p, size_t n)
{
	size_t at = 0;

	while (at < n) {
		struct sequence seq = sequence_at(p + at, n - at);

		if (seq.state != SEQUENCE_WHOLE)
			break;
		at += seq.used;
	}
	return at;
}

bool utf8_is_valid(const char *p, size_t n)
{
	return valid_prefix(p, n) == n;
}

int utf8_repair(struct buf *out, const char *p, size_t n)
{
	while (n > 0) {
		size_t good = valid_prefix(p, n);
		int r = good > 0 ? buf_add(out, p, good) : 0;

		if (r < 0)
			return r;
		p += good;
		n -= good;
		if (n > 0) {
			size_t bad = sequence_at(p, n).used;

			r = buf_add_str(out, "\xef\xbf\xbd");
			if (r < 0)
				return r;
			p += bad;
			n -= bad;
		}
	}
	return 0;
}

size_t utf8_unfinished(const char *p, size_t n)
{
	/* A sequence has 4 bytes at most, so an unfinished one starts in the last 3. */
	for (size_t back = 1; back <= 3 && back <= n; back++) {
		const char *start = p + (n - back);

		if (((unsigned char)*start & 0xc0) == 0x80)
			continue;
		return sequence_at(start, back).state == SEQUENCE_UNFINISHED ? back : 0;
	}
	return 0;
}

/* Bytes of the whole character at p, 0 if there is none. */
static size_t character_size(const char *p, size_t n)
{
	for (size_t size = 1; size <= 4 && size <= n; size++)
		if (utf8_is_valid(p, size))
			return size;
	return 0;
}

/* The list of utf8_shown, as UTF-8. */
static bool is_misleading(const unsigned char *p, size_t n)
{
	if (n == 2)
		return p[0] == 0xd8 && p[1] == 0x9c;
	if (n != 3)
		return false;
	if (p[0] == 0xe2 && p[1] == 0x80)
		return (p[2] >= 0x8b && p[2] <= 0x8f) || (p[2] >= 0xa8 && p[2] <= 0xae);
	if (p[0] == 0xe2 && p[1] == 0x81)
		return p[2] >= 0xa0 && p[2] <= 0xaf;
	return p[0] == 0xef && p[1] == 0xbb && p[2] == 0xbf;
}

size_t utf8_shown(const char *p, size_t n)
{
	const unsigned char *bytes = (const unsigned char *)p;
	size_t size = character_size(p, n);

	if (size == 0 || bytes[0] < 0x20 || bytes[0] == 0x7f)
		return 0;
	/* C1 controls are U+0080 .. U+009F, which is C2 80 .. C2 9F. */
	if (bytes[0] == 0xc2 && bytes[1] < 0xa0)
		return 0;
	return is_misleading(bytes, size) ? 0 : size;
}

void utf8_clean(char *text)
{
	size_t left = strlen(text);

	while (left > 0) {
		size_t n = utf8_shown(text, left);

		if (n == 0) {
			*text = '?';
			n = 1;
		}
		text += n;
		left -= n;
	}
}
