/* What the readers of the formats work on: a window over the decompressed file, and the chunk
 * that is being cut from it. Private to this folder. */
#ifndef SP_INPUT_WINDOW_H
#define SP_INPUT_WINDOW_H

#include "base/bytes.h"
#include "input/input.h"
#include "input/source.h"

enum { SP_RAW_MAX = 65536 };

enum sp_input_format { SP_INPUT_LINES, SP_INPUT_WARC, SP_INPUT_AVRO };

/* Where records lie in a chunk. */
struct sp_slice {
    size_t at;
    size_t len;
    uint64_t offset; /* in the decompressed file */
    uint32_t records;
    bool open_end; /* lines: the file ends without a newline; more of it may be written later */
    enum sp_err err;
    const char *why; /* a literal */
};

struct sp_avro_file;

struct sp_chunk {
    const char *file; /* the input's */
    enum sp_input_format format;
    struct sp_buf data; /* with padding behind */
    struct sp_slice *slices;
    size_t slice_count;
    size_t slice_cap;
    uint64_t first;
    uint64_t count;
    uint64_t skip;             /* records at the start that are not wanted */
    struct sp_avro_file *avro; /* shared, counted */
};

struct sp_window {
    struct sp_source *source;
    struct sp_buf buf; /* bytes [0, len) of it start at `offset` of the file */
    uint64_t offset;
    bool end;           /* nothing more can be read just now: the end, or damage */
    enum sp_err damage; /* SP_OK, or why the end came */
    enum sp_err io;     /* reading failed */
    size_t block;       /* bytes to ask for */
    uint64_t max_record;
    size_t seen;       /* lines: no newline before here */
    bool discard_line; /* lines: the rest of a line too long */
    uint64_t discard;  /* WARC: bytes of a record too large still to come */
    bool resync;       /* WARC: a dead letter has been made of what comes before the next record */
    struct sp_avro_file *avro;
};

/* Reads more; false where nothing came, and then `end` is set. */
bool sp_window_more(struct sp_window *w);
/* Makes at least `want` bytes available; false: the file ends before. */
bool sp_window_want(struct sp_window *w, size_t want);

void sp_chunk_add(struct sp_chunk *chunk, struct sp_slice slice);
/* One record that is none. */
void sp_chunk_add_bad(struct sp_chunk *chunk, const struct sp_window *w, size_t at, size_t len,
                      enum sp_err err, const char *why);

/* Each cuts records from the start of the window into slices and answers how many bytes they took;
 * at least one byte, unless the window is empty at the end of the file. */
size_t sp_lines_split(struct sp_window *w, struct sp_chunk *chunk);
size_t sp_warc_split(struct sp_window *w, struct sp_chunk *chunk);
size_t sp_avro_split(struct sp_window *w, struct sp_chunk *chunk);

/* ---- the parsers' side ---- */

struct sp_json_ops;

struct sp_parser {
    uint64_t max_record;
    const struct sp_json_ops *json;
    void *json_parser;
    struct sp_buf body;  /* HTTP body without its transfer encoding */
    struct sp_buf plain; /* and without its content encoding */
    struct sp_buf url;   /* absolute redirect */
};

/* Fills in item->page, or item->err and item->why. */
void sp_lines_parse(struct sp_parser *p, struct sp_view line, struct sp_input_item *item);
void sp_warc_parse(struct sp_parser *p, struct sp_view record, struct sp_input_item *item);
/* Calls `each` once for each of the slice's records, from number item->number on, passing over the
 * first `skip`. */
void sp_avro_parse(struct sp_parser *p, const struct sp_chunk *chunk, const struct sp_slice *slice,
                   uint64_t skip, struct sp_input_item *item,
                   void (*each)(void *arg, const struct sp_input_item *item), void *arg);

struct sp_avro_file *sp_avro_file_ref(struct sp_avro_file *f);
void sp_avro_file_unref(struct sp_avro_file *f);

/* Fills in page->redirect_url from a reference, in place of what it was. */
void sp_parser_resolve(struct sp_parser *p, struct sp_page_record *page);
void sp_item_fail(struct sp_input_item *item, enum sp_err err, const char *why);

#endif
