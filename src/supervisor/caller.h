#pragma once

#include "supervisor/claim.h"
#include "token/token.h"

#include <stdbool.h>

struct http_request;
struct http_route;

/* Who a request is from, and whether it may. */

#define SCOPE_OPEN 0					 /* everybody; a valid token shows more */
#define SCOPE_RUN  TOKEN_SCOPE_RUN			 /* sessions, runs, files */
#define SCOPE_ANY  (TOKEN_SCOPE_RUN | TOKEN_SCOPE_ADMIN) /* either of them */

/* Besides, in http_route.scope, unless it is a work: what the request is (tenant/shares.h). */
#define ROUTE_FREE 0x100u
#define ROUTE_LOOK 0x200u

/* The handler looks at the query; on other routes that need a token there is none: one that is
 * ignored asks for something that would not be done. */
#define ROUTE_QUERY 0x400u

struct caller {
	bool is_known;
	char tenant[TOKEN_TENANT_MAX + 1];
	unsigned scopes;		 /* of enum token_scope */
	char token_id[TOKEN_ID_LEN + 1]; /* the hash's first digits, or "unix" */
	char profiles[TOKEN_PROFILES_MAX][TOKEN_PROFILE_SIZE];
	const char *policy; /* of sessions that he opens and says none for; a literal or NULL */
	const char *profile_list[TOKEN_PROFILES_MAX + 1]; /* NULL-ended */
};

/* The note of a request (http/request.h). */
struct note {
	struct caller caller;
	struct claim claim;
};

/* For http_config.admit: checks the Host header, finds the caller by token or by the unix socket's
 * peer, checks the route's scope, counts the request (claim_begin). Answers 401, 403, 429 or 503
 * and returns false where it must. */
bool caller_admit(struct http_request *request, const struct http_route *route);

enum shares_kind caller_kind(const struct http_route *route);

/* What caller_admit found. */
const struct caller *caller_get(struct http_request *request);

bool caller_is_admin(const struct caller *caller);

/* The profiles that he may ask for, NULL-ended, or NULL for all. */
const char *const *caller_profiles(const struct caller *caller);
