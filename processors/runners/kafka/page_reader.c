/* See page_reader.h. */
#include "kafka/page_reader.h"

#include "base/mem.h"
#include "codec/codec.h"
#include "input/input.h"
#include "signature/signature.h"

struct sp_page_reader {
    struct sp_parser *parser;
    struct sp_wire_format registry;
    struct sp_schemas *schemas; /* NULL: there is no registry */
    struct sp_text *text;
    struct sp_buf scratch;
};

struct sp_page_reader *sp_page_reader_new(const struct sp_stage_options *o)
{
    struct sp_page_reader *d = sp_calloc(1, sizeof *d);
    d->registry = sp_wire_format_of_id(o->pages_schema_id);
    d->schemas = o->schemas;
    d->parser = sp_parser_new(&o->input);
    d->text = sp_text_new(&o->text);
    return d;
}

void sp_page_reader_free(struct sp_page_reader *d)
{
    sp_parser_free(d->parser);
    sp_text_free(d->text);
    sp_buf_done(&d->scratch);
    sp_free(d);
}

static enum sp_err read_avro(struct sp_view value, const struct sp_wire_format *format,
                             struct sp_page_record *ret_page, const char **ret_why)
{
    enum sp_err err = sp_page_decode(value, format, ret_page);
    if (err != SP_UNKNOWN_SCHEMA)
        *ret_why =
            format
                ? "the page has the right schema id, but is damaged, or was written with another schema"
                : "the page is Avro of a known schema, but is damaged";
    return err;
}

static enum sp_err read_page(struct sp_page_reader *d, struct sp_view value,
                             struct sp_page_record *ret_page, const char **ret_why)
{
    *ret_why = "the page is neither JSON nor Avro of a known schema";
    if (value.len > 0 && (uint8_t)value.data[0] == 0xc3)
        return read_avro(value, NULL, ret_page, ret_why);
    if (value.len > 0 && value.data[0] == 0 && d->schemas)
        return sp_schemas_page(d->schemas, value, ret_page, ret_why);
    if (value.len > 0 && value.data[0] == 0) {
        *ret_why = "the page is in the framing of a schema registry, with another schema id than "
                   "topics.pages_schema_id";
        return d->registry.framing == SP_FRAMING_REGISTRY
                   ? read_avro(value, &d->registry, ret_page, ret_why)
                   : SP_UNKNOWN_SCHEMA;
    }
    return sp_parser_json(d->parser, value, ret_page, ret_why);
}

/* A record without a value in the topic of pages: the page of its key is to be forgotten. */
static enum sp_err read_deletion(struct sp_page_reader *d, struct sp_view key,
                                 struct sp_message **ret_message, const char **ret_why)
{
    *ret_why = "a message without a value forgets the page that its key names, and the key is no "
               "usable URL";
    return sp_erase_message(key, &d->scratch, ret_message);
}

enum sp_err sp_page_reader_read(struct sp_page_reader *d, struct sp_view key, struct sp_view value,
                                struct sp_worker_reading *ret_reading)
{
    struct sp_page_record page;
    struct sp_worker_reading r = {0};
    enum sp_err err =
        value.data ? read_page(d, value, &page, &r.why) : read_deletion(d, key, &r.message, &r.why);
    if (err == SP_OK && value.data)
        err = sp_record_message(d->text, &page, &d->scratch, &r.message, &r.why);
    r.cut = sp_text_take_cut(d->text);
    *ret_reading = r;
    return err;
}
