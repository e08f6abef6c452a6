/* Allocation and packed form of a signature.
 *
 *   u8  packed version (1)          u32 params
 *   u64 u64 content hash (hi, lo)   u16 language
 *   varint length[0] length[1] length[2]
 *   varint shingle_count  varint sentence_count
 *   u32 shingles[shingle_count], ascending
 *   u32 sentences[sentence_count], in document order
 *
 * Little-endian. shingle_total is not stored: it is the sum of the lengths. Decoding checks
 * everything that other code relies on: sizes, sums, limits, order. */
#include "page/signature.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/mem.h"

enum { PACKED_VERSION = 1, VARINT_ROOM = 10 };

_Static_assert(offsetof(struct sp_signature, header) + SP_SIGNATURE_HEADER ==
                   offsetof(struct sp_signature, hashes),
               "the packed form has no gap");

struct header {
    struct sp_view hashes;
    struct sp_signature fields; /* last: it ends in an array of unknown size */
};

struct sp_signature *sp_signature_alloc(uint32_t shingle_count, uint32_t sentence_count)
{
    struct sp_signature *s =
        sp_alloc(sizeof *s + 4ull * ((uint64_t)shingle_count + sentence_count));
    s->refs = 1;
    s->shingle_count = shingle_count;
    s->sentence_count = sentence_count;
    s->packed = 0;
    return s;
}

void sp_signature_unref(struct sp_signature *s)
{
    if (!s)
        return;
    SP_ASSERT(s->refs > 0);
    if (--s->refs == 0)
        sp_free(s);
}

static void put_header(const struct sp_signature *s, struct sp_buf *out)
{
    sp_buf_put_u8(out, PACKED_VERSION);
    sp_buf_put_u32(out, s->params);
    sp_buf_put_u64(out, s->content_hash.hi);
    sp_buf_put_u64(out, s->content_hash.lo);
    sp_buf_put_u8(out, (uint8_t)s->language);
    sp_buf_put_u8(out, (uint8_t)(s->language >> 8));
    for (size_t d = 0; d < SP_DIMS; d++)
        sp_buf_put_varint(out, s->length[d]);
    sp_buf_put_varint(out, s->shingle_count);
    sp_buf_put_varint(out, s->sentence_count);
}

static size_t hash_bytes(const struct sp_signature *s)
{
    return 4ull * (s->shingle_count + s->sentence_count);
}

void sp_signature_encode(const struct sp_signature *s, struct sp_buf *out)
{
    put_header(s, out);
    sp_buf_put(out, s->hashes, hash_bytes(s));
}

struct sp_view sp_signature_packed(struct sp_signature *s)
{
    char *hashes = (char *)s + offsetof(struct sp_signature, hashes);
    if (s->packed == 0) {
        char room[SP_SIGNATURE_HEADER + VARINT_ROOM];
        struct sp_buf header = {.data = room, .cap = sizeof room}; /* it does not grow */
        put_header(s, &header);
        SP_ASSERT(header.data == room && header.len <= sizeof s->header);
        memcpy(hashes - header.len, room, header.len);
        s->packed = (uint8_t)header.len;
    }
    return sp_view(hashes - s->packed, s->packed + hash_bytes(s));
}

/* Accepts only the shortest form of each number, so that a signature has one packed form. */
static bool read_numbers(struct sp_reader *r, uint64_t *ret_numbers, size_t count)
{
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *start = r->at;
        ret_numbers[i] = sp_read_varint(r);
        good &=
            !r->failed && ret_numbers[i] <= UINT32_MAX && (r->at - start == 1 || r->at[-1] != 0);
    }
    return good;
}

static enum sp_err read_header(struct sp_view in, struct header *ret_header)
{
    struct sp_reader r = sp_reader(in);
    struct sp_signature *f = &ret_header->fields;
    uint64_t total = 0;
    uint64_t number[SP_DIMS + 2];
    *f = (struct sp_signature){0};
    uint8_t version = sp_read_u8(&r);
    f->params = sp_read_u32(&r);
    f->content_hash.hi = sp_read_u64(&r);
    f->content_hash.lo = sp_read_u64(&r);
    f->language = sp_read_u8(&r);
    f->language |= (uint16_t)(sp_read_u8(&r) << 8);
    if (!read_numbers(&r, number, SP_DIMS + 2))
        return r.failed ? SP_TRUNCATED : SP_MALFORMED;
    for (size_t d = 0; d < SP_DIMS; d++) {
        f->length[d] = (uint32_t)number[d];
        total += number[d];
    }
    uint64_t shingles = number[SP_DIMS], sentences = number[SP_DIMS + 1];
    if (version != PACKED_VERSION || total > UINT32_MAX || shingles > total ||
        shingles > SP_MAX_SHINGLES_LIMIT || sentences > SP_MAX_SEQUENCE_LIMIT ||
        (shingles + sentences == 0 && total > 0))
        return SP_MALFORMED;
    f->shingle_total = (uint32_t)total;
    f->shingle_count = (uint32_t)shingles;
    f->sentence_count = (uint32_t)sentences;
    size_t want = 4 * (shingles + sentences), have = sp_reader_left(&r);
    if (have != want)
        return have < want ? SP_TRUNCATED : SP_MALFORMED;
    ret_header->hashes = sp_read_bytes(&r, want);
    return SP_OK;
}

enum sp_err sp_signature_decode(struct sp_view in, struct sp_signature **ret_signature)
{
    struct header h;
    enum sp_err err = read_header(in, &h);
    if (err != SP_OK)
        return err;
    struct sp_signature *s = sp_signature_alloc(h.fields.shingle_count, h.fields.sentence_count);
    h.fields.refs = 1;
    memcpy(s, &h.fields, offsetof(struct sp_signature, hashes));
    if (h.hashes.len)
        memcpy(s->hashes, h.hashes.data, h.hashes.len);
    bool descends = false;
    for (uint32_t i = 1; i < s->shingle_count; i++)
        descends |= s->hashes[i - 1] > s->hashes[i];
    if (descends) {
        sp_signature_unref(s);
        return SP_MALFORMED;
    }
    *ret_signature = s;
    return SP_OK;
}
