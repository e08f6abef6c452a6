/* Shared by the files that write: write.c has the inputs and the commits, store.c a record. Private
 * to this folder. */
#ifndef SP_ARCHIVE_WRITER_H
#define SP_ARCHIVE_WRITER_H

#include "archive/archive.h"
#include "archive/known.h"
#include "archive/originals.h"
#include "archive/records.h"
#include "archive/state.h"

struct sp_archive_writer {
    const struct sp_archive_options *options;
    struct sp_archive_result *result;
    struct sp_fault *fault;
    struct sp_segments *segments;
    struct sp_patcher *patcher;
    struct sp_originals *originals;
    struct sp_known *known;
    struct sp_text *text;
    struct sp_buf known_log; /* since the last commit */
    struct sp_buf line_log;
    struct sp_buf header; /* scratch */
    struct sp_buf added;
    struct sp_buf patch;
    struct sp_buf best;
};

/* Stores one record in its smallest form, and adds it to the logs and the result. */
enum sp_err sp_archive_store(struct sp_archive_writer *w, struct sp_warc_record record);

#endif
