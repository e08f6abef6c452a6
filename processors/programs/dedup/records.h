/* The form of a record between the workers and the deciding thread. Private to this folder. */
#ifndef SP_DEDUP_RECORDS_H
#define SP_DEDUP_RECORDS_H

#include "local/pipeline.h"

struct sp_dedup_record {
    struct sp_view id;
    struct sp_signature
        *signature;       /* NULL: nothing to compare; otherwise the caller owns a reference */
    struct sp_view whole; /* empty if it is not needed */
};

/* For sp_pipeline_start_making. `*arg` is a bool: whether `whole` is needed. */
enum sp_err sp_dedup_make(void *arg, struct sp_text *text, const struct sp_page_record *page,
                          struct sp_buf *scratch, struct sp_buf *out, const char **ret_why);
/* Views point into `made`. */
enum sp_err sp_dedup_read(struct sp_view made, struct sp_dedup_record *ret_record);

#endif
