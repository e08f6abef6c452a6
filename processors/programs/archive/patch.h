/* The difference between two texts: a Zstandard frame with one of them as prefix
 * (ZSTD_CCtx_refPrefix), and a checksum. Private to this folder. */
#ifndef SP_ARCHIVE_PATCH_H
#define SP_ARCHIVE_PATCH_H

#include "base/bytes.h"
#include "base/err.h"

enum { SP_PATCH_WINDOW_LOG = 27 }; /* texts that are longer together have no patch */

struct sp_patcher;

/* Both contexts are made once. Level as of Zstandard. */
struct sp_patcher *sp_patcher_new(int level);
void sp_patcher_free(struct sp_patcher *p);

/* Appends the patch; false: there is none. Base and text must not share memory. */
bool sp_patch_make(struct sp_patcher *p, struct sp_view base, struct sp_view text,
                   struct sp_buf *out);

/* Appends the text, which has at most `most` bytes. SP_CORRUPT: it is no patch of that base. */
enum sp_err sp_patch_apply(struct sp_patcher *p, struct sp_view base, struct sp_view patch,
                           uint64_t most, struct sp_buf *out);

#endif
