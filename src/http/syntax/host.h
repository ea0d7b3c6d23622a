#pragma once

#include "base/str.h"

#include <stdbool.h>

/* True if the value of a Host header names this machine as its own programs do: localhost,
 * 127.x.x.x or [::1], with any port or none. A page of another name that was made to resolve to
 * loopback (DNS rebinding) is refused by it. RFC 9110 section 7.2 */
bool host_is_loopback(struct str host);
