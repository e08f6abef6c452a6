/* libmicrohttpd: connections, requests, responses, limits.
 *
 * A pool of threads, each with its own epoll, handles short requests at once. A request that may
 * take long is suspended and handled by a thread of the desk (desk.h), so that a health check never
 * waits for it. The ticker closes connections that do not finish a request in time, however slowly
 * they send. If all places are taken, the connection whose last finished request is longest ago is
 * closed for the new one. */
#include "serve/http.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "local/pipeline.h"
#include "serve/desk.h"
#include "serve/routes.h"
#include "serve/streams.h"

enum {
    CONNECTION_BYTES = 96 << 10, /* two URLs of the largest size, each byte escaped, and headers */
    IDLE_SECONDS = 10,
    PASSED_OVER_BYTES = 8 * SP_SERVE_BODY_BYTES
};

struct connection {
    struct connection *prev;
    struct connection *next;
    int fd;
    bool cut;
    int64_t useful_ms; /* atomic: time when it was opened, or finished its last request */
};

struct sp_connections {
    pthread_mutex_t lock;
    struct connection ring; /* head */
    size_t count;
    size_t cut; /* number of these that their threads will close soon */
};

struct request {
    struct sp_buf body;
    uint64_t sent; /* bytes of the body that have come; if they are too many, `body` is empty */
    struct connection *connection;
    const struct sp_route *route; /* NULL: the request will be refused */
    unsigned refusal;
    enum { RECEIVED, AT_THE_DESK, DONE } stage;
    unsigned status; /* of the response made by the desk */
    struct sp_buf response;
    struct sp_desk_job job;
    struct sp_query query; /* for the desk */
    int64_t started_us;
};

/* ---- connections */

/* Called with the lock held, so that the descriptor still belongs to the connection. */
static void cut(struct sp_serve *s, struct connection *c)
{
    c->cut = true;
    s->connections->cut++;
    shutdown(c->fd, SHUT_RDWR);
    __atomic_add_fetch(&s->counters.closed, 1, __ATOMIC_RELAXED);
}

static void make_room(struct sp_serve *s)
{
    struct sp_connections *all = s->connections;
    struct connection *worst = NULL;
    int64_t worst_ms = INT64_MAX;
    for (struct connection *c = all->ring.next; c != &all->ring; c = c->next) {
        int64_t useful = __atomic_load_n(&c->useful_ms, __ATOMIC_RELAXED);
        if (!c->cut && useful < worst_ms) {
            worst = c;
            worst_ms = useful;
        }
    }
    if (worst)
        cut(s, worst);
}

static void on_connection(void *arg, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct sp_serve *s = arg;
    struct sp_connections *all = s->connections;
    struct connection *c = *context;
    pthread_mutex_lock(&all->lock);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        if (all->count - all->cut >= SP_SERVE_CONNECTIONS)
            make_room(s);
        c = sp_calloc(1, sizeof *c);
        c->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        c->useful_ms = sp_clock_ms();
        c->next = all->ring.next;
        c->prev = &all->ring;
        c->next->prev = all->ring.next = c;
        all->count++;
        *context = c;
    } else if (c) {
        c->prev->next = c->next;
        c->next->prev = c->prev;
        all->count--;
        all->cut -= c->cut;
        sp_free(c);
        *context = NULL;
    }
    __atomic_store_n(&s->counters.connections, all->count, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&all->lock);
}

void sp_serve_http_reap(struct sp_serve *s)
{
    struct sp_connections *all = s->connections;
    int64_t oldest = sp_clock_ms() - (int64_t)SP_SERVE_PATIENCE_SECONDS * 1000;
    pthread_mutex_lock(&all->lock);
    for (struct connection *c = all->ring.next; c != &all->ring; c = c->next)
        if (!c->cut && __atomic_load_n(&c->useful_ms, __ATOMIC_RELAXED) < oldest)
            cut(s, c);
    pthread_mutex_unlock(&all->lock);
}

/* ---- one request */

/* The page may load nothing from other servers; its own script may send requests to this one. */
static void put_policy(struct MHD_Response *response, const char *nonce)
{
    char text[512] = "default-src 'none'; frame-ancestors 'none'";
    if (nonce)
        snprintf(
            text, sizeof text,
            "default-src 'none'; script-src 'nonce-%s'; style-src 'nonce-%s'; connect-src "
            "'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            nonce, nonce);
    MHD_add_response_header(response, "Content-Security-Policy", text);
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
}

/* Takes ownership of the response; NULL means that it could not be made. */
static enum MHD_Result send_response(struct MHD_Response *response, const struct sp_query *q,
                                     const struct sp_route *route, unsigned status,
                                     const char *nonce, bool keep_alive)
{
    if (!response)
        return MHD_NO;
    const char *type = route && status < MHD_HTTP_BAD_REQUEST ? route->type : "application/json";
    MHD_add_response_header(response, "Content-Type", type);
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    put_policy(response, nonce);
    if (!keep_alive)
        MHD_add_response_header(response, "Connection", "close");
    if (status == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, "Allow", sp_route_methods(q->path));
    enum MHD_Result result = MHD_queue_response(q->connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result respond(const struct sp_query *q, const struct sp_route *route,
                               unsigned status, const struct sp_buf *body, const char *nonce,
                               bool keep_alive)
{
    return send_response(
        MHD_create_response_from_buffer(body->len, body->data, MHD_RESPMEM_MUST_COPY), q, route,
        status, nonce, keep_alive);
}

static void note_useful(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct connection *c = info ? info->socket_context : NULL;
    if (c)
        __atomic_store_n(&c->useful_ms, sp_clock_ms(), __ATOMIC_RELAXED);
}

/* A place for the stream has been taken already. */
static enum MHD_Result respond_stream(struct sp_serve *s, const struct sp_query *q,
                                      const struct sp_route *route)
{
    const char *last = MHD_lookup_connection_value(q->connection, MHD_HEADER_KIND, "Last-Event-ID");
    uint64_t from = last && *last >= '0' && *last <= '9' ? strtoull(last, NULL, 10) + 1 : 0;
    return send_response(sp_stream_response(s, q->connection, from, note_useful), q, route,
                         MHD_HTTP_OK, NULL, true);
}

static void count(struct sp_serve *s, const struct sp_route *route, unsigned status, int64_t us)
{
    size_t n = route ? (size_t)(route - s->routes) : SP_ROUTES;
    __atomic_add_fetch(&s->counters.requests[n], 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&s->counters.microseconds[n], (uint64_t)us, __ATOMIC_RELAXED);
    if (status >= MHD_HTTP_BAD_REQUEST)
        __atomic_add_fetch(&s->counters.refused[n], 1, __ATOMIC_RELAXED);
}

/* Whether a body is announced that will not be read: the response is sent before it. A client that
 * does not wait for it (Expect) may then see nothing but a closed connection, so bodies that are
 * only a little too large are read. */
static bool is_never_read(struct MHD_Connection *connection)
{
    const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
    bool waits = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Expect");
    return length && strtoull(length, NULL, 10) >
                         (waits ? (unsigned)SP_SERVE_BODY_BYTES : (unsigned)PASSED_OVER_BYTES);
}

static unsigned refuse_large(struct sp_serve_thread *t)
{
    return sp_respond_error(t, MHD_HTTP_CONTENT_TOO_LARGE, "the body is larger than %d bytes",
                            SP_SERVE_BODY_BYTES);
}

struct framing {
    unsigned hosts;
    unsigned lengths;
    unsigned encodings;
    bool spaces; /* some header's name has spaces */
    bool nul;    /* some argument has a byte 0, at which C ends a text */
};

static enum MHD_Result count_framing(void *arg, enum MHD_ValueKind kind, const char *key,
                                     const char *value)
{
    struct framing *f = arg;
    (void)kind, (void)value;
    f->hosts += strcasecmp(key, "Host") == 0;
    f->lengths += strcasecmp(key, "Content-Length") == 0;
    f->encodings += strcasecmp(key, "Transfer-Encoding") == 0;
    f->spaces |= strpbrk(key, " \t") != NULL;
    return MHD_YES;
}

static enum MHD_Result find_nul(void *arg, enum MHD_ValueKind kind, const char *key, size_t key_len,
                                const char *value, size_t value_len)
{
    struct framing *f = arg;
    (void)kind;
    f->nul |= memchr(key, 0, key_len) || (value && memchr(value, 0, value_len));
    return MHD_YES;
}

/* A request that a proxy and this server could read differently, so that one of them sees a second
 * request inside it (request smuggling: RFC 9112, sections 3.2, 5.1 and 6.3), or that this server
 * would read only in part. */
static const char *ambiguous(struct MHD_Connection *connection)
{
    struct framing f = {0};
    MHD_get_connection_values(connection, MHD_HEADER_KIND, count_framing, &f);
    MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, find_nul, &f);
    return f.spaces                   ? "there is a space in a header's name"
           : f.nul                    ? "there is a byte 0 in an argument"
           : f.hosts > 1              ? "there is more than one Host"
           : f.lengths > 1            ? "there is more than one Content-Length"
           : f.lengths && f.encodings ? "there are Content-Length and Transfer-Encoding"
           : f.encodings > 1          ? "there is more than one Transfer-Encoding"
                                      : NULL;
}

static struct request *begin(struct sp_serve *s, const struct sp_query *q)
{
    struct request *r = sp_calloc(1, sizeof *r);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(q->connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct sp_serve_thread *t = sp_serve_thread(s);
    r->connection = info ? info->socket_context : NULL;
    r->started_us = sp_clock_us();
    sp_buf_reset(&t->out);
    const char *why = ambiguous(q->connection);
    if (why)
        r->refusal = sp_respond_error(t, MHD_HTTP_BAD_REQUEST, "%s", why);
    else
        r->route = sp_route_find(s, t, q, &r->refusal);
    if (r->route && is_never_read(q->connection)) {
        r->refusal = refuse_large(t);
        r->route = NULL;
    }
    return r;
}

static void drop_body(struct sp_serve *s, struct request *r)
{
    __atomic_sub_fetch(&s->counters.body_bytes, r->body.len, __ATOMIC_RELAXED);
    sp_buf_done(&r->body);
}

/* Returns false if no more of the body is to be read. */
static bool take_body(struct sp_serve *s, struct request *r, const char *data, size_t len)
{
    r->sent += len;
    if (r->sent > SP_SERVE_BODY_BYTES) {
        drop_body(s, r);
        return r->sent <= PASSED_OVER_BYTES;
    }
    uint64_t all = __atomic_add_fetch(&s->counters.body_bytes, len, __ATOMIC_RELAXED);
    bool fits = all <= SP_SERVE_ALL_BODIES_BYTES;
    if (fits)
        sp_buf_put(&r->body, data, len);
    else
        __atomic_sub_fetch(&s->counters.body_bytes, len, __ATOMIC_RELAXED);
    return fits;
}

/* Of a state that cannot be read although it was opened again; at most once a minute. */
static void tell_failure(struct sp_serve *s, const struct sp_serve_thread *t)
{
    enum { PAUSE_MS = 60000 };
    int64_t now_ms = sp_clock_ms(), last_ms = s->failure_told_ms;
    char what[512];
    if (!s->options.told || (last_ms && now_ms - last_ms < PAUSE_MS) ||
        !__atomic_compare_exchange_n(&s->failure_told_ms, &last_ms, now_ms, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST))
        return;
    snprintf(what, sizeof what,
             "the state cannot be read: %.300s; if this lasts, restore the directory from a copy",
             sp_state_message(t->reader));
    s->options.told(what);
}

/* Writes the response to t->out; returns its status. */
static unsigned make_response(struct sp_serve *s, struct sp_serve_thread *t, struct request *r,
                              struct sp_query *q)
{
    sp_buf_reset(&t->out);
    memset(sp_buf_reserve(&r->body, SP_REQUEST_PADDING), 0, SP_REQUEST_PADDING);
    q->body = sp_buf_view(&r->body);
    if (r->route->open) /* a health check must not wait for whoever has the state */
        return r->route->handle(s, t, q);
    sp_state_begin(t->reader);
    unsigned status = r->route->handle(s, t, q);
    if (t->state_failed && sp_state_refresh(s->state, true) == SP_OK) {
        sp_buf_reset(&t->out);
        sp_state_begin(t->reader);
        t->state_failed = false;
        status = r->route->handle(s, t, q);
    }
    if (t->state_failed)
        tell_failure(s, t);
    t->state_failed = false;
    sp_state_end(t->reader);
    return status;
}

/* Called by a thread of the desk. The connection is suspended, so no other thread uses it or the
 * request. */
static void at_the_desk(void *arg, struct sp_desk_job *job)
{
    struct request *r = (struct request *)(void *)((char *)job - offsetof(struct request, job));
    struct sp_serve *s = arg;
    struct sp_serve_thread *t = sp_serve_thread(s);
    r->status = make_response(s, t, r, &r->query);
    sp_buf_put_view(&r->response, sp_buf_view(&t->out));
    MHD_resume_connection(r->query.connection);
}

/* Returns false if the desk is closed; the caller then makes the response. */
static bool hand_over(struct sp_serve *s, struct request *r, const struct sp_query *q)
{
    r->query = *q;
    r->stage = AT_THE_DESK;
    MHD_suspend_connection(q->connection);
    if (sp_desk_put(s->desk, &r->job))
        return true;
    r->stage = RECEIVED;
    MHD_resume_connection(q->connection);
    return false;
}

static enum MHD_Result finish(struct sp_serve *s, struct request *r, struct sp_query *q)
{
    bool large = r->sent > SP_SERVE_BODY_BYTES;
    if (r->stage == RECEIVED && !large && r->route->slow && hand_over(s, r, q))
        return MHD_YES;
    struct sp_serve_thread *t = sp_serve_thread(s);
    const struct sp_buf *response = &r->response;
    if (large) {
        sp_buf_reset(&t->out);
        r->status = refuse_large(t);
        response = &t->out;
    } else if (r->stage == RECEIVED) {
        r->status = make_response(s, t, r, q);
        response = &t->out;
    }
    r->stage = DONE;
    count(s, r->route, r->status, sp_clock_us() - r->started_us);
    if (r->route->handle == sp_handle_events && r->status == MHD_HTTP_OK)
        return respond_stream(s, q, r->route);
    return respond(q, r->route, r->status, response,
                   r->route->handle == sp_handle_page ? t->nonce : NULL, true);
}

/* Called with the headers, then with each piece of the body, then at the end. */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *body,
                                  size_t *body_len, void **state)
{
    struct sp_serve *s = arg;
    struct sp_query q = {.connection = connection, .path = path, .method = method};
    struct request *r = *state;
    (void)version;
    if (!r) {
        *state = r = begin(s, &q);
        if (r->route)
            return MHD_YES;
        count(s, NULL, r->refusal, sp_clock_us() - r->started_us);
        /* The rest is not read, because the body could be endless. */
        return respond(&q, NULL, r->refusal, &sp_serve_thread(s)->out, NULL, false);
    }
    if (r->stage == DONE)
        return MHD_NO;
    if (*body_len) {
        size_t len = *body_len;
        *body_len = 0;
        return take_body(s, r, body, len) ? MHD_YES : MHD_NO;
    }
    return finish(s, r, &q);
}

static void on_completed(void *arg, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code)
{
    struct sp_serve *s = arg;
    struct request *r = *state;
    (void)connection;
    if (!r)
        return;
    if (code == MHD_REQUEST_TERMINATED_COMPLETED_OK && r->connection)
        __atomic_store_n(&r->connection->useful_ms, sp_clock_ms(), __ATOMIC_RELAXED);
    drop_body(s, r);
    sp_buf_done(&r->response);
    sp_free(r);
    *state = NULL;
}

/* ---- start and stop */

enum sp_err sp_serve_http_open(struct sp_serve *s, int fd, struct sp_fault *fault)
{
    unsigned threads = sp_pipeline_workers(s->options.threads);
    threads = threads ? threads : 1;
    s->connections = sp_calloc(1, sizeof *s->connections);
    s->connections->ring.next = s->connections->ring.prev = &s->connections->ring;
    pthread_mutex_init(&s->connections->lock, NULL);
    enum sp_err err = sp_desk_start(threads, at_the_desk, s, &s->desk, fault);
    if (err != SP_OK)
        return err;
    /* A single thread may get all connections, and those that will be closed soon. */
    unsigned limit = threads * (SP_SERVE_CONNECTIONS + 64);
    s->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request, s,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, limit,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_BYTES, MHD_OPTION_NOTIFY_CONNECTION, on_connection, s,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, s,
        threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, threads, MHD_OPTION_END);
    return s->daemon ? SP_OK : sp_fault_set(fault, SP_IO, "the server cannot be started");
}

void sp_serve_http_close(struct sp_serve *s)
{
    sp_streams_end(s->streams);
    sp_desk_close(s->desk); /* suspended connections cannot be stopped */
    if (s->daemon)
        MHD_stop_daemon(s->daemon);
    s->daemon = NULL;
    sp_desk_free(s->desk);
    s->desk = NULL;
    if (!s->connections)
        return;
    pthread_mutex_destroy(&s->connections->lock);
    sp_free(s->connections);
    s->connections = NULL;
}
