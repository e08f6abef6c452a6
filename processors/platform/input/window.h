/* A window over the decompressed file, and the chunk that a format's reader cuts from it. Private
 * to this folder. Thread rule: one thread at a time. */
#ifndef SP_INPUT_WINDOW_H
#define SP_INPUT_WINDOW_H

#include "base/bytes.h"
#include "input/convert.h"
#include "input/input.h"
#include "input/source.h"

enum { SP_RAW_MAX = 65536 }; /* bytes of a bad record that its dead letter shows */

/* The place of a record in a chunk; in an Avro file, that of a block of records. */
struct sp_slice {
    size_t at;
    size_t len;
    uint64_t offset; /* in the decompressed file */
    uint32_t records;
    bool open_end;   /* lines: the file ends without a newline; more of it may be written later */
    enum sp_err err; /* SP_OK, or the slice is a dead letter */
    const char *why; /* with err; a literal */
};

struct sp_avro_file;

struct sp_chunk {
    const char *file; /* borrowed from the input */
    enum sp_input_format format;
    struct sp_buf data; /* followed by padding: SP_JSON_PADDING zeros */
    struct sp_slice *slices;
    size_t slice_count;
    size_t slice_cap;
    uint64_t first;
    uint64_t count;
    uint64_t skip;             /* records at the start that are to be skipped */
    struct sp_avro_file *avro; /* one reference; NULL in other formats */
};

struct sp_window {
    struct sp_source *source;
    struct sp_convert *convert; /* NULL: the file needs no conversion */
    bool converted;             /* the conversion has reached the end of the file */
    bool unfinished;            /* and the last line ends there before it is complete */
    struct sp_buf raw;          /* the input of `convert`: [raw_at, len) is still to be converted */
    size_t raw_at;
    enum sp_err raw_err; /* what the file has behind `raw`; SP_OK: more, or its end */
    struct sp_buf buf;   /* bytes [0, len) of it start at `offset` of the file */
    uint64_t offset;
    char before;         /* the byte before `buf`, unless that is the start of the file */
    bool end;            /* nothing more can be read for now: the end of the file, or damage */
    enum sp_err damage;  /* SP_OK, or the damage that caused `end` */
    bool damage_told;    /* the record that it cut is its dead letter */
    enum sp_err io;      /* SP_OK, or reading failed */
    size_t block;        /* bytes of one read */
    uint64_t max_record; /* bytes */
    size_t seen;         /* lines: there is no newline before this byte */
    uint64_t no_end;     /* WARC, ARC: of sp_header_find_end */
    bool discard_line;   /* lines: what follows is the rest of a line that is too long */
    uint64_t discard;    /* WARC, ARC: bytes still to come of a record that is too large */
    bool discard_own;    /* WARC, ARC: that record began a member */
    bool resync; /* WARC, ARC: what comes before the next record already has a dead letter */
    struct sp_avro_file *avro; /* one reference */
    uint64_t *members; /* offsets in the file at which gzip members or frames begin, ascending */
    size_t member_count;
    size_t member_cap;
};

/* The place in the window of the first member that begins at or after `at`; the window's length if
 * there is none. */
size_t sp_window_member(const struct sp_window *w, size_t at);
/* Moves `offset` on by `bytes` and forgets the members before; the caller moves the bytes. */
void sp_window_moved(struct sp_window *w, size_t bytes);

/* Reads more. False: nothing could be read, and `end` is set. */
bool sp_window_more(struct sp_window *w);
/* Reads until at least `want` bytes are in the window. False: the file ends before. */
bool sp_window_want(struct sp_window *w, size_t want);

void sp_chunk_add(struct sp_chunk *chunk, struct sp_slice slice);
/* Adds a dead letter for `len` bytes at `at`, of which it shows the first SP_RAW_MAX. */
void sp_chunk_add_bad(struct sp_chunk *chunk, const struct sp_window *w, size_t at, size_t len,
                      enum sp_err err, const char *why);

/* The same for a record that reaches to the end of the window, where the file ends or is damaged.
 * Damage that cuts a record is no second dead letter. */
void sp_chunk_add_cut(struct sp_chunk *chunk, struct sp_window *w, size_t at, const char *why);

/* Each cuts records from the start of the window into slices and returns the number of bytes that
 * these took: at least one, unless the window is empty at the end of the file. */
size_t sp_lines_split(struct sp_window *w, struct sp_chunk *chunk);
size_t sp_warc_split(struct sp_window *w, struct sp_chunk *chunk);
size_t sp_arc_split(struct sp_window *w, struct sp_chunk *chunk);
size_t sp_avro_split(struct sp_window *w, struct sp_chunk *chunk);

/* Add and drop a reference; any thread. NULL is allowed for the second. */
struct sp_avro_file *sp_avro_file_ref(struct sp_avro_file *f);
void sp_avro_file_unref(struct sp_avro_file *f);

#endif
