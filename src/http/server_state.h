#pragma once

#include "http/gate.h"

struct MHD_Daemon;

/* What http/server.c and http/library.c share. */
struct http_server {
	const struct http_config *config;
	struct gate gate;
	struct MHD_Daemon *daemon;
};
