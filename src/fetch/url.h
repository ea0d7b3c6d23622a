#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What a person gives as a server. RFC 3986 */

struct fetch_url {
	char base[512];	  /* "https://host:17600", no slash at its end */
	bool is_loopback; /* localhost, 127.0.0.0/8 or [::1]: what is sent there stays here */
};

/* Reads an http or https URL of a server: host, perhaps a port and a path that stands before all of
 * ours; no user, query or fragment. Returns 0, or -EINVAL with *ret_why, a literal. */
int fetch_url_parse(const char *text, struct fetch_url *ret_url, const char **ret_why);
