/* Reads and writes the parts of all records: framing, numbers, ids, texts, signatures. Private to
 * codec.
 *
 * After an error a decoder reads zeros, so callers check `err` once, at the end. It keeps the first
 * error. */
#ifndef SP_CODEC_PARTS_H
#define SP_CODEC_PARTS_H

#include "base/bytes.h"
#include "base/err.h"
#include "codec/codec.h"

struct sp_decoder {
    struct sp_reader r;
    enum sp_err err;
    bool no_rule; /* written before verdicts named a rule */
};

/* Keeps the error, if it is the first, and makes all later reads return zeros. */
static inline void sp_codec_refuse(struct sp_decoder *d, enum sp_err err)
{
    if (d->err == SP_OK)
        d->err = err;
    d->r.failed = true; /* what follows reads as zeros */
}

/* ---- framing */

/* Appends the frame of a page or status event: the fingerprint, or the schema id of the format. */
void sp_codec_put_frame(struct sp_buf *out, const struct sp_wire_format *format,
                        uint64_t fingerprint);
/* Reads the frame of a page or status event. */
struct sp_decoder sp_codec_open_frame(struct sp_view in, const struct sp_wire_format *format,
                                      uint64_t fingerprint);
/* Reads a single-object header. */
uint64_t sp_codec_get_fingerprint(struct sp_decoder *d);
/* The result of decoding; it is an error if bytes remain. */
enum sp_err sp_codec_finish(const struct sp_decoder *d);

/* ---- numbers */

static inline int64_t sp_codec_get_long(struct sp_decoder *d)
{
    const uint8_t *start = d->r.at;
    int64_t x = sp_read_zigzag(&d->r);
    size_t bytes = (size_t)(d->r.at - start);
    if (d->r.failed)
        sp_codec_refuse(d, bytes == 10 ? SP_MALFORMED : SP_TRUNCATED);
    else if (bytes > 1 && d->r.at[-1] == 0)
        sp_codec_refuse(d, SP_MALFORMED); /* each number has one encoding */
    return x;
}

/* A number from 0 to max. */
static inline uint64_t sp_codec_get_count(struct sp_decoder *d, uint64_t max)
{
    uint64_t x = (uint64_t)sp_codec_get_long(d);
    if (x > max) {
        sp_codec_refuse(d, SP_MALFORMED);
        return 0;
    }
    return x;
}

static inline void sp_codec_put_count(struct sp_buf *out, uint64_t x)
{
    sp_buf_put_zigzag(out, (int64_t)x);
}

bool sp_codec_get_bool(struct sp_decoder *d);
float sp_codec_get_float(struct sp_decoder *d); /* finite, as get_double */
double sp_codec_get_double(struct sp_decoder *d);
void sp_codec_put_float(struct sp_buf *out, float x);
void sp_codec_put_double(struct sp_buf *out, double x);

/* ---- bytes: the length is a zigzag long */

void sp_codec_put_bytes(struct sp_buf *out, struct sp_view bytes);
struct sp_view sp_codec_get_bytes(struct sp_decoder *d);

/* Reads the branch of a union with null; true if a value follows. */
static inline bool sp_codec_get_some(struct sp_decoder *d)
{
    return sp_codec_get_count(d, 1) == 1;
}

/* ---- what messages hold; the texts of a message are owned, at most SP_URL_MAX_BYTES */

void sp_codec_put_id(struct sp_buf *out, struct sp_id id);
struct sp_id sp_codec_get_id(struct sp_decoder *d);
/* null stands for the zero id */
void sp_codec_put_some_id(struct sp_buf *out, struct sp_id id);
struct sp_id sp_codec_get_some_id(struct sp_decoder *d);
void sp_codec_put_group_id(struct sp_buf *out, struct sp_group_id id);
struct sp_group_id sp_codec_get_group_id(struct sp_decoder *d);
void sp_codec_put_rank(struct sp_buf *out, const struct sp_rank *rank);
struct sp_rank sp_codec_get_rank(struct sp_decoder *d);
char *sp_codec_get_text(struct sp_decoder *d);
/* null stands for NULL */
void sp_codec_put_some_text(struct sp_buf *out, const char *text);
char *sp_codec_get_some_text(struct sp_decoder *d);
void sp_codec_put_signature(struct sp_buf *out, const struct sp_signature *s);
struct sp_signature *sp_codec_get_signature(struct sp_decoder *d);
void sp_codec_put_some_signature(struct sp_buf *out, const struct sp_signature *s);
struct sp_signature *sp_codec_get_some_signature(struct sp_decoder *d);

/* ---- arrays: one block of items, if there are any, then the empty block */

void sp_codec_put_items(struct sp_buf *out, uint32_t count);
/* Returns the count; refuses one that the remaining bytes cannot hold at item_bytes or more
 * each. */
uint32_t sp_codec_get_items(struct sp_decoder *d, size_t item_bytes);
void sp_codec_put_end_items(struct sp_buf *out);
void sp_codec_get_end_items(struct sp_decoder *d, uint32_t count);

/* A verdict without its page. */
void sp_codec_put_verdict(struct sp_buf *out, const struct sp_verdict *v);
void sp_codec_get_verdict(struct sp_decoder *d, struct sp_verdict *v);

#endif
