#pragma once

#include "base/str.h"

struct fault;
struct json;

/*
 * Reading JSON from outside. What it would cost is known before memory is spent on it: jansson
 * makes about twenty bytes of values from each byte of `[1,1,1,...` (decision 31).
 */

#define JSON_SIZE_MAX	(12u * 1024 * 1024) /* bytes: 8 MiB of inline files in base64, and code */
#define JSON_VALUES_MAX 10000
#define JSON_DEPTH_MAX	32

/* Parses text, one value of any kind. Refused: what is not JSON or not UTF-8, duplicate names,
 * names or text with U+0000, numbers out of range (BAD_REQUEST, naming the place) and what is over
 * the three maxima (TOO_LARGE). Returns 0 with *ret_json (the caller frees it with json_free),
 * -EBADMSG or -E2BIG with *ret_fault. */
int json_parse(struct str text, struct json **ret_json, struct fault *ret_fault);

/* As json_parse, for what a program of ours has written: text may hold U+0000, as a script may
 * print it. */
int json_parse_ours(struct str text, struct json **ret_json, struct fault *ret_fault);

/* The scan alone, which allocates nothing. Returns 0; -E2BIG with *ret_what naming the bound. It
 * counts values by their commas and brackets, at least as many as there are; malformed text may
 * pass. */
int json_scan(struct str text, const char **ret_what);
