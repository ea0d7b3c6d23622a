#pragma once

struct http_server;
struct MHD_Daemon;

/* The daemon of libmicrohttpd that serves the connections of a server's gate. The server owns it:
 * stop it with MHD_stop_daemon after the gate has stopped. NULL without threads or memory. */
struct MHD_Daemon *library_start(struct http_server *server);
