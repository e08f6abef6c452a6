/* See schemas.h. The assembler reads our schemas: CMakeLists.txt names the files. */
#include "kafka/schemas.h"

#include <stdio.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/mem.h"
#include "codec/codec.h"

#define SCHEMA(name, file)                                                                         \
    __asm__(".section .rodata\n"                                                                   \
            ".global sp_schema_" name "_start\n.global sp_schema_" name "_end\n"                   \
            "sp_schema_" name "_start:\n.incbin \"" file "\"\n"                                    \
            "sp_schema_" name "_end:\n.byte 0\n.text\n")

SCHEMA("page", SP_PAGE_SCHEMA_FILE);
SCHEMA("status", SP_STATUS_SCHEMA_FILE);

extern const char sp_schema_page_start[], sp_schema_page_end[];
extern const char sp_schema_status_start[], sp_schema_status_end[];

enum { FRAME_BYTES = 5 };

struct known {
    uint32_t id;
    struct sp_page_schema *schema; /* NULL: see err */
    enum sp_err err;
    int64_t until_ms; /* 0: forever, because an id never changes its schema */
    char why[256];
};

struct sp_schemas {
    const struct sp_kafka_options *kafka;
    struct sp_registry *registry;
    uint32_t ids[SP_TOPICS]; /* of our schemas; 0: not requested yet */
    struct known known[SP_SCHEMAS_KEPT];
    size_t count;
    size_t oldest;
    struct known *last; /* the entry that was used last */
    struct sp_buf text;
    struct sp_fault fault;
};

enum sp_err sp_schemas_new(const struct sp_registry_options *options,
                           const struct sp_kafka_options *kafka, struct sp_schemas **ret_schemas,
                           struct sp_fault *fault)
{
    struct sp_registry *registry;
    enum sp_err err = sp_registry_new(options, &registry, fault);
    if (err != SP_OK)
        return err;
    struct sp_schemas *s = sp_calloc(1, sizeof *s);
    s->kafka = kafka;
    s->registry = registry;
    *ret_schemas = s;
    return SP_OK;
}

void sp_schemas_free(struct sp_schemas *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++)
        sp_page_schema_free(s->known[i].schema);
    sp_registry_free(s->registry);
    sp_buf_done(&s->text);
    sp_free(s);
}

enum sp_err sp_schemas_reach(struct sp_schemas *s, struct sp_fault *fault)
{
    return sp_registry_reach(s->registry, fault);
}

/* ---- schemas that we write ---- */

enum sp_err sp_schemas_id(struct sp_schemas *s, enum sp_topic topic, uint32_t *ret_id,
                          struct sp_fault *fault)
{
    SP_ASSERT(topic == SP_TOPIC_PAGES || topic == SP_TOPIC_STATUS);
    struct sp_view schema =
        topic == SP_TOPIC_PAGES
            ? sp_view(sp_schema_page_start, (size_t)(sp_schema_page_end - sp_schema_page_start))
            : sp_view(sp_schema_status_start,
                      (size_t)(sp_schema_status_end - sp_schema_status_start));
    char name[SP_TOPIC_NAME_MAX], subject[SP_TOPIC_NAME_MAX + sizeof "-value"];
    if (s->ids[topic] == 0) {
        sp_topic_name(s->kafka, topic, name);
        snprintf(subject, sizeof subject, "%s-value", name);
        enum sp_err err = sp_registry_id(s->registry, subject, schema, &s->ids[topic], fault);
        if (err == SP_NOT_FOUND)
            return sp_fault_set(fault, SP_INVALID,
                                "%s; register schemas/%s, or set "
                                "schema.registry.auto.register.schemas = true",
                                fault->text, topic == SP_TOPIC_PAGES ? "page.avsc" : "status.avsc");
        if (err != SP_OK)
            return err;
    }
    *ret_id = s->ids[topic];
    return SP_OK;
}

/* ---- schemas that others write ---- */

static struct known *find(struct sp_schemas *s, uint32_t id)
{
    if (s->last && s->last->id == id)
        return s->last;
    for (size_t i = 0; i < s->count; i++)
        if (s->known[i].id == id)
            return s->last = &s->known[i];
    return NULL;
}

/* Makes room for one more entry: removes the oldest if there is no other. */
static struct known *add(struct sp_schemas *s, uint32_t id)
{
    struct known *k;
    if (s->count < SP_SCHEMAS_KEPT) {
        k = &s->known[s->count++];
    } else {
        k = &s->known[s->oldest];
        s->oldest = (s->oldest + 1) % SP_SCHEMAS_KEPT;
        sp_page_schema_free(k->schema);
    }
    *k = (struct known){.id = id};
    return s->last = k;
}

/* Asks the registry which schema the id stands for. An error that may pass, or that an operator
 * must fix, is not cached. */
static enum sp_err look_up(struct sp_schemas *s, uint32_t id, struct known **ret_known)
{
    const char *why = s->fault.text;
    struct sp_page_schema *schema = NULL;
    enum sp_err err = sp_registry_schema(s->registry, id, &s->text, &s->fault);
    if (err == SP_BUSY || err == SP_INVALID)
        return err;
    bool missing = err == SP_NOT_FOUND;
    if (err == SP_OK)
        err = sp_page_schema_parse(sp_buf_view(&s->text), &schema, &why);
    struct known *k = find(s, id);
    k = k ? k : add(s, id);
    k->schema = schema;
    k->err = err == SP_OK ? SP_OK : SP_UNKNOWN_SCHEMA;
    k->until_ms = missing ? sp_clock_ms() + SP_SCHEMAS_AGAIN_MS : 0;
    if (missing)
        snprintf(k->why, sizeof k->why, "the schema registry knows no schema with the id %u", id);
    else if (err != SP_OK)
        snprintf(k->why, sizeof k->why, "the schema with the id %u is not one of pages: %.180s", id,
                 why);
    *ret_known = k;
    return SP_OK;
}

enum sp_err sp_schemas_page(struct sp_schemas *s, struct sp_view value,
                            struct sp_page_record *ret_page, const char **ret_why)
{
    struct sp_wire_format format = sp_wire_format_seen(value);
    *ret_why = "the page ends within the framing of a schema registry";
    if (format.framing != SP_FRAMING_REGISTRY)
        return SP_TRUNCATED;
    struct known *k = find(s, format.schema_id);
    enum sp_err err = SP_OK;
    if (!k || (k->until_ms && sp_clock_ms() >= k->until_ms))
        err = look_up(s, format.schema_id, &k);
    *ret_why = err == SP_OK ? k->why : s->fault.text;
    if (err != SP_OK || k->err != SP_OK)
        return err != SP_OK ? err : k->err;
    return sp_page_schema_decode(
        k->schema, sp_view(value.data + FRAME_BYTES, value.len - FRAME_BYTES), ret_page, ret_why);
}
