/* The constants of fingerprints.h match the files of schemas/. Parsing Canonical Form and
 * CRC-64-AVRO are implemented here from the Avro specification, independently of the code under
 * test. */
#include <jansson.h>
#include <stdio.h>

#include "base/bytes.h"
#include "codec/fingerprints.h"
#include "harness.h"

static uint64_t crc64_avro(struct sp_view v)
{
    const uint64_t empty = 0xc15d213aa4d7a795ull;
    uint64_t crc = empty;
    for (size_t i = 0; i < v.len; i++) {
        crc ^= (uint8_t)v.data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (empty & -(crc & 1));
    }
    return crc;
}

static void put_quoted(struct sp_buf *out, const char *text)
{
    sp_buf_put_u8(out, '"');
    sp_buf_put_str(out, text);
    sp_buf_put_u8(out, '"');
}

static bool is_primitive(const char *name)
{
    static const char *const names[] = {"null",  "boolean", "int",   "long",
                                        "float", "double",  "bytes", "string"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* A name without a dot is in the enclosing namespace. */
static void put_name(struct sp_buf *out, const char *name, const char *space)
{
    sp_buf_put_u8(out, '"');
    if (!strchr(name, '.') && space && !is_primitive(name)) {
        sp_buf_put_str(out, space);
        sp_buf_put_u8(out, '.');
    }
    sp_buf_put_str(out, name);
    sp_buf_put_u8(out, '"');
}

static void put_schema(struct sp_buf *out, json_t *schema, const char *space);

static void put_list(struct sp_buf *out, json_t *list, const char *space)
{
    size_t i;
    json_t *item;
    sp_buf_put_u8(out, '[');
    json_array_foreach(list, i, item)
    {
        if (i)
            sp_buf_put_u8(out, ',');
        put_schema(out, item, space);
    }
    sp_buf_put_u8(out, ']');
}

static void put_fields(struct sp_buf *out, json_t *fields, const char *space)
{
    size_t i;
    json_t *field;
    sp_buf_put_str(out, ",\"fields\":[");
    json_array_foreach(fields, i, field)
    {
        sp_buf_put_str(out, i ? ",{\"name\":" : "{\"name\":");
        put_quoted(out, json_string_value(json_object_get(field, "name")));
        sp_buf_put_str(out, ",\"type\":");
        put_schema(out, json_object_get(field, "type"), space);
        sp_buf_put_u8(out, '}');
    }
    sp_buf_put_u8(out, ']');
}

/* Record, enum or fixed: name, type, then its attributes. */
static void put_named(struct sp_buf *out, json_t *schema, const char *type, const char *space)
{
    json_t *own = json_object_get(schema, "namespace");
    char number[32];
    if (own)
        space = json_string_value(own);
    sp_buf_put_str(out, "{\"name\":");
    put_name(out, json_string_value(json_object_get(schema, "name")), space);
    sp_buf_put_str(out, ",\"type\":");
    put_quoted(out, type);
    if (strcmp(type, "record") == 0) {
        put_fields(out, json_object_get(schema, "fields"), space);
    } else if (strcmp(type, "fixed") == 0) {
        json_int_t size = json_integer_value(json_object_get(schema, "size"));
        snprintf(number, sizeof number, ",\"size\":%lld", (long long)size);
        sp_buf_put_str(out, number);
    } else {
        size_t i;
        json_t *symbol;
        sp_buf_put_str(out, ",\"symbols\":[");
        json_array_foreach(json_object_get(schema, "symbols"), i, symbol)
        {
            if (i)
                sp_buf_put_u8(out, ',');
            put_quoted(out, json_string_value(symbol));
        }
        sp_buf_put_u8(out, ']');
    }
    sp_buf_put_u8(out, '}');
}

static void put_schema(struct sp_buf *out, json_t *schema, const char *space)
{
    if (json_is_string(schema)) {
        put_name(out, json_string_value(schema), space);
    } else if (json_is_array(schema)) {
        put_list(out, schema, space);
    } else {
        const char *type = json_string_value(json_object_get(schema, "type"));
        if (strcmp(type, "array") == 0) {
            sp_buf_put_str(out, "{\"type\":\"array\",\"items\":");
            put_schema(out, json_object_get(schema, "items"), space);
            sp_buf_put_u8(out, '}');
        } else if (is_primitive(type)) {
            put_quoted(out, type);
        } else {
            put_named(out, schema, type, space);
        }
    }
}

static bool fingerprint_is(const char *name, uint64_t expected)
{
    char path[512];
    json_error_t error;
    struct sp_buf form = {0};
    snprintf(path, sizeof path, "%s/%s.avsc", SP_SCHEMAS, name);
    json_t *schema = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!schema) {
        printf("%s:%d: %s\n", path, error.line, error.text);
        return false;
    }
    put_schema(&form, schema, NULL);
    uint64_t found = crc64_avro(sp_buf_view(&form));
    if (found != expected)
        printf("%s: the fingerprint is 0x%016llx\n", path, (unsigned long long)found);
    json_decref(schema);
    sp_buf_done(&form);
    return found == expected;
}

TEST(the_checksum_is_that_of_the_specification)
{
    CU_ASSERT(crc64_avro(sp_view_str("\"int\"")) == 0x7275d51a3f395c8full);
    CU_ASSERT(crc64_avro(sp_view_str("\"string\"")) == 0x8f014872634503c7ull);
}

TEST(the_canonical_form_is_that_of_the_specification)
{
    struct sp_buf form = {0};
    json_t *schema = json_loads(
        "{\"type\":\"record\",\"doc\":\"d\",\"namespace\":\"x.y\",\"name\":\"R\",\"fields\":"
        "[{\"type\":{\"type\":\"fixed\",\"size\":16,\"name\":\"F\"},\"name\":\"a\"},"
        "{\"name\":\"b\",\"default\":null,\"type\":[\"null\",\"F\"]},{\"name\":\"c\","
        "\"type\":{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}},{\"name\":"
        "\"d\",\"type\":{\"items\":{\"symbols\":[\"A\",\"B\"],\"name\":\"z.E\",\"type\":"
        "\"enum\"},\"type\":\"array\"}}]}",
        0, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(schema);
    put_schema(&form, schema, NULL);
    CU_ASSERT(sp_view_eq(
        sp_buf_view(&form),
        sp_view_str("{\"name\":\"x.y.R\",\"type\":\"record\",\"fields\":[{\"name\":\"a\",\"type\":"
                    "{\"name\":\"x.y.F\",\"type\":\"fixed\",\"size\":16}},{\"name\":\"b\",\"type\":"
                    "[\"null\",\"x.y.F\"]},{\"name\":\"c\",\"type\":\"long\"},{\"name\":\"d\","
                    "\"type\":{\"type\":\"array\",\"items\":{\"name\":\"z.E\",\"type\":\"enum\","
                    "\"symbols\":[\"A\",\"B\"]}}}]}")));
    json_decref(schema);
    sp_buf_done(&form);
}

TEST(the_constants_are_those_of_the_schemas)
{
    CU_ASSERT(fingerprint_is("page", SP_FINGERPRINT_PAGE));
    CU_ASSERT(fingerprint_is("old/00a830ce6fffec2b", SP_FINGERPRINT_PAGE_NO_REFERENCE));
    CU_ASSERT(fingerprint_is("status", SP_FINGERPRINT_STATUS));
    CU_ASSERT(fingerprint_is("old/cdb166bafd669f8d", SP_FINGERPRINT_STATUS_NO_CONTAINER));
    CU_ASSERT(fingerprint_is("old/052aeafb6e82c021", SP_FINGERPRINT_STATUS_NO_RULE));
    CU_ASSERT(fingerprint_is("tier1", SP_FINGERPRINT_TIER1));
    CU_ASSERT(fingerprint_is("old/8cf9fd1772e0e17b", SP_FINGERPRINT_TIER1_NO_WAIT));
    CU_ASSERT(fingerprint_is("old/68937c8475368f2d", SP_FINGERPRINT_TIER1_NO_RULE));
    CU_ASSERT(fingerprint_is("contain", SP_FINGERPRINT_CONTAIN));
    CU_ASSERT(fingerprint_is("tier2", SP_FINGERPRINT_TIER2));
}
