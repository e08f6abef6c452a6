/* What the files of the server share.
 *
 *   serve.c      start, stop, the ticker that follows the state and closes useless connections
 *   http.c       libmicrohttpd: requests to answers, connections, limits
 *   routes.c     which path is answered by whom; who may ask; what is not JSON
 *   lookup.c     /v1/status, /v1/group
 *   filter.c     /v1/filter
 *   request.cc   its body, by simdjson
 *   metrics.c    /metrics
 *   state.c      the state directory, read along
 *   statuses.c   the status topic on Kafka, in memory
 *   index.c      documents of known pages
 *   compare.c    /v1/compare, /v1/threshold
 *   look.c       /v1/text, /v1/overview, the page
 *   overview.c   what /v1/overview says of the pages
 *   texts.c      where the text of a page is
 *   assets.c     files that are part of the program
 *
 * Private to this folder. */
#ifndef SP_SERVE_INTERNAL_H
#define SP_SERVE_INTERNAL_H

#include <microhttpd.h>
#include <pthread.h>

#include "base/json_write.h"
#include "input/input.h"
#include "serve/index.h"
#include "serve/overview.h"
#include "serve/request.h"
#include "serve/serve.h"
#include "serve/state.h"
#include "serve/texts.h"

enum { SP_NONCE_TEXT = 33, SP_HISTORY = 300 };

/* What a thread that answers has of its own. */
struct sp_serve_thread {
    const struct sp_serve *serve;
    struct sp_state_reader *reader;
    struct samepage_filter *filter; /* with the state's threshold */
    struct sp_text *text;           /* made when first needed */
    struct sp_json_lists *json;
    struct sp_parser *parser;  /* made when first needed */
    char nonce[SP_NONCE_TEXT]; /* of the page under way */
    struct sp_buf out;         /* the answer */
    bool state_failed;         /* a file of the state was gone: the answer is worth another try */
    struct sp_serve_thread *next;
};

enum { SP_ROUTES = 16 };

/* All atomic. */
struct sp_serve_counters {
    uint64_t requests[SP_ROUTES + 1]; /* by route; the last: no route */
    uint64_t refused[SP_ROUTES + 1];  /* answered with 400 and above */
    uint64_t microseconds[SP_ROUTES + 1];
    uint64_t connections;
    uint64_t closed; /* by us: too slow, or to make room */
    uint64_t body_bytes;
    uint64_t refresh_failures;
    int64_t refreshed_ms; /* by the monotonic clock */
    int64_t changed_ms;
    uint64_t filtered;
    uint64_t dropped;
};

/* How many records the run had handled, when. */
struct sp_sample {
    int64_t at_ms;
    uint64_t records;
};

struct sp_history {
    pthread_mutex_t lock;
    struct sp_sample samples[SP_HISTORY]; /* a ring */
    size_t first;
    size_t count;
    uint64_t records;
    bool ended; /* the inputs are read to their end */
};

struct sp_connections; /* http.c */

struct sp_serve {
    struct sp_serve_options options;
    struct sp_buf token; /* what the header must be: "Bearer ..." */
    struct MHD_Daemon *daemon;
    uint16_t port;
    bool loopback;
    struct sp_state *state;
    struct sp_index *index;
    struct sp_overview *overview;
    struct sp_texts *texts; /* NULL: no inputs are named */
    struct sp_history history;
    struct sp_state_reader *history_reader;
    uint64_t history_version;
    int64_t refresh_after_ms; /* the ticker's */
    struct sp_connections *connections;
    struct sp_serve_counters counters;
    pthread_mutex_t threads_lock;
    struct sp_serve_thread *threads;
    pthread_t ticker;
    bool ticking;
    pthread_mutex_t tick_lock;
    pthread_cond_t tick_end;
    bool ending;
};

/* One request, complete. */
struct sp_query {
    struct MHD_Connection *connection;
    const char *path;
    const char *method;
    struct sp_view body; /* SP_REQUEST_PADDING readable bytes behind it */
};

/* ---- serve.c */
/* The calling thread's. */
struct sp_serve_thread *sp_serve_thread(struct sp_serve *s);

/* ---- http.c */
enum sp_err sp_http_open(struct sp_serve *s, int fd);
void sp_http_close(struct sp_serve *s);
/* Closes connections that finish nothing. */
void sp_http_reap(struct sp_serve *s);

/* ---- routes.c */
struct sp_route {
    const char *path;
    const char *method;
    const char *type; /* of the answer */
    bool open;        /* without the token */
    unsigned (*answer)(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q);
};

extern const struct sp_route sp_routes[];
extern const size_t sp_route_count;
/* The route, or NULL: *ret_status and t->out say why. */
const struct sp_route *sp_route_find(struct sp_serve *s, struct sp_serve_thread *t,
                                     const struct sp_query *q, unsigned *ret_status);
/* Makes the answer {"error": text}; returns status. */
unsigned sp_answer_error(struct sp_serve_thread *t, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The answer to an error of the state; `url` was asked for. */
unsigned sp_answer_failed(struct sp_serve_thread *t, enum sp_err err, const char *url);
/* An argument of the query, or NULL. */
const char *sp_argument(const struct sp_query *q, const char *name);
/* The page of the argument `name`; 0, or the status of an answer that was made. */
unsigned sp_argument_page(struct sp_serve_thread *t, const struct sp_query *q, const char *name,
                          struct sp_id *ret_page);

/* ---- answers */
unsigned sp_answer_status(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q);
unsigned sp_answer_group(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q);
unsigned sp_answer_filter(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q);
unsigned sp_answer_compare(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q);
unsigned sp_answer_threshold(struct sp_serve *s, struct sp_serve_thread *t,
                             const struct sp_query *q);
unsigned sp_answer_text(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q);
unsigned sp_answer_overview(struct sp_serve *s, struct sp_serve_thread *t,
                            const struct sp_query *q);
unsigned sp_answer_page(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q);
unsigned sp_answer_openapi(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q);
unsigned sp_answer_metrics(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q);

#endif
