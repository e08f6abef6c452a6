/* The parsers of the formats, which turn a slice of a chunk into items. Private to this folder.
 * Thread rule: one thread at a time for each parser. */
#ifndef SP_INPUT_PARSER_H
#define SP_INPUT_PARSER_H

#include "input/window.h"

struct sp_flat;
struct sp_json_ops;

struct sp_parser {
    uint64_t max_record;
    struct sp_input_fields fields;
    const struct sp_json_ops *json;
    void *json_parser;
    struct sp_flat *flat; /* tried before it; may be NULL */
    struct sp_buf body;   /* HTTP body without its transfer coding */
    struct sp_buf plain;  /* the same without its content coding */
    struct sp_buf doc;    /* doc:ID of a document without a URL */
    struct sp_buf url;    /* a URL that was not UTF-8 */
    struct sp_buf target; /* absolute URL of a redirect */
    struct sp_buf target_utf8;
};

/* Each fills in item->page, or item->err and item->why. */
void sp_lines_parse(struct sp_parser *p, struct sp_view line, struct sp_input_item *item);
void sp_warc_parse(struct sp_parser *p, struct sp_view record, struct sp_input_item *item);
void sp_arc_parse(struct sp_parser *p, struct sp_view record, struct sp_input_item *item);
/* Calls `each` for every record of the slice except the first `skip`. item->number is the number of
 * the slice's first record. */
void sp_avro_parse(struct sp_parser *p, const struct sp_chunk *chunk, const struct sp_slice *slice,
                   uint64_t skip, struct sp_input_item *item,
                   void (*each)(void *arg, const struct sp_input_item *item), void *arg);

/* Appends the URL with its bytes that are not UTF-8 as %XX. */
void sp_input_put_utf8(struct sp_buf *out, struct sp_view url);
/* The URL of a record with its bytes that are not UTF-8 as %XX, which is how browsers send them.
 * JSON, in which URLs are printed, cannot hold them, and URLs that differ have to stay different.
 * Valid until the next call. */
struct sp_view sp_parser_url(struct sp_parser *p, struct sp_view url);
/* Replaces page->redirect_url, a reference, by the absolute URL, in UTF-8 as well, and gives an
 * empty content to a page that has none because of its status (204, 205). */
void sp_parser_resolve(struct sp_parser *p, struct sp_page_record *page);
/* If the fields allow any id, or are those of a dataset: turns an id that is no URL into doc:ID. A
 * dataset's record without an id gets its number. */
void sp_parser_identify(struct sp_parser *p, struct sp_page_record *page, uint64_t number);
/* Makes the item a dead letter. `why` is a literal. */
void sp_item_fail(struct sp_input_item *item, enum sp_err err, const char *why);

#endif
