/* What the workers make of a record, and how the deciding thread reads it. Private to this folder.
 */
#ifndef SP_DEDUP_RECORDS_H
#define SP_DEDUP_RECORDS_H

#include "local/pipeline.h"

struct sp_dedup_record {
    struct sp_view id;
    struct sp_signature *signature; /* NULL: nothing to compare; else the caller's reference */
    struct sp_view whole;           /* empty where it is not wanted */
};

/* A maker for sp_pipeline_start_making. `*arg` of it: whether `whole` is wanted, a bool. */
enum sp_err sp_dedup_make(void *arg, struct sp_text *text, const struct sp_page_record *page,
                          struct sp_buf *scratch, struct sp_buf *out, const char **ret_why);
/* Views point into `made`. */
enum sp_err sp_dedup_read(struct sp_view made, struct sp_dedup_record *ret_record);

#endif
