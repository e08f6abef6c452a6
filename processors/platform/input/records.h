/* Cuts files whose records have their length in a header: WARC (warc.c) and ARC (arc.c). Private to
 * this folder. */
#ifndef SP_INPUT_RECORDS_H
#define SP_INPUT_RECORDS_H

#include "input/window.h"

struct sp_record_kind {
    /* The number of bytes that are enough to recognise the beginning of a record. */
    size_t mark;
    /* Whether a record begins at `at`. */
    bool (*begins)(const struct sp_window *w, size_t at);
    /* The next place from `from` on where a line begins a record; the window's length if none. */
    size_t (*find)(const struct sp_window *w, size_t from);
    /* The length of the header in bytes; 0: it does not end within the text. */
    size_t (*header_end)(struct sp_view text);
    /* Whether a header (the bytes that header_end found) is that of a page. */
    bool (*is_page)(struct sp_view header);
    /* What a line of a header cannot begin with, because a record does; NULL: a header is a line.
     */
    const char *border;
    /* May be NULL. Why the header cannot be used; NULL: it can. */
    const char *(*fault)(struct sp_view header);
    /* The number of bytes that follow the header. False: the header does not say. */
    bool (*length)(struct sp_view header, uint64_t *ret_length);
    struct { /* reasons of dead letters; literals */
        const char *no_end;
        const char *cut_header;
        const char *joined;
        const char *no_length;
        const char *far_too_long;
        const char *cut;
        const char *comes_early;
        const char *cut_large;
        const char *not_here;
    } why;
};

/* The texts of `why`, with the format's names for a record and its length. */
#define SP_RECORD_WHY(A, NAME, LENGTH)                                                             \
    {                                                                                              \
        .no_end = "the " NAME " header does not end",                                              \
        .cut_header = "the file ends within " A " " NAME " header",                                \
        .joined = "the " NAME " header ends where the next record begins",                         \
        .no_length = "the " NAME " record has no usable " LENGTH,                                  \
        .far_too_long = "the " NAME " record's " LENGTH " is longer than any page",                \
        .cut = "the file ends within " A " " NAME " record",                                       \
        .comes_early = "the next " NAME " record comes before the end of the one that is larger "  \
                       "than input.max_record_bytes",                                              \
        .cut_large = "the file ends within " A " " NAME " record that is larger than "             \
                     "input.max_record_bytes; if it is not cut, the record's length is wrong, "    \
                     "and records after it are lost",                                              \
        .not_here = A " " NAME " record should start here; the length of the one before may be "   \
                      "wrong",                                                                     \
    }

/* Whether a record may begin behind this byte: the end of a line, or one of the zeros that fill a
 * block. */
static inline bool sp_record_may_follow(char byte)
{
    return byte == '\n' || byte == 0;
}

/* Cuts records from the start of the window, like the functions at the end of window.h. Records
 * that are no pages are skipped. */
size_t sp_records_split(struct sp_window *w, struct sp_chunk *chunk,
                        const struct sp_record_kind *kind);

#endif
