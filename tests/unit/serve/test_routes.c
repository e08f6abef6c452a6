/* Routing of paths and access rules in routes.c, without a socket. */
#include "harness.h"
#include "serve/routes.h"

#include <strings.h>

/* The headers of the current request. */
static struct {
    const char *host, *authorization, *origin, *site;
} sent;

/* Replaces libmicrohttpd's function: there is no connection. */
const char *MHD_lookup_connection_value(struct MHD_Connection *connection, enum MHD_ValueKind kind,
                                        const char *key)
{
    (void)connection;
    CU_ASSERT_EQUAL(kind, MHD_HEADER_KIND);
    return strcasecmp(key, "Host") == 0             ? sent.host
           : strcasecmp(key, "Authorization") == 0  ? sent.authorization
           : strcasecmp(key, "Origin") == 0         ? sent.origin
           : strcasecmp(key, "Sec-Fetch-Site") == 0 ? sent.site
                                                    : NULL;
}

static const char *argument; /* of the current request, or NULL */

int MHD_get_connection_values(struct MHD_Connection *connection, enum MHD_ValueKind kind,
                              MHD_KeyValueIterator each, void *arg)
{
    CU_ASSERT(connection == NULL && kind == MHD_GET_ARGUMENT_KIND);
    if (argument)
        each(arg, kind, argument, "value");
    return argument != NULL;
}

static struct sp_serve serve;
static struct sp_serve_thread thread;

static void begin(const char *token)
{
    memset(&serve, 0, sizeof serve);
    memset(&thread, 0, sizeof thread);
    thread.serve = &serve;
    memset(&sent, 0, sizeof sent);
    sent.host = "127.0.0.1:8080";
    if (token)
        sp_buf_put_str(&serve.token, token);
}

static void end(void)
{
    sp_buf_done(&serve.token);
    sp_buf_done(&thread.out);
}

/* Returns 0 if the route was found, else the status of the refusal. */
static unsigned ask(const char *method, const char *path)
{
    struct sp_query q = {.method = method, .path = path};
    unsigned status = 0;
    sp_buf_reset(&thread.out);
    const struct sp_route *route = sp_route_find(&serve, &thread, &q, &status);
    CU_ASSERT((route == NULL) == (status != 0));
    CU_ASSERT(!route || strcmp(route->path, path) == 0);
    CU_ASSERT((status != 0) == (thread.out.len > 0)); /* a refusal has a reason in its body */
    return status;
}

TEST(every_route_is_found_by_its_path_and_method)
{
    begin(NULL);
    for (size_t i = 0; i < sp_route_count; i++) {
        const struct sp_route *route = &sp_routes[i];
        bool post = strcmp(route->method, "POST") == 0;
        CU_ASSERT_EQUAL(ask(route->method, route->path), 0);
        CU_ASSERT_EQUAL(ask("HEAD", route->path), post ? MHD_HTTP_METHOD_NOT_ALLOWED : 0);
        CU_ASSERT_EQUAL(ask(post ? "GET" : "POST", route->path), MHD_HTTP_METHOD_NOT_ALLOWED);
        CU_ASSERT_EQUAL(ask("DELETE", route->path), MHD_HTTP_METHOD_NOT_ALLOWED);
        CU_ASSERT_STRING_EQUAL(sp_route_methods(route->path), post ? "POST" : "GET, HEAD");
    }
    CU_ASSERT_EQUAL(ask("GET", "/v1/statu"), MHD_HTTP_NOT_FOUND);
    CU_ASSERT_EQUAL(ask("GET", "/v1/status/"), MHD_HTTP_NOT_FOUND);
    CU_ASSERT_EQUAL(ask("GET", "/V1/STATUS"), MHD_HTTP_NOT_FOUND);
    CU_ASSERT_EQUAL(ask("GET", ""), MHD_HTTP_NOT_FOUND);
    end();
}

TEST(without_a_token_only_this_machine_may_ask)
{
    static const char *const ours[] = {"localhost", "LocalHost:80", "127.0.0.1", "[::1]:8080"};
    static const char *const others[] = {
        "", "example.org", "localhost.example.org", "127.0.0.10", "127.0.0.1.evil.org", "[::11]"};
    begin(NULL);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        sent.host = ours[i];
        CU_ASSERT_EQUAL(ask("GET", "/v1/status"), 0);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        sent.host = others[i];
        CU_ASSERT_EQUAL(ask("GET", "/v1/status"), MHD_HTTP_MISDIRECTED_REQUEST);
        CU_ASSERT_EQUAL(ask("GET", "/metrics"), MHD_HTTP_MISDIRECTED_REQUEST);
        CU_ASSERT_EQUAL(ask("GET", "/livez"), 0); /* open to all */
        CU_ASSERT_EQUAL(ask("GET", "/"), 0);
    }
    end();
}

TEST(a_browser_may_not_ask_for_another_site)
{
    begin(NULL);
    sent.site = "cross-site";
    CU_ASSERT_EQUAL(ask("GET", "/v1/status"), MHD_HTTP_FORBIDDEN);
    sent.site = "same-site";
    CU_ASSERT_EQUAL(ask("GET", "/v1/status"), MHD_HTTP_FORBIDDEN);
    sent.site = "none"; /* the user entered the URL */
    CU_ASSERT_EQUAL(ask("GET", "/v1/status"), 0);
    sent.site = "same-origin";
    sent.origin = "http://127.0.0.1:8080";
    CU_ASSERT_EQUAL(ask("POST", "/v1/filter"), 0);
    sent.origin = "http://127.0.0.1:8081";
    CU_ASSERT_EQUAL(ask("POST", "/v1/filter"), MHD_HTTP_FORBIDDEN);
    sent.site = NULL;
    sent.origin = "null";
    CU_ASSERT_EQUAL(ask("POST", "/v1/filter"), MHD_HTTP_FORBIDDEN);
    end();
}

TEST(with_a_token_only_those_who_send_it_may_ask)
{
    begin("Bearer secret");
    sent.host = "samepage.example.org";
    CU_ASSERT_EQUAL(ask("GET", "/v1/status"), MHD_HTTP_UNAUTHORIZED);
    static const char *const wrong[] = {
        "", "Bearer secre", "Bearer secrets", "bearer secret", "Bearer Secret", "secret"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sent.authorization = wrong[i];
        CU_ASSERT_EQUAL(ask("GET", "/v1/status"), MHD_HTTP_UNAUTHORIZED);
    }
    CU_ASSERT_EQUAL(ask("GET", "/openapi.json"), 0);
    CU_ASSERT_EQUAL(ask("GET", "/readyz"), 0);
    sent.authorization = "Bearer secret";
    CU_ASSERT_EQUAL(ask("GET", "/v1/status"), 0);
    end();
}

/* Such as a misspelt one, or the second half of a URL whose & is not encoded. */
TEST(unknown_arguments_are_refused_by_their_names)
{
    begin(NULL);
    argument = "offset";
    CU_ASSERT_EQUAL(ask("GET", "/v1/group"), 0);
    CU_ASSERT_EQUAL(ask("GET", "/v1/status"), MHD_HTTP_BAD_REQUEST);
    sp_buf_put_u8(&thread.out, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(thread.out.data, "unknown argument \\\"offset\\\": /v1/status"));
    static const char *const others[] = {"offse", "offsets", "set", " ", "Offset"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        argument = others[i];
        CU_ASSERT_EQUAL(ask("GET", "/v1/group"), MHD_HTTP_BAD_REQUEST);
        CU_ASSERT_EQUAL(ask("GET", "/metrics"), 0);
    }
    argument = "";
    CU_ASSERT_EQUAL(ask("GET", "/v1/group"), 0);
    argument = "limit";
    CU_ASSERT_EQUAL(ask("GET", "/v1/group"), 0);
    CU_ASSERT_EQUAL(ask("GET", "/v1/overview"), MHD_HTTP_BAD_REQUEST);
    argument = NULL;
    end();
}
