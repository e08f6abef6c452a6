/* Pages in the framing of a schema registry, as a stage reads them: which schemas are requested,
 * how often, and what is cached. */
#include <stdio.h>

#include "base/clock.h"
#include "codec/codec.h"
#include "harness.h"
#include "kafka/schemas.h"
#include "stand_in.h"

#define PAGE_SCHEMA                                                                                 \
    "{\"schemaType\":\"AVRO\",\"schema\":\"{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"Page\\\"," \
    "\\\"fields\\\":[{\\\"name\\\":\\\"url\\\",\\\"type\\\":\\\"string\\\"}]}\"}"
#define OTHER_SCHEMA "{\"schema\":\"\\\"long\\\"\"}"

static int64_t clock_ms;

int64_t __wrap_sp_clock_ms(void);

int64_t __wrap_sp_clock_ms(void)
{
    return clock_ms;
}

static const struct sp_kafka_options kafka = {.prefix = "t.", .instance = "1"};

static struct test {
    struct stand_in registry;
    struct sp_schemas *schemas;
    struct sp_page_record page;
    const char *why;
} t;

static void begin(const struct said *script)
{
    struct sp_fault fault = {""};
    memset(&t, 0, sizeof t);
    clock_ms = 1000;
    stand_in_start(&t.registry, script);
    struct sp_registry_options o = {.urls = t.registry.url};
    CU_ASSERT_EQUAL_FATAL(sp_schemas_new(&o, &kafka, &t.schemas, &fault), SP_OK);
}

/* The number of requests to the registry. */
static size_t end(void)
{
    sp_schemas_free(t.schemas);
    stand_in_stop(&t.registry);
    size_t asked = t.registry.request_count;
    stand_in_done(&t.registry);
    return asked;
}

/* A page with schema 7: a URL after its length, in Avro a zigzag number. */
static enum sp_err read_page(void)
{
    static const char bytes[] = "\0\0\0\0\7\x24https://a.example/";
    return sp_schemas_page(t.schemas, sp_view(bytes, sizeof bytes - 1), &t.page, &t.why);
}

TEST(a_schema_is_asked_for_once)
{
    static const struct said script[] = {{200, PAGE_SCHEMA, 0}, {0}};
    begin(script);
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(read_page(), SP_OK);
        CU_ASSERT_EQUAL(t.page.url.len, 18);
        clock_ms += 10 * SP_SCHEMAS_AGAIN_MS; /* an id is never assigned to another schema */
    }
    CU_ASSERT_EQUAL(end(), 1);
}

TEST(a_schema_that_is_not_of_pages_is_refused_for_good)
{
    static const struct said script[] = {{200, OTHER_SCHEMA, 0}, {0}};
    begin(script);
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(read_page(), SP_UNKNOWN_SCHEMA);
        CU_ASSERT_PTR_NOT_NULL(strstr(t.why, "id 7 is not one of pages"));
        clock_ms += 10 * SP_SCHEMAS_AGAIN_MS;
    }
    CU_ASSERT_EQUAL(end(), 1);
}

TEST(an_unknown_schema_is_asked_for_again_after_a_while)
{
    static const struct said script[] = {
        {404, "{\"error_code\":40403,\"message\":\"Schema not found\"}", 0},
        {200, PAGE_SCHEMA, 0},
        {0}};
    begin(script);
    CU_ASSERT_EQUAL(read_page(), SP_UNKNOWN_SCHEMA);
    CU_ASSERT_PTR_NOT_NULL(strstr(t.why, "knows no schema with the id 7"));
    clock_ms += SP_SCHEMAS_AGAIN_MS - 1;
    CU_ASSERT_EQUAL(read_page(), SP_UNKNOWN_SCHEMA);
    clock_ms += 1;
    CU_ASSERT_EQUAL(read_page(), SP_OK);
    CU_ASSERT_EQUAL(end(), 2);
}

TEST(a_response_without_a_verdict_on_the_schema_is_not_cached)
{
    static const struct said script[] = {
        {401, "{\"message\":\"who are you\"}", 0}, {200, PAGE_SCHEMA, 0}, {0}};
    begin(script);
    CU_ASSERT_EQUAL(read_page(), SP_INVALID); /* needs a fix in the registry */
    CU_ASSERT_EQUAL(read_page(), SP_OK);
    CU_ASSERT_EQUAL(end(), 2);
}

TEST(a_registry_that_is_down_makes_no_page_a_bad_record)
{
    static const struct said script[] = {{0}};
    begin(script);
    stand_in_stop(&t.registry);
    CU_ASSERT_EQUAL(read_page(), SP_BUSY); /* the message is read again */
    sp_schemas_free(t.schemas);
    stand_in_done(&t.registry);
}

TEST(bytes_in_another_framing_are_refused)
{
    static const struct said script[] = {{0}};
    begin(script);
    CU_ASSERT_EQUAL(sp_schemas_page(t.schemas, sp_view("\0\0\0\0", 4), &t.page, &t.why),
                    SP_TRUNCATED);
    CU_ASSERT_EQUAL(end(), 0);
}
