/* See pack.h. */
#include "dedup/pack.h"

#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"
#include "base/names.h"

enum { MEMBER_BYTES = 1 << 18, LEVEL_GZIP = 6, LEVEL_ZSTD = 3 };

enum kind { PLAIN, GZIP, ZSTANDARD };

struct sp_pack {
    struct sp_output *out;
    enum kind kind;
    bool each_record;
    struct sp_buf member;
    z_stream gzip;
    ZSTD_CCtx *zstd;
};

struct sp_pack *sp_pack_new(struct sp_output *out, bool each_record)
{
    struct sp_pack *p = sp_calloc(1, sizeof *p);
    p->out = out;
    p->each_record = each_record;
    if (out->name && sp_names_end_with(out->name, ".gz"))
        p->kind = GZIP;
    else if (out->name && sp_names_end_with(out->name, ".zst"))
        p->kind = ZSTANDARD;
    deflateInit2(&p->gzip, LEVEL_GZIP, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    p->zstd = ZSTD_createCCtx();
    return p;
}

void sp_pack_free(struct sp_pack *p)
{
    if (!p)
        return;
    deflateEnd(&p->gzip);
    ZSTD_freeCCtx(p->zstd);
    sp_buf_done(&p->member);
    sp_free(p);
}

static size_t put_gzip(struct sp_pack *p, struct sp_buf *out)
{
    uLong room = deflateBound(&p->gzip, (uLong)p->member.len);
    deflateReset(&p->gzip);
    p->gzip.next_in = (Bytef *)p->member.data;
    p->gzip.avail_in = (uInt)p->member.len;
    p->gzip.next_out = (Bytef *)sp_buf_reserve(out, room);
    p->gzip.avail_out = (uInt)room;
    return deflate(&p->gzip, Z_FINISH) == Z_STREAM_END ? room - p->gzip.avail_out : 0;
}

static size_t put_zstd(struct sp_pack *p, struct sp_buf *out)
{
    size_t room = ZSTD_compressBound(p->member.len);
    size_t n = ZSTD_compressCCtx(p->zstd, sp_buf_reserve(out, room), room, p->member.data,
                                 p->member.len, LEVEL_ZSTD);
    return ZSTD_isError(n) ? 0 : n;
}

enum sp_err sp_pack_flush(struct sp_pack *p, struct sp_fault *fault)
{
    if (p->member.len == 0 || !p->out->name)
        return SP_OK;
    struct sp_buf *out = sp_output_buffer(p->out);
    size_t bytes = p->kind == GZIP ? put_gzip(p, out) : put_zstd(p, out);
    if (bytes == 0)
        return sp_fault_set(fault, SP_IO, "%s: cannot be compressed", p->out->name);
    out->len += bytes;
    sp_buf_reset(&p->member);
    return sp_output_wrote(p->out, bytes, fault);
}

enum sp_err sp_pack_put(struct sp_pack *p, struct sp_view record, const char *behind,
                        struct sp_fault *fault)
{
    if (!p->out->name)
        return SP_OK;
    struct sp_buf *to = p->kind == PLAIN ? sp_output_buffer(p->out) : &p->member;
    size_t before = to->len;
    sp_buf_put_view(to, record);
    sp_buf_put_str(to, behind);
    if (p->kind == PLAIN)
        return sp_output_wrote(p->out, to->len - before, fault);
    return p->each_record || to->len >= MEMBER_BYTES ? sp_pack_flush(p, fault) : SP_OK;
}
