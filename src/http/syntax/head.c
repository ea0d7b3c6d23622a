/*
 * Theory of operation: head_scan walks over new bytes once, however slowly they drip in, and
 * refuses what no head may hold; head_judge then reads the whole head line by line. Where RFC 9112
 * lets a server choose between repair and refusal (bare LF, empty lines before the request, folded
 * lines, two equal Content-Lengths, absolute-form), we refuse: every repair is a second reading,
 * and two readings of one request are how requests are smuggled. The field rules are one table.
 */
#include "http/syntax/head.h"

#include "base/fault.h"
#include "base/macro.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#define METHOD_MAX 16 /* bytes: the longest registered that a client may try is PROPPATCH */

int head_scan(struct str bytes, size_t from, size_t *ret_size)
{
	for (size_t i = from; i < bytes.n; i++) {
		unsigned char c = (unsigned char)bytes.p[i];
		bool is_after_cr = i > 0 && bytes.p[i - 1] == '\r';

		if (is_after_cr != (c == '\n'))
			return -EBADMSG;
		if (c == '\n' && i >= 3 && bytes.p[i - 2] == '\n') {
			*ret_size = i + 1;
			return 1;
		}
		if ((c < 0x20 && c != '\r' && c != '\n' && c != '\t') || c == 0x7f)
			return -EBADMSG;
	}
	return 0;
}

static int refuse(struct fault *fault, enum fault_code code, const char *text)
{
	fault_set(fault, code, "%s", text);
	return -EBADMSG;
}

static int malformed(struct fault *fault, const char *text)
{
	return refuse(fault, FAULT_BAD_REQUEST, text);
}

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* RFC 9110 section 5.6.2 */
static bool is_token(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (!is_alnum(s.p[i]) && (!s.p[i] || !strchr("!#$%&'*+-.^_`|~", s.p[i])))
			return false;
	}
	return s.n > 0;
}

static bool is_same(struct str s, const char *name)
{
	return s.n == strlen(name) && strncasecmp(s.p, name, s.n) == 0;
}

/* Only visible ASCII, and no fragment: RFC 9112 section 3.2.1. */
static bool is_target(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] <= ' ' || s.p[i] > '~' || s.p[i] == '#')
			return false;
	}
	return s.n > 0 && s.p[0] == '/';
}

/* The bytes before the next CR LF, which leave *rest; head_scan has seen that all lines end so. */
static struct str line_take(struct str *rest)
{
	const char *end = memchr(rest->p, '\r', rest->n);
	struct str line = { rest->p, end ? (size_t)(end - rest->p) : rest->n };
	size_t used = MIN(line.n + 2, rest->n);

	rest->p += used;
	rest->n -= used;
	return line;
}

static int judge_request_line(struct str line, struct head *head, struct fault *fault)
{
	struct str rest, version, query;

	if (!str_split_once(line, ' ', &head->method, &rest) ||
		!str_split_once(rest, ' ', &head->target, &version))
		return malformed(fault, "The request line is not METHOD TARGET HTTP/1.1.");
	if (!is_token(head->method) || head->method.n > METHOD_MAX)
		return malformed(fault, "The method is not a token of 1 to 16 characters.");
	if (head->target.n > HEAD_TARGET_MAX)
		return refuse(fault, FAULT_URI_TOO_LONG, "The target is over 13 KiB.");
	if (!is_target(head->target))
		return malformed(fault, "The target is not /path?query in visible ASCII.");
	head->is_http_1_0 = str_eq(version, STR("HTTP/1.0"));
	if (!head->is_http_1_0 && !str_eq(version, STR("HTTP/1.1")))
		return malformed(fault, "The version is neither HTTP/1.1 nor HTTP/1.0.");
	(void)str_split_once(head->target, '?', &head->path, &query);
	head->query = query;
	return 0;
}

static const char *judge_host(struct head *head, struct str value)
{
	(void)head;
	for (size_t i = 0; i < value.n; i++) {
		if (!is_alnum(value.p[i]) && !strchr("-._~:[]", value.p[i]))
			return "Host is not a name or address with a port.";
	}
	return value.n > 0 ? NULL : "Host is empty.";
}

static const char *judge_length(struct head *head, struct str value)
{
	if (str_to_u64(value, INT64_MAX, &head->length) < 0)
		return "Content-Length is not one decimal number.";
	return NULL;
}

static const char *judge_transfer(struct head *head, struct str value)
{
	head->is_chunked = is_same(value, "chunked");
	return head->is_chunked ? NULL : "Transfer-Encoding is not exactly chunked.";
}

static const char *judge_te(struct head *head, struct str value)
{
	(void)head;
	return value.n == 0 || is_same(value, "trailers") ? NULL : "TE is not exactly trailers.";
}

static const char *judge_expect(struct head *head, struct str value)
{
	(void)head;
	return is_same(value, "100-continue") ? NULL : "Expect is not 100-continue.";
}

/* Fields that may come once only, with what their value must be. */
static const struct single {
	const char *name;
	const char *(*judge)(struct head *head, struct str value); /* returns what is wrong */
} singles[] = {
	{ "host", judge_host },
	{ "content-length", judge_length },
	{ "transfer-encoding", judge_transfer },
	{ "te", judge_te },
	{ "expect", judge_expect },
	{ "authorization", NULL },
	{ "content-type", NULL },
	{ "range", NULL },
};

/* What is wrong with this field, or NULL. */
static const char *judge_single(struct head *head, const struct head_field *field)
{
	struct str before;

	for (size_t i = 0; i < ARRAY_SIZE(singles); i++) {
		if (!is_same(field->name, singles[i].name))
			continue;
		if (head_field_get(head, singles[i].name, &before))
			return "A header that may come once came twice.";
		return singles[i].judge ? singles[i].judge(head, field->value) : NULL;
	}
	return NULL;
}

static int judge_field(struct str line, struct head *head, struct fault *fault)
{
	struct head_field field;
	const char *wrong;

	if (head->n_fields >= HEAD_FIELDS_MAX)
		return refuse(fault, FAULT_HEADERS_TOO_LARGE, "There are more than 100 headers.");
	if (!str_split_once(line, ':', &field.name, &field.value) || !is_token(field.name))
		return malformed(
			fault, "A header is not NAME: VALUE with nothing before the colon.");
	field.value = str_trim(field.value);
	wrong = judge_single(head, &field);
	if (wrong)
		return malformed(fault, wrong);
	head->fields[head->n_fields++] = field;
	return 0;
}

/* Rules over several fields: RFC 9112 sections 3.2 and 6.1. */
static int judge_framing(const struct head *head, struct fault *fault)
{
	struct str value;

	if (!head->is_http_1_0 && !head_field_get(head, "host", &value))
		return malformed(fault, "Host is missing.");
	if (head->is_chunked && head_field_get(head, "content-length", &value))
		return malformed(fault, "Content-Length and Transfer-Encoding exclude each other.");
	if (head->is_chunked && head->is_http_1_0)
		return malformed(fault, "HTTP/1.0 has no Transfer-Encoding.");
	return 0;
}

int head_judge(struct str bytes, struct head *ret_head, struct fault *ret_fault)
{
	struct str rest = bytes, line;
	int r;

	if (bytes.n > HEAD_MAX)
		return refuse(ret_fault, FAULT_HEADERS_TOO_LARGE, "The head is over 16 KiB.");
	memset(ret_head, 0, sizeof(*ret_head));
	r = judge_request_line(line_take(&rest), ret_head, ret_fault);
	if (r < 0)
		return r;
	for (line = line_take(&rest); line.n > 0; line = line_take(&rest)) {
		r = judge_field(line, ret_head, ret_fault);
		if (r < 0)
			return r;
	}
	return judge_framing(ret_head, ret_fault);
}

bool head_field_get(const struct head *head, const char *name, struct str *ret_value)
{
	for (size_t i = 0; i < head->n_fields; i++) {
		if (is_same(head->fields[i].name, name)) {
			*ret_value = head->fields[i].value;
			return true;
		}
	}
	return false;
}
