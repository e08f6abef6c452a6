/* What the parsers of the formats work with and on: a slice of a chunk becomes items. Private to
 * this folder. */
#ifndef SP_INPUT_PARSER_H
#define SP_INPUT_PARSER_H

#include "input/window.h"

struct sp_json_ops;

struct sp_parser {
    uint64_t max_record;
    struct sp_input_fields fields;
    const struct sp_json_ops *json;
    void *json_parser;
    struct sp_buf body;  /* HTTP body without its transfer encoding */
    struct sp_buf plain; /* and without its content encoding */
    struct sp_buf url;   /* absolute redirect */
    struct sp_buf doc;   /* url of a document that has none */
};

/* Fills in item->page, or item->err and item->why. */
void sp_lines_parse(struct sp_parser *p, struct sp_view line, struct sp_input_item *item);
void sp_warc_parse(struct sp_parser *p, struct sp_view record, struct sp_input_item *item);
void sp_arc_parse(struct sp_parser *p, struct sp_view record, struct sp_input_item *item);
/* Calls `each` once for each of the slice's records, from number item->number on, passing over the
 * first `skip`. */
void sp_avro_parse(struct sp_parser *p, const struct sp_chunk *chunk, const struct sp_slice *slice,
                   uint64_t skip, struct sp_input_item *item,
                   void (*each)(void *arg, const struct sp_input_item *item), void *arg);

/* Fills in page->redirect_url from a reference, in place of what it was. */
void sp_parser_resolve(struct sp_parser *p, struct sp_page_record *page);
/* Makes the id a URL where the fields allow any: doc:ID. */
void sp_parser_identify(struct sp_parser *p, struct sp_page_record *page, uint64_t number);
/* `why`: a literal. */
void sp_item_fail(struct sp_input_item *item, enum sp_err err, const char *why);

#endif
