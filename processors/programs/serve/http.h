/* libmicrohttpd. Private to this folder. */
#ifndef SP_SERVE_HTTP_H
#define SP_SERVE_HTTP_H

#include "serve/server.h"

/* On success the server owns the listening socket. SP_IO: the fault says why the server cannot be
 * started. */
enum sp_err sp_serve_http_open(struct sp_serve *s, int fd, struct sp_fault *fault);
void sp_serve_http_close(struct sp_serve *s);
/* Closes connections that do not finish a request. */
void sp_serve_http_reap(struct sp_serve *s);

#endif
