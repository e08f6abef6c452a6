/* The records of a WARC file, of any type, unchanged: a header that ends with its empty line, and a
 * block. A record that begins a gzip member or Zstandard frame ends at the latest where another one
 * begins with a record, whatever its length says (input/records.c). Private to this folder. */
#ifndef SP_ARCHIVE_RECORDS_H
#define SP_ARCHIVE_RECORDS_H

#include "base/bytes.h"
#include "base/fault.h"
#include "input/source.h"

struct sp_warc_record {
    struct sp_view header;
    struct sp_view block;
};

struct sp_records {
    struct sp_source *source;
    struct sp_buf window; /* [at, len) is unread */
    size_t at;
    uint64_t offset;   /* of the window's first byte in the decompressed file */
    uint64_t no_end;   /* of sp_header_find_end */
    uint64_t discard;  /* bytes left of a record that is too large */
    bool discard_own;  /* that record began a member */
    uint64_t *members; /* offsets in the decompressed file at which members begin, ascending */
    size_t member_count;
    size_t member_cap;
    uint64_t max_record;
    enum sp_err damage; /* of the compression, not yet reported */
    enum sp_err io;
    bool lost; /* search for the next record */
    bool end;
};

enum sp_err sp_records_open(struct sp_records *r, const char *name, uint64_t max_record,
                            struct sp_fault *fault);
void sp_records_close(struct sp_records *r);

/* Views are valid until the next call. SP_END at the end, SP_IO if reading failed. An error of
 * class bad record sets *ret_why to a sentence and *ret_offset to its position in the decompressed
 * file; the next call continues after it. Bytes outside of records are such an error, never skipped
 * silently. */
enum sp_err sp_records_next(struct sp_records *r, struct sp_warc_record *ret_record,
                            uint64_t *ret_offset, const char **ret_why);

#endif
