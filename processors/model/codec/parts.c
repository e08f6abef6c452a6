/* See parts.h and schemas/README.md.
 *
 * Invariant: the getters accept only what the putters write (shortest numbers, one array block, 0
 * or 1 for a boolean), so that each value has one encoding. Nothing is allocated before there are
 * known to be enough bytes to fill it. */
#include "codec/parts.h"

#include <math.h>

#include "base/mem.h"
#include "base/url.h"

/* ---- framing */

static const uint8_t MARKER[2] = {0xc3, 0x01};

void sp_codec_put_frame(struct sp_buf *out, const struct sp_wire_format *format,
                        uint64_t fingerprint)
{
    if (format && format->framing == SP_FRAMING_REGISTRY) {
        sp_buf_put_u8(out, 0);
        sp_buf_put_u32(out, __builtin_bswap32(format->schema_id));
        return;
    }
    sp_buf_put(out, MARKER, sizeof MARKER);
    sp_buf_put_u64(out, fingerprint);
}

struct sp_wire_format sp_wire_format_seen(struct sp_view in)
{
    struct sp_reader r = sp_reader(in);
    uint8_t first = sp_read_u8(&r);
    uint32_t id = __builtin_bswap32(sp_read_u32(&r));
    if (r.failed || first != 0)
        return (struct sp_wire_format){SP_FRAMING_SINGLE_OBJECT, 0};
    return (struct sp_wire_format){SP_FRAMING_REGISTRY, id};
}

uint64_t sp_codec_get_fingerprint(struct sp_decoder *d)
{
    struct sp_view marker = sp_read_bytes(&d->r, sizeof MARKER);
    if (d->r.failed)
        sp_codec_refuse(d, SP_TRUNCATED);
    else if (memcmp(marker.data, MARKER, sizeof MARKER) != 0)
        sp_codec_refuse(d, SP_MALFORMED);
    uint64_t fingerprint = sp_read_u64(&d->r);
    if (d->r.failed)
        sp_codec_refuse(d, SP_TRUNCATED);
    return fingerprint;
}

struct sp_decoder sp_codec_open_frame(struct sp_view in, const struct sp_wire_format *format,
                                      uint64_t fingerprint)
{
    struct sp_decoder d = {sp_reader(in), SP_OK, false};
    if (!format || format->framing == SP_FRAMING_SINGLE_OBJECT) {
        if (sp_codec_get_fingerprint(&d) != fingerprint)
            sp_codec_refuse(&d, SP_UNKNOWN_SCHEMA);
        return d;
    }
    uint8_t magic = sp_read_u8(&d.r);
    uint32_t id = __builtin_bswap32(sp_read_u32(&d.r));
    if (d.r.failed)
        sp_codec_refuse(&d, SP_TRUNCATED);
    else if (magic != 0)
        sp_codec_refuse(&d, SP_MALFORMED);
    else if (id != format->schema_id)
        sp_codec_refuse(&d, SP_UNKNOWN_SCHEMA);
    return d;
}

enum sp_err sp_codec_finish(const struct sp_decoder *d)
{
    if (d->err != SP_OK)
        return d->err;
    if (d->r.failed)
        return SP_TRUNCATED;
    return sp_reader_left(&d->r) ? SP_MALFORMED : SP_OK;
}

/* ---- numbers and bytes */

bool sp_codec_get_bool(struct sp_decoder *d)
{
    uint8_t x = sp_read_u8(&d->r);
    if (x > 1)
        sp_codec_refuse(d, SP_MALFORMED);
    return x == 1;
}

/* Ranks are compared, and a NaN has no order. */
float sp_codec_get_float(struct sp_decoder *d)
{
    uint32_t bits = sp_read_u32(&d->r);
    float x;
    memcpy(&x, &bits, sizeof x);
    if (!isfinite(x))
        sp_codec_refuse(d, SP_MALFORMED);
    return x;
}

double sp_codec_get_double(struct sp_decoder *d)
{
    uint64_t bits = sp_read_u64(&d->r);
    double x;
    memcpy(&x, &bits, sizeof x);
    if (!isfinite(x))
        sp_codec_refuse(d, SP_MALFORMED);
    return x;
}

void sp_codec_put_float(struct sp_buf *out, float x)
{
    sp_buf_put(out, &x, sizeof x);
}

void sp_codec_put_double(struct sp_buf *out, double x)
{
    sp_buf_put(out, &x, sizeof x);
}

void sp_codec_put_bytes(struct sp_buf *out, struct sp_view bytes)
{
    sp_codec_put_count(out, bytes.len);
    sp_buf_put_view(out, bytes);
}

struct sp_view sp_codec_get_bytes(struct sp_decoder *d)
{
    uint64_t len = sp_codec_get_count(d, INT64_MAX);
    struct sp_view bytes = sp_read_bytes(&d->r, len);
    if (d->r.failed)
        sp_codec_refuse(d, SP_TRUNCATED);
    return bytes;
}

/* ---- ids and ranks */

void sp_codec_put_id(struct sp_buf *out, struct sp_id id)
{
    uint64_t words[2] = {__builtin_bswap64(id.hi), __builtin_bswap64(id.lo)};
    sp_buf_put(out, words, sizeof words);
}

struct sp_id sp_codec_get_id(struct sp_decoder *d)
{
    uint64_t hi = __builtin_bswap64(sp_read_u64(&d->r));
    return (struct sp_id){hi, __builtin_bswap64(sp_read_u64(&d->r))};
}

void sp_codec_put_some_id(struct sp_buf *out, struct sp_id id)
{
    sp_codec_put_count(out, !sp_id_is_zero(id));
    if (!sp_id_is_zero(id))
        sp_codec_put_id(out, id);
}

struct sp_id sp_codec_get_some_id(struct sp_decoder *d)
{
    if (!sp_codec_get_some(d))
        return (struct sp_id){0, 0};
    struct sp_id id = sp_codec_get_id(d);
    if (!d->r.failed && sp_id_is_zero(id))
        sp_codec_refuse(d, SP_MALFORMED);
    return id;
}

void sp_codec_put_group_id(struct sp_buf *out, struct sp_group_id id)
{
    sp_codec_put_count(out, id.birth);
    sp_codec_put_id(out, id.founder);
}

struct sp_group_id sp_codec_get_group_id(struct sp_decoder *d)
{
    uint64_t birth = (uint64_t)sp_codec_get_long(d);
    return (struct sp_group_id){birth, sp_codec_get_id(d)};
}

void sp_codec_put_rank(struct sp_buf *out, const struct sp_rank *rank)
{
    sp_codec_put_double(out, rank->popularity);
    sp_codec_put_count(out, rank->url_bytes);
    sp_codec_put_count(out, rank->dynamic);
    sp_codec_put_count(out, rank->unfavoured);
}

struct sp_rank sp_codec_get_rank(struct sp_decoder *d)
{
    struct sp_rank rank = {.popularity = sp_codec_get_double(d)};
    rank.url_bytes = (uint32_t)sp_codec_get_count(d, UINT32_MAX);
    rank.dynamic = (uint8_t)sp_codec_get_count(d, UINT8_MAX);
    rank.unfavoured = (uint8_t)sp_codec_get_count(d, UINT8_MAX);
    return rank;
}

/* ---- texts and signatures */

char *sp_codec_get_text(struct sp_decoder *d)
{
    struct sp_view v = sp_codec_get_bytes(d);
    if (v.len > SP_URL_MAX_BYTES || (v.len && memchr(v.data, 0, v.len)))
        sp_codec_refuse(d, SP_MALFORMED);
    if (d->r.failed)
        return NULL;
    return sp_view_dup(v);
}

void sp_codec_put_some_text(struct sp_buf *out, const char *text)
{
    sp_codec_put_count(out, text != NULL);
    if (text)
        sp_codec_put_bytes(out, sp_view_str(text));
}

char *sp_codec_get_some_text(struct sp_decoder *d)
{
    return sp_codec_get_some(d) ? sp_codec_get_text(d) : NULL;
}

/* The length precedes the bytes but is known only after they are written. Moving them up to make
 * room costs less than a second buffer. */
void sp_codec_put_signature(struct sp_buf *out, const struct sp_signature *s)
{
    size_t start = out->len;
    sp_signature_encode(s, out);
    size_t bytes = out->len - start;
    sp_codec_put_count(out, bytes);
    size_t prefix = out->len - start - bytes;
    char number[10];
    memcpy(number, out->data + start + bytes, prefix);
    memmove(out->data + start + prefix, out->data + start, bytes);
    memcpy(out->data + start, number, prefix);
}

struct sp_signature *sp_codec_get_signature(struct sp_decoder *d)
{
    struct sp_view packed = sp_codec_get_bytes(d);
    struct sp_signature *s = NULL;
    if (d->r.failed)
        return NULL;
    enum sp_err err = sp_signature_decode(packed, &s);
    if (err != SP_OK)
        sp_codec_refuse(d, err);
    return s;
}

void sp_codec_put_some_signature(struct sp_buf *out, const struct sp_signature *s)
{
    sp_codec_put_count(out, s != NULL);
    if (s)
        sp_codec_put_signature(out, s);
}

struct sp_signature *sp_codec_get_some_signature(struct sp_decoder *d)
{
    return sp_codec_get_some(d) ? sp_codec_get_signature(d) : NULL;
}

/* ---- arrays */

void sp_codec_put_items(struct sp_buf *out, uint32_t count)
{
    if (count)
        sp_codec_put_count(out, count);
}

uint32_t sp_codec_get_items(struct sp_decoder *d, size_t item_bytes)
{
    uint64_t count = sp_codec_get_count(d, UINT32_MAX);
    if (count > sp_reader_left(&d->r) / item_bytes) {
        sp_codec_refuse(d, SP_TRUNCATED);
        return 0;
    }
    return (uint32_t)count;
}

void sp_codec_put_end_items(struct sp_buf *out)
{
    sp_codec_put_count(out, 0);
}

void sp_codec_get_end_items(struct sp_decoder *d, uint32_t count)
{
    if (count && sp_codec_get_count(d, 0) != 0)
        sp_codec_refuse(d, SP_MALFORMED);
}

void sp_codec_put_verdict(struct sp_buf *out, const struct sp_verdict *v)
{
    sp_codec_put_group_id(out, v->far);
    sp_codec_put_count(out, v->epoch);
    sp_buf_put_zigzag(out, v->content_version);
    sp_codec_put_count(out, v->status);
    sp_codec_put_count(out, v->reason);
    sp_codec_put_some_id(out, v->winner);
    sp_codec_put_float(out, v->similarity);
    sp_codec_put_count(out, v->group_size);
    sp_codec_put_some_text(out, v->winner_url);
    sp_codec_put_count(out, v->rule);
}

void sp_codec_get_verdict(struct sp_decoder *d, struct sp_verdict *v)
{
    v->far = sp_codec_get_group_id(d);
    v->epoch = (uint64_t)sp_codec_get_long(d);
    v->content_version = sp_codec_get_long(d);
    v->status = (enum sp_page_status)sp_codec_get_count(d, SP_STATUS_GONE);
    v->reason = (enum sp_reason)sp_codec_get_count(d, SP_REASON_EXACT);
    v->winner = sp_codec_get_some_id(d);
    v->similarity = sp_codec_get_float(d);
    v->group_size = (uint32_t)sp_codec_get_count(d, UINT32_MAX);
    v->winner_url = sp_codec_get_some_text(d);
    if (!d->no_rule)
        v->rule = (enum sp_rank_rule)sp_codec_get_count(d, SP_RANK_OVERRIDE);
}
