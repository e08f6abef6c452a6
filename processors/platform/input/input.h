/* Crawled pages from files: JSONL, WARC, WET, ARC, Avro container files, JSON arrays, tables, dumps
 * of MediaWiki, folders of texts; plain, .gz or .zst; several files one after another; "-" is
 * standard input.
 *
 * Reading has two steps, so that it scales over cores. sp_input_next_chunk (one thread)
 * decompresses the input and cuts it into chunks at record borders; sp_chunk_parse (any thread,
 * each with its own sp_parser) turns a chunk into page records. Records, also bad ones, are
 * numbered from 0 over all files; sp_input_skip continues after a number of records, whether the
 * input is compressed or not. */
#ifndef SP_INPUT_INPUT_H
#define SP_INPUT_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/fault.h"
#include "input/fields.h"

/* Partial Content. */
enum { SP_HTTP_PART = 206 };

/* One fetch of a page. Views point into the chunk or its parser's memory. */
struct sp_page_record {
    struct sp_view url;    /* or doc:ID */
    int64_t fetch_time_ms; /* since 1970; -1: not given */
    /* 200 if not given. In WARC and ARC, 206 if the record has only a part of the page, and 200 if
     * all of it came as a 206. */
    int32_t http_status;
    struct sp_view redirect_url; /* empty: none; made absolute against url */
    struct sp_view content_type; /* empty: not given */
    double popularity;           /* 0 if null or not given */
    struct sp_view content;      /* data NULL: not given */
    bool content_is_utf8;        /* JSON and Avro strings are; WARC bodies need not be */
    /* The bytes of the record in the file (a line, a WARC record), without the separator after it.
     * Empty in Avro files. */
    struct sp_view whole;
    struct sp_view id;        /* as in the file, if `url` was made from it; otherwise empty */
    const char *content_like; /* if there is no content but a field that looks like it: a sentence
                                 about that field, a literal; otherwise NULL */
    /* A WARC revisit counts as a 304. as_of_ms is the time of the fetch that had the same content,
     * and as_elsewhere says that this fetch was of another URL. 0 and false: the content is that of
     * the last fetch. */
    int64_t as_of_ms;
    bool as_elsewhere;
    /* The archive's digest of the payload, such as "sha1:…"; of a 304, the digest of the content
     * that it repeats. Empty: none. */
    struct sp_view payload_digest;
};

enum sp_input_format { SP_INPUT_LINES, SP_INPUT_WARC, SP_INPUT_ARC, SP_INPUT_AVRO };

/* A record, or the reason why there is none. */
struct sp_input_item {
    uint64_t number;  /* over all input files, from 0 */
    uint64_t records; /* 1, or the number of lost records that one dead letter stands for */
    bool half; /* an unreadable last line without a newline: more of it may be written later */
    const char *file;   /* name as given */
    uint64_t offset;    /* of the record, in the decompressed file, bytes */
    enum sp_err err;    /* SP_OK: page is valid; else a dead letter */
    const char *why;    /* with err: a sentence; valid like the views */
    struct sp_view raw; /* the first bytes of the record, at most 64 KiB */
    struct sp_page_record page;
};

/* Whether the HTTP status says that the content is the page: any 2xx but 206, whose content is a
 * part of it. */
static inline bool sp_page_record_succeeded(const struct sp_page_record *page)
{
    return page->http_status >= 200 && page->http_status < 300 && page->http_status != SP_HTTP_PART;
}

/* A sentence (a literal) that says why the page of a 200 has no content; NULL: it has content. */
const char *sp_page_record_lacks_content(const struct sp_page_record *page);

struct sp_input_options {
    uint64_t max_record_bytes; /* larger ones are dead letters; default 64 MiB */
    size_t chunk_bytes;        /* default 512 KiB; a chunk with a larger record is larger */
    /* The files are so large that the kernel should not keep in its file cache what was read of
     * them. Default false. */
    bool read_once;
    struct sp_input_fields fields;
};

void sp_input_options_default(struct sp_input_options *ret_options);

struct sp_input;
struct sp_chunk;
struct sp_parser;

/* Opens every file once to fail early (a stream only if it comes first: sp_source_is_stream); the
 * first one stays open. Names are copied; the names in options.fields must outlive the input. The
 * format is recognised by the first bytes; only text, Markdown and HTML files need a name that says
 * so. SP_IO: a file cannot be opened or read. SP_INVALID: it is of a format that cannot be read.
 * The fault names the file and says what to do. */
enum sp_err sp_input_open(const char *const *files, size_t file_count,
                          const struct sp_input_options *options, struct sp_input **ret_input,
                          struct sp_fault *fault);
/* NULL is allowed. Chunks may outlive the input, but not their file names. */
void sp_input_close(struct sp_input *in);

/* The format of the file that is open; converted formats are SP_INPUT_LINES. */
enum sp_input_format sp_input_format(const struct sp_input *in);

/* The size of all files as stored, in bytes, or 0 if one is a pipe; and the bytes read so far. */
uint64_t sp_input_total_bytes(const struct sp_input *in);
uint64_t sp_input_read_bytes(const struct sp_input *in);

/* The size of these files as stored, in bytes, for progress reports. 0 if one is a stream or
 * cannot be opened; reading it will report the error. */
uint64_t sp_input_size_of(const char *const *names, size_t count,
                          const struct sp_input_options *options);

/* Skips the first `records` records; if there are fewer, the next chunk is SP_END. Call it before
 * the first sp_input_next_chunk. Always SP_OK. */
enum sp_err sp_input_skip(struct sp_input *in, uint64_t records);
/* At the end: how many of the records to skip there were not. */
uint64_t sp_input_unskipped(const struct sp_input *in);

/* Reads the next chunk, which the caller owns. SP_END (without a fault): all files have ended.
 * SP_IO or SP_INVALID: as in sp_input_open. Damaged compression is no error here: a bad item
 * reports it, and reading continues after the damage if it can (sp_source_read). */
enum sp_err sp_input_next_chunk(struct sp_input *in, struct sp_chunk **ret_chunk,
                                struct sp_fault *fault);
/* NULL is allowed. */
void sp_chunk_free(struct sp_chunk *chunk);
/* Frees a chunk of this input and keeps its memory for the next one, because memory that is new to
 * the process costs as much as reading into it. Thread rule: as for sp_input_next_chunk. NULL is
 * allowed. */
void sp_input_take_back(struct sp_input *in, struct sp_chunk *chunk);

/* Never NULL. The names in options.fields must outlive the parser. Thread rule: one thread at a
 * time for each parser. */
struct sp_parser *sp_parser_new(const struct sp_input_options *options);
void sp_parser_free(struct sp_parser *p);

/* Calls `each` for every item of the chunk, in order; views are valid until that call returns. */
void sp_chunk_parse(struct sp_parser *p, struct sp_chunk *chunk,
                    void (*each)(void *arg, const struct sp_input_item *item), void *arg);

/* For tests: the number of the first record of the chunk that was not skipped, and how many there
 * are. */
uint64_t sp_chunk_first(const struct sp_chunk *chunk);
uint64_t sp_chunk_count(const struct sp_chunk *chunk);

/* Parses one line of JSON, for pages that come one by one. Views are valid until the parser's next
 * use. Errors are those of a line of a file; *ret_why is then a sentence. */
enum sp_err sp_parser_json(struct sp_parser *p, struct sp_view line,
                           struct sp_page_record *ret_page, const char **ret_why);

/* The schema of a program that writes Avro pages, for pages that come one by one. Fields are found
 * by name, whatever their order and the width of their numbers. Thread rule: read-only once parsed;
 * any thread. */
struct sp_page_schema;
/* SP_MALFORMED: it is not a record with a field `url`; *ret_why is then a sentence. The caller
 * frees the schema. */
enum sp_err sp_page_schema_parse(struct sp_view json, struct sp_page_schema **ret_schema,
                                 const char **ret_why);
/* NULL is allowed. */
void sp_page_schema_free(struct sp_page_schema *schema);
/* Decodes one page, in Avro's binary encoding, that fills `bytes`; views point into them. On an
 * error *ret_why is a sentence. */
enum sp_err sp_page_schema_decode(const struct sp_page_schema *schema, struct sp_view bytes,
                                  struct sp_page_record *ret_page, const char **ret_why);

/* Appends the URL that stands for a document without one: doc:ID, with control characters, spaces,
 * %, # and bytes that are not UTF-8 as %XX. */
void sp_input_put_doc(struct sp_buf *out, struct sp_view id);
/* Appends the URL of the page that a user names: by its URL, or a document by its id. */
void sp_input_put_named(struct sp_buf *out, struct sp_view name);

/* Whether the file is XML, but not the dump of a MediaWiki: a sitemap or a feed of a site. */
bool sp_input_is_other_xml(const char *file);

/* The MIME type that the name of a text file stands for, such as those that a folder as input
 * includes; NULL: it is not the name of a text file. */
const char *sp_input_text_type(const char *name);

#endif
