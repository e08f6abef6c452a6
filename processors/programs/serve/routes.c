/* The function for each path, and which requests are allowed.
 *
 * With a token, every path that reveals something of the crawl requires it. Without a token the
 * server listens on loopback only, and the Host header must name this machine, so that a web page
 * cannot make a browser send requests here under a name of its own (DNS rebinding). Requests that a
 * browser sends on behalf of another site are refused: the origin that it names must be this
 * server. */
#include "serve/routes.h"

#include <string.h>
#include <strings.h>

static const char json[] = "application/json";
static const char html[] = "text/html; charset=utf-8";
static const char stream[] = "text/event-stream";
static const char plain[] = "text/plain; version=0.0.4; charset=utf-8";

const struct sp_route sp_routes[] = {
    {"/v1/status", MHD_HTTP_METHOD_GET, json, "url", false, false, sp_handle_status},
    {"/v1/group", MHD_HTTP_METHOD_GET, json, "url after offset limit", false, true,
     sp_handle_group},
    {"/v1/filter", MHD_HTTP_METHOD_POST, json, "", false, true, sp_handle_filter},
    {"/v1/compare", MHD_HTTP_METHOD_GET, json, "a b", false, true, sp_handle_compare},
    {"/v1/threshold", MHD_HTTP_METHOD_GET, json, "url threshold", false, true, sp_handle_threshold},
    {"/v1/text", MHD_HTTP_METHOD_GET, json, "url", false, true, sp_handle_text},
    {"/v1/predict", MHD_HTTP_METHOD_GET, json, "url confidence explore", false, false,
     sp_handle_predict},
    {"/v1/audit", MHD_HTTP_METHOD_GET, json, "", false, false, sp_handle_audit},
    {"/v1/overview", MHD_HTTP_METHOD_GET, json, "", false, true, sp_handle_overview},
    {"/v1/search", MHD_HTTP_METHOD_GET, json, "q host status after limit", false, true,
     sp_handle_search},
    {"/v1/hosts", MHD_HTTP_METHOD_GET, json, "q offset limit", false, true, sp_handle_hosts},
    {"/v1/history", MHD_HTTP_METHOD_GET, json, "url limit", false, true, sp_handle_history},
    {"/v1/events", MHD_HTTP_METHOD_GET, stream, "", false, false, sp_handle_events},
    {"/", MHD_HTTP_METHOD_GET, html, NULL, true, false, sp_handle_page},
    {"/openapi.json", MHD_HTTP_METHOD_GET, json, NULL, true, false, sp_handle_openapi},
    {"/metrics", MHD_HTTP_METHOD_GET, plain, NULL, false, false, sp_handle_metrics},
    {"/livez", MHD_HTTP_METHOD_GET, plain, NULL, true, false, sp_handle_livez},
    {"/readyz", MHD_HTTP_METHOD_GET, plain, NULL, true, false, sp_handle_readyz},
};
const size_t sp_route_count = sizeof sp_routes / sizeof *sp_routes;
_Static_assert(sizeof sp_routes / sizeof *sp_routes <= SP_ROUTES, "SP_ROUTES");

/* ---- which requests are allowed */

/* The comparison takes the same time wherever the two differ. */
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

/* A browser that sends a request for another site names it in one of these headers; other programs
 * send neither. A link that a user follows or types names no site. */
static bool for_another_site(const struct sp_query *q)
{
    const char *site = header(q, "Sec-Fetch-Site"), *origin = header(q, "Origin");
    if (site[0] && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
        return true;
    if (!origin[0])
        return false;
    const char *name = strstr(origin, "://");
    return !name || strcasecmp(name + 3, header(q, "Host")) != 0;
}

/* Returns 0, or the status of a refusal. */
static unsigned check_asker(struct sp_serve *s, struct sp_serve_thread *t,
                            const struct sp_route *route, const struct sp_query *q)
{
    if (route->open)
        return 0;
    if (s->token.len)
        return same_secret(header(q, "Authorization"), &s->token)
                   ? 0
                   : sp_respond_error(
                         t, MHD_HTTP_UNAUTHORIZED,
                         "the token is missing or wrong: send Authorization: Bearer TOKEN");
    if (!names_this_machine(header(q, "Host")))
        return sp_respond_error(
            t, MHD_HTTP_MISDIRECTED_REQUEST,
            "this server only accepts requests for localhost, 127.0.0.1 or [::1]");
    return for_another_site(q) ? sp_respond_error(t, MHD_HTTP_FORBIDDEN,
                                                  "requests from pages of other sites are refused")
                               : 0;
}

struct argument_check {
    const char *known;
    const char *unknown; /* the first that is not among them, or NULL */
};

static enum MHD_Result check_argument(void *arg, enum MHD_ValueKind kind, const char *key,
                                      const char *value)
{
    struct argument_check *check = arg;
    size_t len = strlen(key);
    (void)kind, (void)value;
    for (const char *at = check->known; *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " ");
        if (n == len && memcmp(at, key, n) == 0)
            return MHD_YES;
        at += n;
    }
    check->unknown = len ? key : NULL; /* none is that of a stray & */
    return len ? MHD_NO : MHD_YES;
}

/* A misspelt argument, or the second half of a URL whose & is not encoded, would else be passed
 * over. Returns 0, or the status of the refusal. */
static unsigned check_arguments(struct sp_serve_thread *t, const struct sp_route *route,
                                const struct sp_query *q)
{
    struct argument_check check = {.known = route->arguments};
    if (check.known)
        MHD_get_connection_values(q->connection, MHD_GET_ARGUMENT_KIND, check_argument, &check);
    if (!check.unknown)
        return 0;
    return sp_respond_error(t, MHD_HTTP_BAD_REQUEST,
                            "unknown argument \"%.100s\": %s takes %s; in a URL, write %%26 for &",
                            check.unknown, route->path, *check.known ? check.known : "none");
}

const char *sp_route_methods(const char *path)
{
    for (size_t i = 0; i < sp_route_count; i++)
        if (strcmp(sp_routes[i].path, path) == 0 &&
            strcmp(sp_routes[i].method, MHD_HTTP_METHOD_POST) == 0)
            return "POST";
    return "GET, HEAD";
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
            *ret_status = sp_respond_error(t, MHD_HTTP_METHOD_NOT_ALLOWED,
                                           "%s requires the method %s", route->path, route->method);
            return NULL;
        }
        *ret_status = check_asker(s, t, route, q);
        if (*ret_status == 0)
            *ret_status = check_arguments(t, route, q);
        return *ret_status ? NULL : route;
    }
    *ret_status =
        sp_respond_error(t, MHD_HTTP_NOT_FOUND, "there is no such path; /openapi.json lists all");
    return NULL;
}
