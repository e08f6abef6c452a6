/* The difference of two texts: a Zstandard frame with one of them as prefix (ZSTD_CCtx_refPrefix),
 * and a checksum. Private to this folder. */
#ifndef SP_ARCHIVE_PATCH_H
#define SP_ARCHIVE_PATCH_H

#include "base/bytes.h"
#include "base/err.h"

enum { SP_PATCH_WINDOW_LOG = 27 }; /* no patch if both texts together are longer */

struct sp_patcher;

/* Creates both contexts once. `level`: Zstandard's. */
struct sp_patcher *sp_patcher_new(int level);
void sp_patcher_free(struct sp_patcher *p);

/* Appends the patch; false: the texts are too long for one. Base and text must not overlap in
 * memory. */
bool sp_patch_make(struct sp_patcher *p, struct sp_view base, struct sp_view text,
                   struct sp_buf *out);

/* Appends the text, of at most `most` bytes. SP_CORRUPT: not a patch of this base. */
enum sp_err sp_patch_apply(struct sp_patcher *p, struct sp_view base, struct sp_view patch,
                           uint64_t most, struct sp_buf *out);

#endif
