/* Crawled pages from files: JSONL, WARC, WET, ARC, Avro container files, JSON arrays, tables, dumps
 * of MediaWiki, folders of texts; plain, .gz or .zst; several files one after another; "-" is
 * standard input.
 *
 * Reading is two steps, so that it scales over cores. sp_input_next_chunk (one thread)
 * decompresses and cuts the input into chunks at record borders; sp_chunk_parse (any
 * thread, one sp_parser each) turns a chunk into page records. Position: records are
 * numbered from 0 over all files, bad ones included; with a compressed or an
 * uncompressed input alike, sp_input_skip resumes behind record number N. */
#ifndef SP_INPUT_INPUT_H
#define SP_INPUT_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/fault.h"
#include "input/fields.h"

/* One fetch of a page. Views point into the chunk or its parser's memory. */
struct sp_page_record {
    struct sp_view url;          /* or doc:ID */
    int64_t fetch_time_ms;       /* -1: not given */
    int32_t http_status;         /* 200 where not given */
    struct sp_view redirect_url; /* empty: none; made absolute against url */
    struct sp_view content_type; /* empty: not given */
    double popularity;           /* 0 where null or not given */
    struct sp_view content;      /* data NULL: not given */
    bool content_is_utf8;        /* JSON and Avro strings are; WARC bodies need not be */
    /* The record's bytes as the file has them, without what separates it from the next: a line, a
     * WARC record. Empty in Avro files. */
    struct sp_view whole;
    struct sp_view id;        /* as the file has it, where url was made of it; else empty */
    const char *content_like; /* where content is not: what to say of a field that looks like it, a
                                 literal; NULL: there is none */
    /* For a WARC revisit, which counts as a 304: the time of the fetch whose content was found
     * again, or that this fetch was of another URL. 0 and false: the content is that of the last
     * fetch. */
    int64_t as_of_ms;
    bool as_elsewhere;
    /* What the archive says of the payload, as "sha1:…"; empty: nothing. Of a 304: of the content
     * that was found again. */
    struct sp_view payload_digest;
};

enum sp_input_format { SP_INPUT_LINES, SP_INPUT_WARC, SP_INPUT_ARC, SP_INPUT_AVRO };

/* A record, or the reason why there is none. */
struct sp_input_item {
    uint64_t number;  /* over all input files, from 0 */
    uint64_t records; /* 1; more where one dead letter stands for several lost ones */
    bool half; /* the file's last line, without a newline, and unreadable: more may be written later
                */
    const char *file;   /* name as given */
    uint64_t offset;    /* of the record, in the decompressed file, bytes */
    enum sp_err err;    /* SP_OK: page is valid; else a dead letter */
    const char *why;    /* with err: a sentence; valid like the views */
    struct sp_view raw; /* the record's first bytes, at most 64 KiB */
    struct sp_page_record page;
};

/* Why the page of a 200 has no content, a sentence; NULL: it has. */
const char *sp_page_record_lacks_content(const struct sp_page_record *page);

struct sp_input_options {
    uint64_t max_record_bytes; /* larger ones are dead letters; default 64 MiB */
    size_t chunk_bytes;        /* default 1 MiB; a record may exceed it */
    struct sp_input_fields fields;
};

void sp_input_options_default(struct sp_input_options *ret_options);

struct sp_input;
struct sp_chunk;
struct sp_parser;

/* Opens the first file to fail early; names are copied. The fault names the file and says what
 * to do. The format is found by looking at the first bytes, never by the name alone. */
enum sp_err sp_input_open(const char *const *files, size_t file_count,
                          const struct sp_input_options *options, struct sp_input **ret_input,
                          struct sp_fault *fault);
void sp_input_close(struct sp_input *in);

/* Of the file that is open. */
enum sp_input_format sp_input_format(const struct sp_input *in);

/* Bytes of all input files as stored, or 0 where one is a pipe; and bytes read so far. */
uint64_t sp_input_total_bytes(const struct sp_input *in);
uint64_t sp_input_read_bytes(const struct sp_input *in);

/* Bytes of these files together, as stored, for progress reports: 0 where one is a pipe, or cannot
 * be opened, which reading will say. */
uint64_t sp_input_size_of(const char *const *names, size_t count,
                          const struct sp_input_options *options);

/* Skips the first `records` records (if there are fewer, SP_END follows). Call before the first
 * sp_input_next_chunk. */
enum sp_err sp_input_skip(struct sp_input *in, uint64_t records);

/* The next chunk, SP_END (and no fault) at the end of all files, SP_IO where a file cannot
 * be opened or read. Damaged compression ends that file: what was read before stays, and
 * a bad item says so. The caller owns the chunk. */
enum sp_err sp_input_next_chunk(struct sp_input *in, struct sp_chunk **ret_chunk,
                                struct sp_fault *fault);
/* NULL is allowed. */
void sp_chunk_free(struct sp_chunk *chunk);

struct sp_parser *sp_parser_new(const struct sp_input_options *options);
void sp_parser_free(struct sp_parser *p);

/* Calls `each` for every item of the chunk, in order; views are valid until it
 * returns. */
void sp_chunk_parse(struct sp_parser *p, struct sp_chunk *chunk,
                    void (*each)(void *arg, const struct sp_input_item *item), void *arg);

/* Number of records in the chunk, and the number of its first. */
uint64_t sp_chunk_first(const struct sp_chunk *chunk);
uint64_t sp_chunk_count(const struct sp_chunk *chunk);

/* One line of JSON as a record, for pages that come one by one. Views are valid until the parser's
 * next use. Errors as for a line of a file; *ret_why is a sentence then. */
enum sp_err sp_parser_json(struct sp_parser *p, struct sp_view line,
                           struct sp_page_record *ret_page, const char **ret_why);

/* What the writer of Avro pages calls its schema, for pages that come one by one: fields are taken
 * by name, whatever their order and width. Thread rule: any number of readers. */
struct sp_page_schema;
/* SP_MALFORMED: no record with a field `url`; *ret_why is a sentence then. */
enum sp_err sp_page_schema_parse(struct sp_view json, struct sp_page_schema **ret_schema,
                                 const char **ret_why);
/* NULL is allowed. */
void sp_page_schema_free(struct sp_page_schema *schema);
/* One page of exactly these bytes, in Avro's binary encoding; views point into them. */
enum sp_err sp_page_schema_decode(const struct sp_page_schema *schema, struct sp_view bytes,
                                  struct sp_page_record *ret_page, const char **ret_why);

/* Appends the URL of a document that has none: doc:ID, unusual bytes as %XX. */
void sp_input_put_doc(struct sp_buf *out, struct sp_view id);

/* Whether a file in a folder is taken for a text, by its name. */
bool sp_input_is_text_file(const char *name);

#endif
