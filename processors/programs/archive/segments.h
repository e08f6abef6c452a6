/* The archive's WARC files, samepage-00000.warc.gz and on. Each record is a gzip member of its own,
 * as other tools expect, so that it can be read from its position. Private to this folder. */
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

/* The file's name, without its directory. */
void sp_segment_name(uint32_t segment, char ret_name[SP_SEGMENT_NAME_BYTES]);
/* Whether it is such a name, of any number. */
bool sp_segment_is_name(const char *name);
/* "samepage-00000.warc.gz@OFFSET", and back. */
void sp_place_text(struct sp_place place, char ret_text[SP_PLACE_BYTES]);
bool sp_place_parse(struct sp_view text, struct sp_place *ret_place);

/* Opens the segment for writing after its first `length` bytes. Removes later bytes and segments,
 * which a killed run has left. Length 0 creates the file; otherwise it must exist. */
enum sp_err sp_segments_continue(struct sp_segments *s, uint32_t segment, uint64_t length,
                                 struct sp_fault *fault);
/* Syncs and closes the segment, and begins the next. */
enum sp_err sp_segments_begin_next(struct sp_segments *s, struct sp_fault *fault);

/* The position of the next record. */
struct sp_place sp_segments_end(const struct sp_segments *s);
/* Appends one record, with CR LF CR LF after the block. */
enum sp_err sp_segments_append(struct sp_segments *s, struct sp_view header, struct sp_view block,
                               struct sp_fault *fault);
/* Syncs what was appended to the disk. */
enum sp_err sp_segments_sync(struct sp_segments *s, struct sp_fault *fault);

/* Appends the record at this position to out, with what follows its block; *ret_next: the position
 * after it. SP_CORRUPT: no record there. SP_TOO_LARGE: it has more than `most` bytes; out has its
 * beginning. SP_NOT_FOUND: no such file. */
enum sp_err sp_segments_read(struct sp_segments *s, struct sp_place place, uint64_t most,
                             struct sp_buf *out, uint64_t *ret_next);

/* *ret_next: the position after the record at this one, of any size. Errors as above. */
enum sp_err sp_segments_skip(struct sp_segments *s, struct sp_place place, uint64_t *ret_next);

/* The first offset from the place on and before `end` at which a WARC record can be read, or one
 * of more than `most` bytes begins; `end` if there is none. */
uint64_t sp_segments_find(struct sp_segments *s, struct sp_place place, uint64_t end,
                          uint64_t most);

/* The size of a segment's file. */
enum sp_err sp_segments_size(struct sp_segments *s, uint32_t segment, uint64_t *ret_bytes);

#endif
