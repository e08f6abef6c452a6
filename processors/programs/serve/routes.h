/* Which function handles which path. Private to this folder. */
#ifndef SP_SERVE_ROUTES_H
#define SP_SERVE_ROUTES_H

#include "serve/handler.h"

extern const struct sp_route sp_routes[];
extern const size_t sp_route_count;

/* The route, or NULL: *ret_status and t->out say why. */
const struct sp_route *sp_route_find(struct sp_serve *s, struct sp_serve_thread *t,
                                     const struct sp_query *q, unsigned *ret_status);
/* For the header Allow: the methods that a path of a route takes. */
const char *sp_route_methods(const char *path);

#endif
