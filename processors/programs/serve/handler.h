/* From a request to a response: a function of handlers/ for each route, and what they share.
 * Private to this folder.
 *
 * To add a path: a function here and in handlers/, a line in routes.c, its description in
 * docs/openapi.json. */
#ifndef SP_SERVE_HANDLER_H
#define SP_SERVE_HANDLER_H

#include "serve/server.h"
#include "serve/threads.h"

/* One request, complete. */
struct sp_query {
    struct MHD_Connection *connection;
    const char *path;
    const char *method;
    struct sp_view body; /* SP_REQUEST_PADDING readable bytes after it */
};

struct sp_route {
    const char *path;
    const char *method;
    const char *type;      /* of the response */
    const char *arguments; /* of the query, between spaces; NULL: any are passed over */
    bool open;             /* without the token */
    bool slow;             /* may take long: handled at the desk (desk.h) */
    /* Puts the response into t->out and returns its HTTP status; called between sp_state_begin and
     * sp_state_end of t->reader. */
    unsigned (*handle)(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q);
};

/* Makes the response {"error": text}; returns status. */
unsigned sp_respond_error(struct sp_serve_thread *t, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Makes the response to an error of the state; `url` is the requested one. */
unsigned sp_respond_failed(struct sp_serve_thread *t, enum sp_err err, const char *url);
/* An argument of the query, or NULL. */
const char *sp_argument(const struct sp_query *q, const char *name);
/* The page of the argument `name`; 0, or the status of the error response that was made. */
unsigned sp_argument_page(struct sp_serve_thread *t, const struct sp_query *q, const char *name,
                          struct sp_id *ret_page);
/* False: the argument is there and is no number up to `most`; without it the number stays. */
bool sp_argument_number(const struct sp_query *q, const char *name, size_t most,
                        size_t *ret_number);

/* Whether pages are similar by the state's options. Sets *ret_similarity to their similarity; if
 * they are not similar, to the method's measure. */
bool sp_similar_or_measured(const struct sp_similarity_options *o, const struct sp_signature *a,
                            const struct sp_signature *b, double *ret_similarity);

#define SP_HANDLERS(X)                                                                             \
    X(status)                                                                                      \
    X(group)                                                                                       \
    X(filter)                                                                                      \
    X(compare)                                                                                     \
    X(threshold)                                                                                   \
    X(text)                                                                                        \
    X(predict)                                                                                     \
    X(audit)                                                                                       \
    X(overview)                                                                                    \
    X(search)                                                                                      \
    X(hosts)                                                                                       \
    X(history)                                                                                     \
    X(events)                                                                                      \
    X(page)                                                                                        \
    X(openapi)                                                                                     \
    X(metrics)                                                                                     \
    X(livez)                                                                                       \
    X(readyz)

#define X(name)                                                                                    \
    unsigned sp_handle_##name(struct sp_serve *s, struct sp_serve_thread *t,                       \
                              const struct sp_query *q);
SP_HANDLERS(X)
#undef X

#endif
