#pragma once

#include "http/gate.h"
#include "http/workers.h"

struct MHD_Daemon;

/* What http/server.c and http/library.c share. */
struct http_server {
	const struct http_config *config;
	struct gate gate;
	struct workers workers;
	struct MHD_Daemon *daemon;
};
