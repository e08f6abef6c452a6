/* See patch.h. The window must reach from the end of the text to the start of the prefix; otherwise
 * the prefix is not used. */
#include "archive/patch.h"

#include <zstd.h>

struct sp_patcher {
    ZSTD_CCtx *to;
    ZSTD_DCtx *from;
};

enum { WINDOW_LOG_MIN = 10, LONG_FROM = 1 << 22 };

struct sp_patcher *sp_patcher_new(int level)
{
    struct sp_patcher *p = sp_calloc(1, sizeof *p);
    p->to = ZSTD_createCCtx();
    p->from = ZSTD_createDCtx();
    ZSTD_CCtx_setParameter(p->to, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(p->to, ZSTD_c_checksumFlag, 1);
    ZSTD_DCtx_setParameter(p->from, ZSTD_d_windowLogMax, SP_PATCH_WINDOW_LOG);
    return p;
}

void sp_patcher_free(struct sp_patcher *p)
{
    if (!p)
        return;
    ZSTD_freeCCtx(p->to);
    ZSTD_freeDCtx(p->from);
    sp_free(p);
}

bool sp_patch_make(struct sp_patcher *p, struct sp_view base, struct sp_view text,
                   struct sp_buf *out)
{
    int log = WINDOW_LOG_MIN;
    while (log < SP_PATCH_WINDOW_LOG && (size_t)1 << log < base.len + text.len)
        log++;
    if ((size_t)1 << log < base.len + text.len)
        return false;
    ZSTD_CCtx_setParameter(p->to, ZSTD_c_windowLog, log);
    ZSTD_CCtx_setParameter(p->to, ZSTD_c_enableLongDistanceMatching,
                           base.len + text.len > LONG_FROM);
    ZSTD_CCtx_refPrefix(p->to, base.data, base.len);
    size_t bound = ZSTD_compressBound(text.len);
    char *to = sp_buf_reserve(out, bound);
    size_t n = ZSTD_compress2(p->to, to, bound, text.data, text.len);
    if (ZSTD_isError(n))
        return false;
    out->len += n;
    return true;
}

enum sp_err sp_patch_apply(struct sp_patcher *p, struct sp_view base, struct sp_view patch,
                           uint64_t most, struct sp_buf *out)
{
    unsigned long long size = ZSTD_getFrameContentSize(patch.data, patch.len);
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > most)
        return SP_CORRUPT;
    ZSTD_DCtx_refPrefix(p->from, base.data, base.len);
    char *to = sp_buf_reserve(out, (size_t)size + 1);
    size_t n = ZSTD_decompressDCtx(p->from, to, (size_t)size, patch.data, patch.len);
    if (ZSTD_isError(n) || n != size)
        return SP_CORRUPT;
    out->len += n;
    return SP_OK;
}
