/* What the readers of the formats work on: a window over the decompressed file, and the chunk
 * that is being cut from it. Private to this folder. */
#ifndef SP_INPUT_WINDOW_H
#define SP_INPUT_WINDOW_H

#include "base/bytes.h"
#include "input/convert.h"
#include "input/input.h"
#include "input/source.h"

enum { SP_RAW_MAX = 65536 };

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
    struct sp_convert *convert; /* NULL: the file is read as it is; else lines are made of it */
    bool converted;             /* to its end */
    struct sp_buf raw;          /* what goes into `convert` */
    struct sp_buf buf;          /* bytes [0, len) of it start at `offset` of the file */
    uint64_t offset;
    bool end;           /* nothing more can be read just now: the end, or damage */
    enum sp_err damage; /* SP_OK, or why the end came */
    enum sp_err io;     /* reading failed */
    size_t block;       /* bytes to ask for */
    uint64_t max_record;
    size_t seen;       /* lines: no newline before here */
    bool discard_line; /* lines: the rest of a line too long */
    uint64_t discard;  /* WARC, ARC: bytes of a record too large still to come */
    bool discard_own;  /* WARC, ARC: that record began a member */
    bool resync; /* WARC, ARC: a dead letter has been made of what comes before the next record */
    struct sp_avro_file *avro;
    uint64_t *members; /* where in the file gzip members or Zstandard frames begin, ascending */
    size_t member_count;
    size_t member_cap;
};

/* The first member that begins at `at` or behind it, or the window's length. */
size_t sp_window_member(const struct sp_window *w, size_t at);
/* Forgets the members in the first `bytes`; the caller moves the bytes themselves. */
void sp_window_moved(struct sp_window *w, size_t bytes);

/* Reads more; false where nothing came, and then `end` is set. */
bool sp_window_more(struct sp_window *w);
/* Makes at least `want` bytes available; false: the file ends before. */
bool sp_window_want(struct sp_window *w, size_t want);

void sp_chunk_add(struct sp_chunk *chunk, struct sp_slice slice);
/* One record that is none. */
void sp_chunk_add_bad(struct sp_chunk *chunk, const struct sp_window *w, size_t at, size_t len,
                      enum sp_err err, const char *why);

/* Each cuts records from the start of the window into slices and returns how many bytes they took;
 * at least one byte, unless the window is empty at the end of the file. */
size_t sp_lines_split(struct sp_window *w, struct sp_chunk *chunk);
size_t sp_warc_split(struct sp_window *w, struct sp_chunk *chunk);
size_t sp_arc_split(struct sp_window *w, struct sp_chunk *chunk);
size_t sp_avro_split(struct sp_window *w, struct sp_chunk *chunk);

struct sp_avro_file *sp_avro_file_ref(struct sp_avro_file *f);
void sp_avro_file_unref(struct sp_avro_file *f);

#endif
