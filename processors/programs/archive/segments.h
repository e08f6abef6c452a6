/* The archive's WARC files, samepage-00000.warc.gz and on: each record a gzip member of its own, as
 * other tools expect, so that a record can be read by its place. Private to this folder. */
#ifndef SP_ARCHIVE_SEGMENTS_H
#define SP_ARCHIVE_SEGMENTS_H

#include "base/bytes.h"
#include "base/fault.h"

enum { SP_SEGMENT_NAME_BYTES = 40, SP_PLACE_BYTES = 64 };

struct sp_place {
    uint32_t segment;
    uint64_t offset;
};

struct sp_segments;

/* The name is copied. Nothing is opened yet. */
struct sp_segments *sp_segments_new(const char *dir, int gzip_level);
void sp_segments_free(struct sp_segments *s);

/* The file's name within the directory. */
void sp_segment_name(uint32_t segment, char ret_name[SP_SEGMENT_NAME_BYTES]);
/* "samepage-00000.warc.gz@OFFSET", and back. */
void sp_place_text(struct sp_place place, char ret_text[SP_PLACE_BYTES]);
bool sp_place_parse(struct sp_view text, struct sp_place *ret_place);

/* Opens the segment for writing behind its first `length` bytes. What lies behind them, there and
 * in later segments, is of a run that was killed: it is removed. Length 0: the file is made. */
enum sp_err sp_segments_continue(struct sp_segments *s, uint32_t segment, uint64_t length,
                                 struct sp_fault *fault);
/* Closes the segment, on disk, and begins the next. */
enum sp_err sp_segments_begin_next(struct sp_segments *s, struct sp_fault *fault);

/* Where the next record will be. */
struct sp_place sp_segments_end(const struct sp_segments *s);
/* Appends one record; CR LF CR LF is put behind the block. */
enum sp_err sp_segments_append(struct sp_segments *s, struct sp_view header, struct sp_view block,
                               struct sp_fault *fault);
/* Brings what was appended to the disk. */
enum sp_err sp_segments_sync(struct sp_segments *s, struct sp_fault *fault);

/* Appends the record at the place, with what follows its block, to out; *ret_next: behind it.
 * SP_CORRUPT: there is none, or one of more than `most` bytes. SP_NOT_FOUND: no such file. */
enum sp_err sp_segments_read(struct sp_segments *s, struct sp_place place, uint64_t most,
                             struct sp_buf *out, uint64_t *ret_next);

/* The bytes of a segment's file. */
enum sp_err sp_segments_size(struct sp_segments *s, uint32_t segment, uint64_t *ret_bytes);

#endif
