/* Files made by a test, and everything the reader returns for them. */
#ifndef SP_TEST_INPUT_HELPER_H
#define SP_TEST_INPUT_HELPER_H

#include "base/bytes.h"
#include "input/input.h"

/* Creates a file of these bytes in a folder that is removed at exit; the name stays valid. */
const char *make_file(struct sp_view bytes);
const char *make_text(const char *text);

/* Append one gzip member, one Zstandard frame, one Brotli stream, formatted text, or `count` equal
 * bytes. */
void put_gzip(struct sp_buf *out, struct sp_view bytes);
void put_gzip_level(struct sp_buf *out, struct sp_view bytes, int level);
/* A gzip member that is damaged behind these bytes. */
void put_damaged_gzip(struct sp_buf *out, struct sp_view bytes);
void put_zstd(struct sp_buf *out, struct sp_view bytes);
void put_brotli(struct sp_buf *out, struct sp_view bytes);
void put_format(struct sp_buf *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void put_times(struct sp_buf *out, char byte, size_t count);
/* Words that hardly compress, so that damage is not at the end of a member. */
void put_noise(struct sp_buf *out, uint64_t seed, size_t bytes);

/* Copies of items, including what their views point to. */
struct got {
    struct sp_input_item *items;
    size_t count;
    size_t cap;
    size_t pages; /* items without an error */
    size_t chunks;
    enum sp_err end; /* SP_END, or the error that ended reading */
    char message[512];
};

struct reading {
    size_t chunk_bytes;        /* 0: the default */
    uint64_t max_record_bytes; /* 0: the default */
    uint64_t skip;
    bool unquoted;
};

/* Reads all of the files. */
struct got read_files(const char *const *files, size_t count, const struct reading *how);
struct got read_file(const char *file, const struct reading *how);
struct got read_bytes(struct sp_view bytes, const struct reading *how);
struct got read_text(const char *text);
/* Releases the file afterwards. */
struct got read_and_drop(struct sp_buf *file, const struct reading *how);
void got_done(struct got *g);

/* Asserts that item i is a page with this URL and content. */
void check_page(const struct got *g, size_t i, const char *url, const char *content);
/* Asserts that item i is a dead letter whose reason contains `part_of_why`. */
void check_bad(const struct got *g, size_t i, enum sp_err err, const char *part_of_why);
/* Whether a and b describe the same record; `raw` may differ if the record is too large. */
bool same_item(const struct sp_input_item *a, const struct sp_input_item *b);
bool same_page(const struct sp_page_record *a, const struct sp_page_record *b);
bool view_is(struct sp_view v, const char *text);

#endif
