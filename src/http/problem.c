/*
 * Theory of operation: the json module stands on this floor, where modules do not include each
 * other, and one flat object needs no tree. The members are those of sandbox/answer.h's
 * answer_problem, with RFC 9457's type and title before them.
 */
#include "http/problem.h"

#include "base/buf.h"
#include "base/fault.h"

#include <microhttpd.h>

/* Adds text as a JSON string; texts of faults are UTF-8 (base/fault.h). */
static int string_add(struct buf *out, const char *text)
{
	int r = buf_add_char(out, '"');

	for (const char *p = text; *p && r == 0; p++) {
		if (*p == '"' || *p == '\\')
			r = buf_addf(out, "\\%c", *p);
		else if ((unsigned char)*p < 0x20)
			r = buf_addf(out, "\\u%04x", (unsigned)*p);
		else
			r = buf_add_char(out, *p);
	}
	return r < 0 ? r : buf_add_char(out, '"');
}

static int member_add(struct buf *out, const char *name, const char *text)
{
	int r = buf_addf(out, ",\"%s\":", name);

	return r < 0 ? r : string_add(out, text);
}

int problem_write(const struct fault *fault, struct buf *out)
{
	int status = fault_status(fault->code), r;

	r = buf_addf(out, "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%d",
		MHD_get_reason_phrase_for((unsigned)status), status);
	if (r == 0)
		r = member_add(out, "code", fault_name(fault->code));
	if (r == 0)
		r = member_add(out, "detail", fault->text);
	if (r == 0)
		r = member_add(out, "advice", fault_advice(fault));
	if (r == 0 && fault->stage[0])
		r = member_add(out, "stage", fault->stage);
	if (r == 0 && fault->field[0])
		r = member_add(out, "field", fault->field);
	return r < 0 ? r : buf_add_char(out, '}');
}
