#pragma once

#include "http/server.h"
#include "settings/settings.h"
#include "supervisor/audit.h"
#include "supervisor/info.h"
#include "tenant/keyring.h"
#include "tenant/shares.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

struct canary;
struct house;
struct http_request;

/* All that the handlers share. One, of main's; what has no lock of its own does not change once
 * the server runs. */
struct supervisor {
	struct http_config http;
	pthread_mutex_t starting; /* held until server is set: requests may come before that */
	struct http_server *server;
	struct settings settings;
	struct house *house;
	struct canary *canary;
	struct keyring keyring;
	struct audit audit;
	struct info info;
	atomic_bool is_warm; /* the small interpreter and a spare are there, or not waited for */
	uid_t owner_uid;     /* who started us: let in over the unix socket, as root is */
	struct shares shares;
};

/* The one that a request is for. */
struct supervisor *supervisor_of(const struct http_request *request);

/* The table of routes (supervisor/routes.c). */
const struct http_route *routes_get(size_t *ret_n);
