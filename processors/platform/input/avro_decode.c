/* Decodes Avro binary data by the writer's schema. Fields that a page has are found by name, in any
 * order and of any width; all others are skipped.
 *
 * avro-c only reads the schema. The data is read here, because avro-c trusts counts and lengths (an
 * array of nulls, five bytes long, makes it allocate 766 MB). Every length is limited by the bytes
 * that are left, nesting by DEPTH_MAX, and the number of values in a block by its steps, because
 * nulls, and records of nothing else, take no bytes, and a short schema can have 2^30 of them. */
#include <avro.h>

#include "base/mem.h"
#include "input/avro.h"

enum { DEPTH_MAX = 32 };

void *sp_avro_schema_parse(struct sp_view json, const char **ret_why)
{
    avro_schema_t schema = NULL;
    *ret_why = "the schema is not a valid Avro schema";
    if (avro_schema_from_json_length(json.data, json.len, &schema) != 0)
        return NULL;
    if (!is_avro_record(schema) || avro_schema_record_field_get_index(schema, "url") < 0) {
        *ret_why = "the schema is not a record with a field `url`";
        avro_schema_decref(schema);
        return NULL;
    }
    return schema;
}

void sp_avro_schema_free(void *schema)
{
    if (schema)
        avro_schema_decref((avro_schema_t)schema);
}

/* The value of a field that pages have. */
struct value {
    avro_type_t type; /* AVRO_NULL: absent */
    struct sp_view bytes;
    int64_t number;
    double real;
};

static avro_schema_t resolved(avro_schema_t schema)
{
    return is_avro_link(schema) ? avro_schema_link_target(schema) : schema;
}

static void fail(struct sp_reader *r)
{
    r->failed = true;
}

static void take_step(struct sp_avro_data *d)
{
    if (d->steps == 0)
        fail(&d->bytes);
    else
        d->steps--;
}

static struct sp_view read_bytes(struct sp_reader *r)
{
    int64_t len = sp_read_zigzag(r);
    if (len < 0)
        fail(r);
    return sp_read_bytes(r, (uint64_t)len);
}

static void pass(avro_schema_t schema, struct sp_avro_data *d, int depth);

/* Arrays and maps come in blocks: a count, negative if a size in bytes follows; 0 ends. */
static void pass_blocks(avro_schema_t items, bool keys, struct sp_avro_data *d, int depth)
{
    struct sp_reader *r = &d->bytes;
    for (;;) {
        int64_t count = sp_read_zigzag(r);
        if (count < 0) {
            sp_read_bytes(r, (uint64_t)sp_read_zigzag(r));
            if (r->failed)
                return;
            continue;
        }
        if (count == 0 || r->failed)
            return;
        if ((uint64_t)count > sp_reader_left(r)) {
            fail(r); /* also if items take no bytes: real data never has more items than bytes */
            return;
        }
        for (; count > 0 && !r->failed; count--) {
            if (keys)
                read_bytes(r);
            pass(items, d, depth + 1);
        }
    }
}

static avro_schema_t read_branch(avro_schema_t schema, struct sp_reader *r)
{
    int64_t branch = sp_read_zigzag(r);
    if (branch < 0 || (size_t)branch >= avro_schema_union_size(schema)) {
        fail(r);
        return NULL;
    }
    return avro_schema_union_branch(schema, (int)branch);
}

static void pass(avro_schema_t schema, struct sp_avro_data *d, int depth)
{
    struct sp_reader *r = &d->bytes;
    schema = resolved(schema);
    if (depth > DEPTH_MAX)
        fail(r);
    take_step(d);
    if (r->failed)
        return;
    switch ((int)avro_typeof(schema)) {
    case AVRO_NULL:
        return;
    case AVRO_BOOLEAN:
        sp_read_u8(r);
        return;
    case AVRO_INT32:
    case AVRO_INT64:
    case AVRO_ENUM:
        sp_read_zigzag(r);
        return;
    case AVRO_FLOAT:
        sp_read_u32(r);
        return;
    case AVRO_DOUBLE:
        sp_read_u64(r);
        return;
    case AVRO_BYTES:
    case AVRO_STRING:
        read_bytes(r);
        return;
    case AVRO_FIXED:
        sp_read_bytes(r, (uint64_t)avro_schema_fixed_size(schema));
        return;
    case AVRO_ARRAY:
        pass_blocks(avro_schema_array_items(schema), false, d, depth);
        return;
    case AVRO_MAP:
        pass_blocks(avro_schema_map_values(schema), true, d, depth);
        return;
    case AVRO_UNION:
        schema = read_branch(schema, r);
        if (schema)
            pass(schema, d, depth + 1);
        return;
    case AVRO_RECORD:
        for (size_t i = 0; i < avro_schema_record_size(schema) && !r->failed; i++)
            pass(avro_schema_record_field_get_by_index(schema, (int)i), d, depth + 1);
        return;
    default:
        fail(r);
    }
}

static struct value read_value(avro_schema_t schema, struct sp_avro_data *d)
{
    struct sp_reader *r = &d->bytes;
    struct value v = {.type = AVRO_NULL};
    schema = resolved(schema);
    for (int depth = 0; is_avro_union(schema); depth++) {
        avro_schema_t branch = read_branch(schema, r);
        if (!branch || depth > DEPTH_MAX)
            return v;
        schema = resolved(branch);
    }
    v.type = avro_typeof(schema);
    switch ((int)v.type) {
    case AVRO_BYTES:
    case AVRO_STRING:
        v.bytes = read_bytes(r);
        break;
    case AVRO_INT32:
    case AVRO_INT64:
        v.number = sp_read_zigzag(r);
        v.real = (double)v.number;
        break;
    case AVRO_FLOAT: {
        uint32_t bits = sp_read_u32(r);
        float f;
        memcpy(&f, &bits, sizeof f);
        v.real = (double)f;
        break;
    }
    case AVRO_DOUBLE: {
        uint64_t bits = sp_read_u64(r);
        memcpy(&v.real, &bits, sizeof v.real);
        break;
    }
    default:
        pass(schema, d, 0);
    }
    return v;
}

static bool is_text(const struct value *v)
{
    return v->type == AVRO_STRING || v->type == AVRO_BYTES;
}

static bool is_number(const struct value *v)
{
    return v->type == AVRO_INT32 || v->type == AVRO_INT64;
}

static const char *take(const char *name, const struct value *v, struct sp_page_record *page)
{
    if (v->type == AVRO_NULL)
        return NULL;
    struct sp_view *text = strcmp(name, "url") == 0            ? &page->url
                           : strcmp(name, "redirect_url") == 0 ? &page->redirect_url
                           : strcmp(name, "content_type") == 0 ? &page->content_type
                           : strcmp(name, "content") == 0      ? &page->content
                                                               : NULL;
    if (text) {
        *text = v->bytes;
        if (text == &page->content)
            page->content_is_utf8 = v->type == AVRO_STRING;
        return is_text(v) ? NULL
                          : "url, redirect_url, content_type and content must be string or bytes";
    }
    if (strcmp(name, "fetch_time_ms") == 0) {
        page->fetch_time_ms = v->number;
        return is_number(v) ? NULL : "fetch_time_ms must be int or long";
    }
    if (strcmp(name, "refers_to_ms") == 0) {
        page->as_of_ms = v->number > 0 ? v->number : 0;
        return is_number(v) ? NULL : "refers_to_ms must be int or long";
    }
    if (strcmp(name, "http_status") == 0) {
        page->http_status = (int32_t)v->number;
        return is_number(v) && v->number >= 0 && v->number <= 999
                   ? NULL
                   : "http_status must be an int from 0 to 999";
    }
    if (strcmp(name, "popularity") == 0) {
        page->popularity = v->real;
        return is_number(v) || v->type == AVRO_FLOAT || v->type == AVRO_DOUBLE
                   ? NULL
                   : "popularity must be a number";
    }
    return NULL;
}

enum sp_err sp_avro_decode(void *schema, struct sp_avro_data *d, struct sp_page_record *ret_page,
                           const char **ret_why)
{
    avro_schema_t record = (avro_schema_t)schema;
    const char *why = NULL;
    *ret_page = (struct sp_page_record){.fetch_time_ms = -1, .http_status = 200};
    ret_page->url = ret_page->content = sp_view("", 0);
    for (size_t i = 0; i < avro_schema_record_size(record); i++) {
        take_step(d);
        struct value v = read_value(avro_schema_record_field_get_by_index(record, (int)i), d);
        if (d->bytes.failed) {
            *ret_why = "the record's bytes do not match the schema";
            return SP_MALFORMED;
        }
        const char *mistake = take(avro_schema_record_field_name(record, (int)i), &v, ret_page);
        why = why ? why : mistake;
    }
    *ret_why = why ? why : "the record has no url";
    if (why)
        return SP_MALFORMED;
    return ret_page->url.len ? SP_OK : SP_NO_URL;
}

/* ---- pages one by one ---- */

struct sp_page_schema {
    void *schema;
};

enum sp_err sp_page_schema_parse(struct sp_view json, struct sp_page_schema **ret_schema,
                                 const char **ret_why)
{
    void *schema = sp_avro_schema_parse(json, ret_why);
    if (!schema)
        return SP_MALFORMED;
    struct sp_page_schema *s = sp_alloc(sizeof *s);
    s->schema = schema;
    *ret_schema = s;
    return SP_OK;
}

void sp_page_schema_free(struct sp_page_schema *schema)
{
    if (!schema)
        return;
    sp_avro_schema_free(schema->schema);
    sp_free(schema);
}

enum sp_err sp_page_schema_decode(const struct sp_page_schema *schema, struct sp_view bytes,
                                  struct sp_page_record *ret_page, const char **ret_why)
{
    struct sp_avro_data data = sp_avro_data(bytes);
    struct sp_page_record page;
    enum sp_err err = sp_avro_decode(schema->schema, &data, &page, ret_why);
    if (err == SP_OK && sp_reader_left(&data.bytes) > 0) {
        *ret_why = "the page's bytes do not match its schema: some are left over";
        err = SP_MALFORMED;
    }
    if (err == SP_OK)
        *ret_page = page;
    return err;
}
