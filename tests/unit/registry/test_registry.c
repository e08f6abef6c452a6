/* The schema registry client against a server that each test scripts: the requests, how each kind
 * of response is handled, and what a message must not contain. */
#include <stdio.h>
#include <time.h>

#include "base/mem.h"
#include "harness.h"
#include "registry/registry.h"
#include "stand_in.h"

static struct sp_registry *client(const char *urls, const char *user_info, bool registers)
{
    struct sp_registry_options o = {.urls = urls, .user_info = user_info, .registers = registers};
    struct sp_registry *r = NULL;
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL_FATAL(sp_registry_new(&o, &r, &fault), SP_OK);
    return r;
}

static bool has(const char *text, const char *part)
{
    bool is = strstr(text, part) != NULL;
    if (!is)
        printf("\n%s\nlacks %s\n", text, part);
    return is;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Requests schema 7 from a server with this script; returns the client's result. */
static enum sp_err ask_schema(const struct said *script, struct sp_buf *ret_schema,
                              struct sp_fault *ret_fault)
{
    struct stand_in s;
    stand_in_start(&s, script);
    struct sp_registry *r = client(s.url, NULL, false);
    enum sp_err err = sp_registry_schema(r, 7, ret_schema, ret_fault);
    sp_registry_free(r);
    stand_in_stop(&s);
    stand_in_done(&s);
    return err;
}

static enum sp_err ask_id(const struct said *script, bool registers, struct sp_buf *ret_request,
                          uint32_t *ret_id, struct sp_fault *ret_fault)
{
    struct stand_in s;
    stand_in_start(&s, script);
    struct sp_registry *r = client(s.url, NULL, registers);
    enum sp_err err = sp_registry_id(r, "samepage.status value/é",
                                     sp_view_str("{\"type\":\"long\"}"), ret_id, ret_fault);
    sp_registry_free(r);
    stand_in_stop(&s);
    sp_buf_reset(ret_request);
    sp_buf_put_view(ret_request, sp_buf_view(&s.requests[0]));
    stand_in_done(&s);
    return err;
}

TEST(a_schema_is_asked_for_by_its_id)
{
    static const struct said script[] = {{200, "{\"schema\":\"\\\"long\\\"\"}", 0}, {0}};
    struct stand_in s;
    struct sp_buf schema = {0};
    struct sp_fault fault = {""};
    stand_in_start(&s, script);
    struct sp_registry *r = client(s.url, NULL, false);
    sp_buf_put_str(&schema, "what was there before");
    CU_ASSERT_EQUAL(sp_registry_schema(r, 4294967295U, &schema, &fault), SP_OK);
    sp_registry_free(r);
    stand_in_stop(&s);
    CU_ASSERT(sp_view_eq(sp_buf_view(&schema), sp_view_str("\"long\"")));
    CU_ASSERT(has(s.requests[0].data, "GET /schemas/ids/4294967295 HTTP/1.1\r\n"));
    CU_ASSERT(has(s.requests[0].data, "Accept: application/vnd.schemaregistry.v1+json\r\n"));
    CU_ASSERT_PTR_NULL(strstr(s.requests[0].data, "Authorization"));
    stand_in_done(&s);
    sp_buf_done(&schema);
}

TEST(a_schema_that_is_not_avro_is_said_to_be_none)
{
    static const struct said script[] = {
        {200, "{\"schemaType\":\"PROTOBUF\",\"schema\":\"syntax = \\\"proto3\\\";\"}", 0}, {0}};
    static const struct said avro[] = {{200, "{\"schemaType\":\"AVRO\",\"schema\":\"7\"}", 0}, {0}};
    struct sp_buf schema = {0};
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL(ask_schema(script, &schema, &fault), SP_UNKNOWN_SCHEMA);
    CU_ASSERT_STRING_EQUAL(fault.text, "schema id 7 is of the kind PROTOBUF, not Avro");
    CU_ASSERT_EQUAL(schema.len, 0);
    CU_ASSERT_EQUAL(ask_schema(avro, &schema, &fault), SP_OK);
    sp_buf_done(&schema);
}

TEST(each_status_has_its_error)
{
    static const struct {
        int status;
        enum sp_err err;
        const char *says;
    } cases[] = {{404, SP_NOT_FOUND, "status 404: Schema 7 not found"},
                 {401, SP_INVALID, "refuses access (401); see schema.registry.basic.auth"},
                 {403, SP_INVALID, "refuses access (403); see schema.registry.basic.auth"},
                 {400, SP_INVALID, "status 400"},
                 {409, SP_INVALID, "status 409"},
                 {422, SP_INVALID, "status 422"},
                 {302, SP_INVALID, "status 302"},
                 {429, SP_BUSY, "status 429"},
                 {500, SP_BUSY, "status 500"},
                 {503, SP_BUSY, "status 503"}};
    struct sp_buf schema = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct said script[] = {
            {cases[i].status, "{\"error_code\":1,\"message\":\"Schema 7\\nnot found\"}", 0}, {0}};
        struct sp_fault fault = {""};
        CU_ASSERT_EQUAL(ask_schema(script, &schema, &fault), cases[i].err);
        CU_ASSERT(has(fault.text, cases[i].says));
        CU_ASSERT_PTR_NULL(strchr(fault.text, '\n'));
        CU_ASSERT_EQUAL(schema.len, 0);
    }
    sp_buf_done(&schema);
}

TEST(a_response_that_no_registry_sends_is_reported)
{
    static const struct said bodies[] = {{200, "", 0},
                                         {200, "<html>Welcome</html>", 0},
                                         {200, "{\"schema\":\"\\\"long\\\"\"", 0},
                                         {200, "{\"schema\":7}", 0},
                                         {200, "{\"schema\":null}", 0},
                                         {200, "[\"schema\"]", 0},
                                         {200, "\"schema\"", 0},
                                         {200, "{\"schema\":\"a\xff\"}", 0},
                                         {204, "", 0}};
    struct sp_buf schema = {0};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        const struct said script[] = {bodies[i], {0}};
        struct sp_fault fault = {""};
        CU_ASSERT_EQUAL(ask_schema(script, &schema, &fault), SP_INVALID);
        CU_ASSERT(has(fault.text, "schema id 7: the server at http://127.0.0.1:"));
        CU_ASSERT(has(fault.text, "is no schema registry"));
        CU_ASSERT_EQUAL(schema.len, 0);
    }
    sp_buf_done(&schema);
}

/* A long reason is truncated. */
TEST(an_endless_reason_or_schema_is_bounded)
{
    enum { LONG = 3000, HUGE_BODY = 3 << 20 };
    char *body = sp_calloc(1, HUGE_BODY + 1);
    struct sp_buf schema = {0};
    struct sp_fault fault = {""};
    int n = snprintf(body, LONG, "{\"message\":\"");
    memset(body + n, 'x', LONG);
    memcpy(body + n + LONG, "\"}", 3);
    CU_ASSERT_EQUAL(ask_schema((const struct said[]){{422, body, 0}, {0}}, &schema, &fault),
                    SP_INVALID);
    CU_ASSERT(has(fault.text, "status 422: xxxx") && strlen(fault.text) < 600);
    memset(body, 'x', HUGE_BODY);
    CU_ASSERT_EQUAL(ask_schema((const struct said[]){{200, body, HUGE_BODY}, {0}}, &schema, &fault),
                    SP_BUSY);
    CU_ASSERT_EQUAL(schema.len, 0);
    sp_free(body);
    sp_buf_done(&schema);
}

TEST(a_silent_server_is_waited_for_no_longer_than_said)
{
    static const struct said silent[] = {{SILENCE, "", 0}, {0}}, gone[] = {{HANG_UP, "", 0}, {0}},
                             half[] = {{HALF, "{\"schema\":\"\\\"long\\\"\"}", 0}, {0}};
    struct sp_buf schema = {0};
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL(ask_schema(gone, &schema, &fault), SP_BUSY);
    CU_ASSERT(has(fault.text, "does not respond: "));
    CU_ASSERT_EQUAL(ask_schema(half, &schema, &fault), SP_BUSY);
    CU_ASSERT_EQUAL(schema.len, 0);
    int64_t start = now_ms();
    CU_ASSERT_EQUAL(ask_schema(silent, &schema, &fault), SP_BUSY);
    int64_t waited = now_ms() - start;
    CU_ASSERT(has(fault.text, "does not respond: "));
    CU_ASSERT(waited >= SP_REGISTRY_RESPONSE_MS - 50 && waited < 4 * SP_REGISTRY_RESPONSE_MS);
    sp_buf_done(&schema);
}

TEST(the_next_address_is_tried_if_one_does_not_respond)
{
    static const struct said good[] = {{200, "{\"schema\":\"1\"}", 0}, {0}}, nothing[] = {{0}},
                             bad[] = {{503, "", 0}, {0}}, unknown[] = {{404, "{}", 0}, {0}};
    const struct said *firsts[] = {nothing, bad, unknown};
    for (size_t i = 0; i < 3; i++) {
        struct stand_in first, second;
        struct sp_buf schema = {0};
        struct sp_fault fault = {""};
        char urls[160];
        stand_in_start(&first, firsts[i]);
        stand_in_start(&second, good);
        if (i == 0) /* no server listens there */
            stand_in_stop(&first);
        snprintf(urls, sizeof urls, " %s/ ,\t%s//", first.url, second.url);
        struct sp_registry *r = client(urls, NULL, false);
        enum sp_err err = sp_registry_schema(r, 7, &schema, &fault);
        /* HTTP 404 is a valid response. */
        CU_ASSERT_EQUAL(err, i == 2 ? SP_NOT_FOUND : SP_OK);
        sp_registry_free(r);
        if (i > 0)
            stand_in_stop(&first);
        stand_in_stop(&second);
        if (i < 2)
            CU_ASSERT(has(second.requests[0].data, "GET /schemas/ids/7 HTTP/1.1\r\n"));
        CU_ASSERT_EQUAL(second.request_count, i == 2 ? 0 : 1);
        stand_in_done(&first);
        stand_in_done(&second);
        sp_buf_done(&schema);
    }
}

TEST(a_schema_is_registered_or_found_under_its_subject)
{
    static const struct said one[] = {{200, "{\"id\":1}", 0}, {0}},
                             most[] = {{200, "{\"version\":3,\"id\":2147483647}", 0}, {0}};
    struct sp_buf request = {0};
    struct sp_fault fault = {""};
    uint32_t id = 0;
    CU_ASSERT_EQUAL(ask_id(one, true, &request, &id, &fault), SP_OK);
    CU_ASSERT_EQUAL(id, 1);
    CU_ASSERT(
        has(request.data, "POST /subjects/samepage.status%20value%2F%C3%A9/versions HTTP/1.1\r\n"));
    CU_ASSERT(has(request.data, "Content-Type: application/vnd.schemaregistry.v1+json\r\n"));
    CU_ASSERT(has(request.data, "\r\n\r\n{\"schema\": \"{\\\"type\\\":\\\"long\\\"}\"}"));
    CU_ASSERT_EQUAL(ask_id(most, false, &request, &id, &fault), SP_OK);
    CU_ASSERT_EQUAL(id, 2147483647);
    CU_ASSERT(has(request.data, "POST /subjects/samepage.status%20value%2F%C3%A9 HTTP/1.1\r\n"));
    sp_buf_done(&request);
}

TEST(an_id_that_is_none_is_refused)
{
    static const char *const bodies[] = {"{\"id\":0}",
                                         "{\"id\":-1}",
                                         "{\"id\":2147483648}",
                                         "{\"id\":\"7\"}",
                                         "{\"id\":7.5}",
                                         "{\"id\":99999999999999999999}",
                                         "{}",
                                         "[]",
                                         "7",
                                         "",
                                         "{\"id\":7"};
    struct sp_buf request = {0};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        const struct said script[] = {{200, bodies[i], 0}, {0}};
        struct sp_fault fault = {""};
        uint32_t id = 4711;
        CU_ASSERT_EQUAL(ask_id(script, true, &request, &id, &fault), SP_INVALID);
        CU_ASSERT(has(fault.text, "is no schema registry"));
        CU_ASSERT_EQUAL(id, 4711);
    }
    sp_buf_done(&request);
}

TEST(failed_look_ups_and_registrations_are_reported)
{
    static const struct said unknown[] = {{404, "{\"message\":\"Subject not found.\"}", 0}, {0}},
                             other[] = {{409, "{\"message\":\"incompatible\"}", 0}, {0}};
    struct sp_buf request = {0};
    struct sp_fault fault = {""};
    uint32_t id = 4711;
    CU_ASSERT_EQUAL(ask_id(unknown, false, &request, &id, &fault), SP_NOT_FOUND);
    CU_ASSERT(has(fault.text, "the schema of subject samepage.status value/é cannot be found: "));
    CU_ASSERT(has(fault.text, "status 404: Subject not found."));
    CU_ASSERT_EQUAL(ask_id(other, true, &request, &id, &fault), SP_INVALID);
    CU_ASSERT(has(fault.text, "cannot be registered: "));
    CU_ASSERT(has(fault.text, "status 409: incompatible"));
    CU_ASSERT_EQUAL(id, 4711);
    struct sp_registry *r = client("http://127.0.0.1:1", NULL, true);
    CU_ASSERT_EQUAL(sp_registry_id(r, "s", sp_view_str("\"\xff\""), &id, &fault), SP_INVALID);
    CU_ASSERT(has(fault.text, "not UTF-8"));
    sp_registry_free(r);
    sp_buf_done(&request);
}

TEST(credentials_are_sent_and_never_shown)
{
    static const struct said script[] = {{200, "[\"AVRO\"]", 0}, {401, "{}", 0}, {500, "", 0}, {0}};
    struct stand_in s;
    struct sp_fault fault = {""};
    char url[160];
    stand_in_start(&s, script);
    snprintf(url, sizeof url, "http://me:secret@%s", s.url + strlen("http://"));
    struct sp_registry *r = client(s.url, "me:secret", false);
    CU_ASSERT_EQUAL(sp_registry_reach(r, &fault), SP_OK);
    sp_registry_free(r);
    r = client(url, NULL, false);
    CU_ASSERT_EQUAL(sp_registry_reach(r, &fault), SP_INVALID);
    CU_ASSERT(has(fault.text, s.url));
    CU_ASSERT_PTR_NULL(strstr(fault.text, "secret"));
    CU_ASSERT_EQUAL(sp_registry_reach(r, &fault), SP_BUSY);
    CU_ASSERT_PTR_NULL(strstr(fault.text, "secret"));
    sp_registry_free(r);
    stand_in_stop(&s);
    for (size_t i = 0; i < 3; i++) /* base64 of me:secret */
        CU_ASSERT(has(s.requests[i].data, "Authorization: Basic bWU6c2VjcmV0\r\n"));
    stand_in_done(&s);
    r = client(url, NULL, false);
    CU_ASSERT_EQUAL(sp_registry_reach(r, &fault), SP_BUSY);
    CU_ASSERT(has(fault.text, "does not respond"));
    CU_ASSERT_PTR_NULL(strstr(fault.text, "secret"));
    sp_registry_free(r);
}

TEST(an_old_registry_is_reached_as_well)
{
    static const struct said script[] = {{404, "{}", 0}, {0}};
    struct stand_in s;
    struct sp_fault fault = {""};
    stand_in_start(&s, script);
    struct sp_registry *r = client(s.url, NULL, false);
    CU_ASSERT_EQUAL(sp_registry_reach(r, &fault), SP_OK);
    sp_registry_free(r);
    stand_in_stop(&s);
    CU_ASSERT(has(s.requests[0].data, "GET /schemas/types HTTP/1.1\r\n"));
    stand_in_done(&s);
}

TEST(addresses_that_are_none_are_refused)
{
    static const char *const wrong[] = {"",
                                        " ",
                                        "localhost:8081",
                                        "ftp://localhost",
                                        "http://",
                                        "file:///etc/passwd",
                                        "http://a:1,",
                                        "http://a:1,b:1",
                                        "http://a,http://b,http://c,https://d,http://e"};
    struct sp_fault fault;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct sp_registry_options o = {.urls = wrong[i]};
        struct sp_registry *r = NULL;
        fault.text[0] = 0;
        CU_ASSERT_EQUAL(sp_registry_new(&o, &r, &fault), SP_INVALID);
        CU_ASSERT(has(fault.text, "schema.registry.url: "));
        CU_ASSERT_PTR_NULL(r);
    }
    sp_registry_free(client("http://a,http://b,http://c,https://d", NULL, false));
    sp_registry_free(NULL);
}
