/* The records of a WARC file, whatever their type, as they are: a header that ends with its empty
 * line, and a block. Private to this folder. */
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
    struct sp_buf window; /* [at, len) is not looked at yet */
    size_t at;
    uint64_t offset;  /* of the window's first byte in the decompressed file */
    uint64_t discard; /* bytes of a record too large, still to come */
    uint64_t max_record;
    enum sp_err damage; /* of the compression, not reported yet */
    enum sp_err io;
    bool lost; /* look for the next record */
    bool end;
};

enum sp_err sp_records_open(struct sp_records *r, const char *name, uint64_t max_record,
                            struct sp_fault *fault);
void sp_records_close(struct sp_records *r);

/* Views are valid until the next call. SP_END at the end, SP_IO where reading failed. An error of
 * class bad record: *ret_why is a sentence, *ret_offset where in the decompressed file; the next
 * call goes on behind it. Bytes that are in no record are such an error, never passed over in
 * silence. */
enum sp_err sp_records_next(struct sp_records *r, struct sp_warc_record *ret_record,
                            uint64_t *ret_offset, const char **ret_why);

#endif
