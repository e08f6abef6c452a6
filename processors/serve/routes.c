/* Which path is answered by whom, and who may ask.
 *
 * With a token: everything that tells of the crawl wants it. Without one the server listens on
 * loopback only, and a request must name this machine as its host: so a page of the web cannot make
 * its visitor's browser ask here under a name of its own (DNS rebinding). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/url.h"
#include "serve/internal.h"

static const char json[] = "application/json";
static const char html[] = "text/html; charset=utf-8";
static const char plain[] = "text/plain; version=0.0.4; charset=utf-8";

static unsigned answer_livez(struct sp_serve *s, struct sp_serve_thread *t,
                             const struct sp_query *q)
{
    (void)s, (void)q;
    sp_buf_put_str(&t->out, "alive\n");
    return MHD_HTTP_OK;
}

enum { READY_MS = 30000 };

static unsigned answer_readyz(struct sp_serve *s, struct sp_serve_thread *t,
                              const struct sp_query *q)
{
    (void)q;
    int64_t age = sp_clock_ms() - __atomic_load_n(&s->counters.refreshed_ms, __ATOMIC_RELAXED);
    if (age >= READY_MS)
        return sp_answer_error(t, MHD_HTTP_SERVICE_UNAVAILABLE,
                               "the state could not be followed for %lld ms", (long long)age);
    sp_buf_put_str(&t->out, "ready\n");
    return MHD_HTTP_OK;
}

const struct sp_route sp_routes[] = {
    {"/v1/status", MHD_HTTP_METHOD_GET, json, false, sp_answer_status},
    {"/v1/group", MHD_HTTP_METHOD_GET, json, false, sp_answer_group},
    {"/v1/filter", MHD_HTTP_METHOD_POST, json, false, sp_answer_filter},
    {"/v1/compare", MHD_HTTP_METHOD_GET, json, false, sp_answer_compare},
    {"/v1/threshold", MHD_HTTP_METHOD_GET, json, false, sp_answer_threshold},
    {"/v1/text", MHD_HTTP_METHOD_GET, json, false, sp_answer_text},
    {"/v1/overview", MHD_HTTP_METHOD_GET, json, false, sp_answer_overview},
    {"/", MHD_HTTP_METHOD_GET, html, true, sp_answer_page},
    {"/openapi.json", MHD_HTTP_METHOD_GET, json, true, sp_answer_openapi},
    {"/metrics", MHD_HTTP_METHOD_GET, plain, false, sp_answer_metrics},
    {"/livez", MHD_HTTP_METHOD_GET, plain, true, answer_livez},
    {"/readyz", MHD_HTTP_METHOD_GET, plain, true, answer_readyz},
};
const size_t sp_route_count = sizeof sp_routes / sizeof *sp_routes;
_Static_assert(sizeof sp_routes / sizeof *sp_routes <= SP_ROUTES, "SP_ROUTES");

/* ---- who may ask */

/* Takes as long wherever the two differ. */
static bool same_secret(const char *given, const struct sp_buf *wanted)
{
    size_t n = strlen(given), different = n ^ wanted->len;
    for (size_t i = 0; i < n; i++)
        different |= (size_t)(unsigned char)(given[i] ^ wanted->data[i % wanted->len]);
    return different == 0;
}

static bool names_this_machine(const char *host)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if (strncasecmp(host, names[i], n) == 0 && (host[n] == 0 || host[n] == ':'))
            return true;
    }
    return false;
}

static const char *header(const struct sp_query *q, const char *name)
{
    const char *value = MHD_lookup_connection_value(q->connection, MHD_HEADER_KIND, name);
    return value ? value : "";
}

/* 0, or the status of a refusal. */
static unsigned check_asker(struct sp_serve *s, struct sp_serve_thread *t,
                            const struct sp_route *route, const struct sp_query *q)
{
    if (route->open)
        return 0;
    if (s->token.len)
        return same_secret(header(q, "Authorization"), &s->token)
                   ? 0
                   : sp_answer_error(t, MHD_HTTP_UNAUTHORIZED,
                                     "send the token: Authorization: Bearer TOKEN");
    return names_this_machine(header(q, "Host"))
               ? 0
               : sp_answer_error(t, MHD_HTTP_MISDIRECTED_REQUEST,
                                 "this server answers as localhost, 127.0.0.1 or [::1] only");
}

const struct sp_route *sp_route_find(struct sp_serve *s, struct sp_serve_thread *t,
                                     const struct sp_query *q, unsigned *ret_status)
{
    bool head = strcmp(q->method, MHD_HTTP_METHOD_HEAD) == 0;
    const char *method = head ? MHD_HTTP_METHOD_GET : q->method;
    for (size_t i = 0; i < sp_route_count; i++) {
        const struct sp_route *route = &sp_routes[i];
        if (strcmp(route->path, q->path) != 0)
            continue;
        if (strcmp(route->method, method) != 0) {
            *ret_status = sp_answer_error(t, MHD_HTTP_METHOD_NOT_ALLOWED, "%s wants the method %s",
                                          route->path, route->method);
            return NULL;
        }
        *ret_status = check_asker(s, t, route, q);
        return *ret_status ? NULL : route;
    }
    *ret_status =
        sp_answer_error(t, MHD_HTTP_NOT_FOUND, "there is no such path; /openapi.json lists all");
    return NULL;
}

/* ---- errors and arguments */

unsigned sp_answer_error(struct sp_serve_thread *t, unsigned status, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sp_buf_reset(&t->out);
    sp_buf_put_str(&t->out, "{\"error\":");
    sp_json_put_text(&t->out, text);
    sp_buf_put_str(&t->out, "}\n");
    return status;
}

unsigned sp_answer_failed(struct sp_serve_thread *t, enum sp_err err, const char *url)
{
    if (err == SP_NOT_FOUND)
        return sp_answer_error(t, MHD_HTTP_NOT_FOUND, "nothing is known of %.300s", url);
    if (err == SP_NO_URL)
        return sp_answer_error(t, MHD_HTTP_BAD_REQUEST,
                               "not a usable URL: it needs a scheme and a host, no spaces, and at "
                               "most %d bytes",
                               (int)SP_URL_MAX_BYTES);
    if (err == SP_STORE) {
        t->state_failed = true;
        return sp_answer_error(t, MHD_HTTP_SERVICE_UNAVAILABLE,
                               "the state cannot be read right now: try again");
    }
    return sp_answer_error(t, MHD_HTTP_INTERNAL_SERVER_ERROR, "%s", sp_err_text(err));
}

const char *sp_argument(const struct sp_query *q, const char *name)
{
    return MHD_lookup_connection_value(q->connection, MHD_GET_ARGUMENT_KIND, name);
}

unsigned sp_argument_page(struct sp_serve_thread *t, const struct sp_query *q, const char *name,
                          struct sp_id *ret_page)
{
    const char *url = sp_argument(q, name);
    if (!url)
        return sp_answer_error(t, MHD_HTTP_BAD_REQUEST, "the argument %s is missing", name);
    enum sp_err err = sp_state_page_id(t->reader, sp_view_str(url), ret_page);
    return err == SP_OK ? 0 : sp_answer_failed(t, err, url);
}
