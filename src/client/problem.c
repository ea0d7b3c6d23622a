#include "client/problem.h"

#include "base/fault.h"
#include "base/utf8.h"
#include "json/json.h"
#include "json/parse.h"

#include <errno.h>
#include <string.h>

/* Copies a member's text, cut, for a terminal or a log line. */
static void text_take(const struct json *problem, const char *name, char *text, size_t size)
{
	struct str value = { NULL, 0 };
	size_t n;

	(void)json_as_text(json_get(problem, name), &value);
	n = value.n < size ? value.n : size - 1;
	if (n > 0)
		memcpy(text, value.p, n);
	text[n] = '\0';
	utf8_clean(text);
}

static enum fault_code code_find(struct str name, int64_t status)
{
	for (int i = FAULT_NONE + 1; i < FAULT_CODE_MAX; i++)
		if (str_eq(name, str_from(fault_name((enum fault_code)i))))
			return (enum fault_code)i;
	return status < 500 ? FAULT_BAD_REQUEST : FAULT_SANDBOX_UNAVAILABLE;
}

int problem_from_json(const struct json *problem, struct fault *ret_fault)
{
	char text[sizeof(ret_fault->text)];
	struct str code;
	int64_t status;

	if (json_as_text(json_get(problem, "code"), &code) < 0 ||
		json_as_integer(json_get(problem, "status"), &status) < 0 || status < 400 ||
		status > 599)
		return -EBADMSG;
	text_take(problem, "detail", text, sizeof(text));
	fault_set(ret_fault, code_find(code, status), "%s", text);
	text_take(problem, "stage", ret_fault->stage, sizeof(ret_fault->stage));
	text_take(problem, "field", ret_fault->field, sizeof(ret_fault->field));
	text_take(problem, "advice", ret_fault->advice, sizeof(ret_fault->advice));
	return 0;
}

int problem_read(struct str text, struct fault *ret_fault)
{
	AUTO_JSON struct json *problem = NULL;
	struct fault malformed;

	if (json_parse(text, &problem, &malformed) < 0)
		return -EBADMSG;
	return problem_from_json(problem, ret_fault);
}
