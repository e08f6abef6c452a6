/* See encoding.h.
 *
 * Archives often store decoded bodies under the headers of the encoded ones. This must be detected:
 * gzip and zstd begin with a mark. Raw deflate and Brotli have neither a mark nor a checksum, so
 * text may seem to be valid for a while: a line feed begins a block of deflate. If the decoding
 * fails, or ends before its bytes do, the body counts as stored decoded if its first 1,024 bytes
 * are those of a text; as many compressed bytes have about 100 control characters.
 *
 * All functions decode in pieces and stop at the limit, so that a small body that expands to a huge
 * one costs nothing. */
#include "input/encoding.h"

#include <brotli/decode.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/assert.h"

enum { PIECE = 1 << 16, ZSTD_WINDOW_LOG = 23, TEXT_BYTES = 1024 };

/* Whether the bytes that are left begin another member of gzip, which continues the body (RFC 1952,
 * section 2.2). Other bytes behind a member are ignored. */
static bool begins_member(const z_stream *z)
{
    return z->avail_in >= 2 && z->next_in[0] == 0x1f && z->next_in[1] == 0x8b;
}

/* `bits` has the meaning that it has for inflateInit2. *ret_left: bytes behind the stream. */
static enum sp_err inflate_with(struct sp_view body, int bits, uint64_t max, struct sp_buf *out,
                                size_t *ret_left)
{
    z_stream z = {0};
    enum sp_err err = SP_OK;
    int code = Z_OK;
    sp_buf_reset(out);
    *ret_left = 0;
    if (inflateInit2(&z, bits) != Z_OK)
        return SP_MALFORMED;
    z.next_in = (Bytef *)(uintptr_t)body.data;
    z.avail_in = (uInt)body.len;
    while (code == Z_OK && err == SP_OK) {
        char *at = sp_buf_reserve(out, PIECE);
        z.next_out = (Bytef *)at;
        z.avail_out = PIECE;
        code = inflate(&z, Z_NO_FLUSH);
        out->len += (size_t)(PIECE - z.avail_out);
        if (code == Z_STREAM_END && bits > 15 && begins_member(&z))
            code = inflateReset(&z);
        if (out->len > max)
            err = SP_TOO_LARGE;
        else if (code == Z_BUF_ERROR)
            err = SP_TRUNCATED;
        else if (code != Z_OK && code != Z_STREAM_END)
            err = SP_MALFORMED;
    }
    *ret_left = z.avail_in;
    inflateEnd(&z);
    return err;
}

static enum sp_err undo_gzip(struct sp_view body, uint64_t max, struct sp_buf *out)
{
    const uint8_t *bytes = (const uint8_t *)body.data;
    size_t left;
    if (body.len < 2 || bytes[0] != 0x1f || bytes[1] != 0x8b)
        return SP_END;
    return inflate_with(body, 15 + 16, max, out, &left);
}

static bool is_text(struct sp_view body)
{
    size_t n = body.len < TEXT_BYTES ? body.len : TEXT_BYTES;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)body.data[i];
        if (c < 0x20 && c != '\t' && c != '\n' && c != '\f' && c != '\r' && c != 0x1b)
            return false;
    }
    return true;
}

static enum sp_err undo_deflate(struct sp_view body, uint64_t max, struct sp_buf *out)
{
    size_t left;
    enum sp_err err = inflate_with(body, 15, max, out, &left);
    if (err == SP_MALFORMED && out->len == 0) /* raw deflate, which some servers send */
        err = inflate_with(body, -15, max, out, &left);
    bool whole = err == SP_OK && left == 0;
    bool none = err == SP_MALFORMED && out->len == 0;
    if (none || (!whole && err != SP_TOO_LARGE && is_text(body))) {
        sp_buf_reset(out);
        return SP_END;
    }
    return err;
}

static enum sp_err undo_brotli(struct sp_view body, uint64_t max, struct sp_buf *out)
{
    BrotliDecoderState *state = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT;
    const uint8_t *in = (const uint8_t *)body.data;
    size_t in_len = body.len;
    SP_ASSERT(state);
    while (result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT && out->len <= max) {
        uint8_t *at = (uint8_t *)sp_buf_reserve(out, PIECE);
        size_t room = PIECE;
        result = BrotliDecoderDecompressStream(state, &in_len, &in, &room, &at, NULL);
        out->len += PIECE - room;
    }
    BrotliDecoderDestroyInstance(state);
    if (out->len > max)
        return SP_TOO_LARGE;
    if (result == BROTLI_DECODER_RESULT_SUCCESS && in_len == 0)
        return SP_OK;
    if (is_text(body)) {
        sp_buf_reset(out);
        return SP_END;
    }
    return result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT ? SP_TRUNCATED : SP_MALFORMED;
}

/* Decompresses all frames of the body, one after another. */
static enum sp_err unpack_frames(ZSTD_DCtx *zstd, struct sp_view body, uint64_t max,
                                 struct sp_buf *out)
{
    ZSTD_inBuffer in = {body.data, body.len, 0};
    for (;;) {
        ZSTD_outBuffer to = {sp_buf_reserve(out, PIECE), PIECE, 0};
        size_t left = ZSTD_decompressStream(zstd, &to, &in);
        out->len += to.pos;
        if (ZSTD_isError(left))
            return ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge
                       ? SP_TOO_LARGE
                       : SP_MALFORMED;
        if (out->len > max)
            return SP_TOO_LARGE;
        if (in.pos == in.size && to.pos < PIECE) /* no input and no output is left */
            return left == 0 ? SP_OK : SP_TRUNCATED;
    }
}

static enum sp_err undo_zstd(struct sp_view body, uint64_t max, struct sp_buf *out)
{
    if (body.len < 4 || memcmp(body.data, "\x28\xb5\x2f\xfd", 4) != 0)
        return SP_END;
    ZSTD_DCtx *zstd = ZSTD_createDCtx();
    SP_ASSERT(zstd);
    ZSTD_DCtx_setParameter(zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG);
    enum sp_err err = unpack_frames(zstd, body, max, out);
    ZSTD_freeDCtx(zstd);
    return err;
}

static enum sp_err undo_identity(struct sp_view body, uint64_t max, struct sp_buf *out)
{
    (void)body;
    (void)max;
    (void)out;
    return SP_END;
}

enum sp_err sp_encoding_undo(struct sp_view name, struct sp_view body, uint64_t max,
                             struct sp_buf *out)
{
    static const struct {
        const char *name;
        enum sp_err (*undo)(struct sp_view body, uint64_t max, struct sp_buf *out);
    } codings[] = {{"gzip", undo_gzip},        {"x-gzip", undo_gzip}, {"deflate", undo_deflate},
                   {"br", undo_brotli},        {"zstd", undo_zstd},   {"identity", undo_identity},
                   {"x-deflate", undo_deflate}};
    sp_buf_reset(out);
    for (size_t i = 0; i < sizeof codings / sizeof *codings; i++)
        if (name.len == strlen(codings[i].name) &&
            strncasecmp(name.data, codings[i].name, name.len) == 0)
            return codings[i].undo(body, max, out);
    /* Some servers name a charset here, or "none"; browsers show the page all the same. */
    return is_text(body) ? SP_END : SP_NOT_FOUND;
}
