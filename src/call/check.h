#pragma once

struct call_request;
struct fault;

/* What can be told of a request before a session is looked for. Returns 0, or -EINVAL or -E2BIG
 * with *ret_fault (INVALID_FIELD with the field, TOO_LARGE). */
int check_request(const struct call_request *request, struct fault *ret_fault);
