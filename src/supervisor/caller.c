/*
 * Theory of operation: this runs when the head is there and before a byte of the body is read, so a
 * stranger costs us nothing more than a head. The order: the Host (over TCP, where a web page could
 * come from), then who it is, then what he may, then whether his tenant has not too much already.
 *
 * Over the unix socket the kernel says who has connected: root and the user who started us are the
 * administrator of tenant `default`; others are refused, token or not. A token wins over that, so
 * that root can act as any tenant.
 */
#include "supervisor/caller.h"

#include "base/fault.h"
#include "base/log.h"
#include "house/house.h"
#include "http/request.h"
#include "http/respond.h"
#include "http/server.h"
#include "http/syntax/host.h"
#include "supervisor/supervisor.h"

#include <errno.h>
#include <strings.h>

#define OWN_TENANT "default"

static void caller_take(struct caller *caller, const struct token *token)
{
	char hash[HASH_TEXT_SIZE];

	hash_format(&token->hash, hash);
	caller->is_known = true;
	caller->scopes = token->scopes;
	caller->policy = token->is_kept ? HOUSE_KEPT : NULL;
	(void)str_copy(caller->tenant, sizeof(caller->tenant), token->tenant);
	(void)str_format(caller->token_id, sizeof(caller->token_id), "%.*s", TOKEN_ID_LEN, hash);
	memcpy(caller->profiles, token->profiles, sizeof(caller->profiles));
	for (size_t i = 0; i < token->n_profiles; i++)
		caller->profile_list[i] = caller->profiles[i];
}

/* The token of "Authorization: Bearer TOKEN". RFC 6750 section 2.1 */
static bool bearer_get(const struct http_request *request, struct str *ret_secret)
{
	struct str value, scheme;

	if (!http_header_get(request, "Authorization", &value) ||
		!str_split_once(value, ' ', &scheme, ret_secret))
		return false;
	*ret_secret = str_trim(*ret_secret);
	return scheme.n == 6 && strncasecmp(scheme.p, "Bearer", 6) == 0 && ret_secret->n > 0;
}

static bool is_own_peer(const struct supervisor *supervisor, const struct http_peer *peer)
{
	return peer->is_unix && (peer->uid == 0 || peer->uid == supervisor->owner_uid);
}

/* Why there is no caller. What was sent is never repeated. */
static int unauthorized(bool is_sent, bool is_bearer, struct fault *ret_fault)
{
	fault_set(ret_fault, FAULT_UNAUTHORIZED, "%s",
		is_bearer ? "the token that was sent is none of this server's"
		: is_sent ? "the Authorization header is not of the form Bearer TOKEN"
			  : "no token was sent, and one is needed");
	if (is_bearer)
		fault_advise(ret_fault,
			"Take the token in the file token of the server's state directory, or one "
			"that cloche token add has shown.");
	return -EPERM;
}

/* Finds the caller. Returns 0, or -errno with *ret_fault. */
static int caller_find(struct http_request *request, struct fault *ret_fault)
{
	struct supervisor *supervisor = supervisor_of(request);
	const struct http_peer *peer = http_peer_get(request);
	struct note *note = http_note_get(request);
	struct caller *caller = &note->caller;
	struct str secret, value;
	struct token token;
	bool is_bearer, is_sent;

	if (peer->is_unix && !is_own_peer(supervisor, peer)) {
		fault_set(ret_fault, FAULT_FORBIDDEN,
			"over this socket root and the user who started the service are served");
		fault_advise(ret_fault,
			"Call as one of the two, or over TCP with a token (cloche token add).");
		return -EACCES;
	}
	is_bearer = bearer_get(request, &secret);
	if (is_bearer && keyring_find(&supervisor->keyring, secret, &token)) {
		caller_take(caller, &token);
		return 0;
	}
	is_sent = http_header_get(request, "Authorization", &value);
	if (peer->is_unix && !is_sent) {
		caller->is_known = true;
		caller->scopes = SCOPE_ANY;
		(void)str_copy(caller->tenant, sizeof(caller->tenant), OWN_TENANT);
		(void)str_copy(caller->token_id, sizeof(caller->token_id), "unix");
		return 0;
	}
	return unauthorized(is_sent, is_bearer, ret_fault);
}

/* Over TCP only: a page that a browser has loaded from elsewhere cannot choose its Host. */
static int host_check(const struct http_request *request, struct fault *ret_fault)
{
	struct str host = STR("");

	if (http_peer_get(request)->is_unix)
		return 0;
	if (http_header_get(request, "Host", &host) && host_is_loopback(host))
		return 0;
	fault_set(ret_fault, FAULT_FORBIDDEN,
		"the Host header must name this machine: localhost, 127.0.0.1 or [::1]");
	fault_advise(ret_fault, "Call the server by one of these names.");
	return -EACCES;
}

enum shares_kind caller_kind(const struct http_route *route)
{
	if (route->scope & ROUTE_FREE)
		return SHARES_FREE;
	return route->scope & ROUTE_LOOK ? SHARES_LOOK : SHARES_WORK;
}

static int query_check(
	const struct http_request *request, const struct http_route *route, struct fault *ret_fault)
{
	static const char *const none[] = { NULL };
	bool is_free = route->scope & (ROUTE_QUERY | ROUTE_FREE) || !(route->scope & SCOPE_ANY);

	return is_free ? 0 : http_query_check(request, none, ret_fault);
}

bool caller_admit(struct http_request *request, const struct http_route *route)
{
	const unsigned scope = route->scope & SCOPE_ANY;
	const struct caller *caller = caller_get(request);
	struct fault fault;
	int r = host_check(request, &fault);

	if (r == 0)
		r = caller_find(request, &fault);
	if (r == -EPERM && scope == SCOPE_OPEN)
		return claim_begin(request, route);
	if (r == 0 && scope != SCOPE_OPEN && (caller->scopes & scope) == 0) {
		fault_set(
			&fault, FAULT_FORBIDDEN, "this takes the scope run, which the token lacks");
		fault_advise(&fault, "Use a token of that scope (cloche token add --scope run).");
		r = -EACCES;
	}
	if (r == 0)
		r = query_check(request, route, &fault);
	if (r == 0)
		return claim_begin(request, route);
	log_info("msg=refused request=%s peer=%s code=%s", http_id_get(request),
		LOG_VALUE(http_peer_get(request)->text), fault_name(fault.code));
	if (fault.code == FAULT_UNAUTHORIZED)
		http_header_add(request, "WWW-Authenticate", "Bearer");
	http_respond_fault(request, &fault);
	return false;
}

const struct caller *caller_get(struct http_request *request)
{
	struct note *note = http_note_get(request);

	return &note->caller;
}

bool caller_is_admin(const struct caller *caller)
{
	return (caller->scopes & TOKEN_SCOPE_ADMIN) != 0;
}

const char *const *caller_profiles(const struct caller *caller)
{
	return caller->profile_list[0] ? caller->profile_list : NULL;
}
