#include "http/syntax/host.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <strings.h>

#define NAME_SIZE 64

/* Cuts ":PORT" off; false if what stands there is none. */
static bool port_cut(struct str *host)
{
	struct str name, port;
	uint64_t number;

	if (host->n > 0 && host->p[0] == '[') {
		if (!str_split_once(*host, ']', &name, &port))
			return false;
		host->n = name.n + 1;
		if (port.n == 0)
			return true;
		return port.p[0] == ':' &&
		       str_to_u64((struct str){ port.p + 1, port.n - 1 }, UINT16_MAX, &number) == 0;
	}
	if (!str_split_once(*host, ':', &name, &port))
		return true;
	*host = name;
	return str_to_u64(port, UINT16_MAX, &number) == 0;
}

bool host_is_loopback(struct str host)
{
	struct in_addr address;
	char name[NAME_SIZE];

	if (!port_cut(&host) || memchr(host.p ? host.p : "", '\0', host.n) ||
		str_format(name, sizeof(name), "%.*s", STR_ARG(host)) < 0)
		return false;
	if (strcasecmp(name, "localhost") == 0 || strcmp(name, "[::1]") == 0)
		return true;
	return inet_pton(AF_INET, name, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}
