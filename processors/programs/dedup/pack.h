/* The file of the kept records: plain, or compressed if its name ends with .gz or .zst. Private to
 * this folder.
 *
 * Compression produces whole members (gzip) or frames (Zstandard), so that the file can be
 * truncated to any commit. Thread rule: one thread. */
#ifndef SP_DEDUP_PACK_H
#define SP_DEDUP_PACK_H

#include "base/fault.h"
#include "local/output.h"

struct sp_pack;

/* `out` is open and outlives it; `each_record`: every record is a member of its own, as readers of
 * WARC files expect. Never NULL. */
struct sp_pack *sp_pack_new(struct sp_output *out, bool each_record);
/* NULL is allowed; what was not flushed is lost. */
void sp_pack_free(struct sp_pack *p);
/* Appends a record and its separator from the next. */
enum sp_err sp_pack_put(struct sp_pack *p, struct sp_view record, const char *behind,
                        struct sp_fault *fault);
/* Writes everything put so far to `out`, which the caller flushes. */
enum sp_err sp_pack_flush(struct sp_pack *p, struct sp_fault *fault);

#endif
