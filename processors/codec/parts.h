/* What every record is made of: framing, numbers, ids, texts, signatures. Private to codec.
 *
 * A decoder reads on after a mistake, over zeros, and looks at `err` once: the first mistake
 * counts. */
#ifndef SP_CODEC_PARTS_H
#define SP_CODEC_PARTS_H

#include "base/bytes.h"
#include "base/err.h"
#include "codec/codec.h"

struct decoder {
    struct sp_reader r;
    enum sp_err err;
};

static inline void refuse(struct decoder *d, enum sp_err err)
{
    if (d->err == SP_OK)
        d->err = err;
    d->r.failed = true; /* what follows reads as zeros */
}

/* ---- framing */

void put_frame(struct sp_buf *out, const struct sp_wire_format *format, uint64_t fingerprint);
/* Reads the frame of a page or status event. */
struct decoder open_frame(struct sp_view in, const struct sp_wire_format *format,
                          uint64_t fingerprint);
/* Reads a single-object header. */
uint64_t get_fingerprint(struct decoder *d);
/* What the decoding came to: all of the bytes must be read. */
enum sp_err finish(const struct decoder *d);

/* ---- numbers */

static inline int64_t get_long(struct decoder *d)
{
    const uint8_t *start = d->r.at;
    int64_t x = sp_read_zigzag(&d->r);
    size_t bytes = (size_t)(d->r.at - start);
    if (d->r.failed)
        refuse(d, bytes == 10 ? SP_MALFORMED : SP_TRUNCATED);
    else if (bytes > 1 && d->r.at[-1] == 0)
        refuse(d, SP_MALFORMED); /* one number, one spelling */
    return x;
}

/* A number from 0 to max. */
static inline uint64_t get_count(struct decoder *d, uint64_t max)
{
    uint64_t x = (uint64_t)get_long(d);
    if (x > max) {
        refuse(d, SP_MALFORMED);
        return 0;
    }
    return x;
}

static inline void put_count(struct sp_buf *out, uint64_t x)
{
    sp_buf_put_zigzag(out, (int64_t)x);
}

bool get_bool(struct decoder *d);
float get_float(struct decoder *d); /* finite, as get_double */
double get_double(struct decoder *d);
void put_float(struct sp_buf *out, float x);
void put_double(struct sp_buf *out, double x);

/* ---- bytes: the length is a zigzag long */

void put_bytes(struct sp_buf *out, struct sp_view bytes);
struct sp_view get_bytes(struct decoder *d);

/* Branch 0 of a union with null: true where a value follows. */
static inline bool get_some(struct decoder *d)
{
    return get_count(d, 1) == 1;
}

/* ---- what messages hold; the texts of a message are owned, at most SP_URL_MAX_BYTES */

void put_id(struct sp_buf *out, struct sp_id id);
struct sp_id get_id(struct decoder *d);
/* null stands for the zero id */
void put_some_id(struct sp_buf *out, struct sp_id id);
struct sp_id get_some_id(struct decoder *d);
void put_group_id(struct sp_buf *out, struct sp_group_id id);
struct sp_group_id get_group_id(struct decoder *d);
void put_rank(struct sp_buf *out, const struct sp_rank *rank);
struct sp_rank get_rank(struct decoder *d);
char *get_text(struct decoder *d);
/* null stands for NULL */
void put_some_text(struct sp_buf *out, const char *text);
char *get_some_text(struct decoder *d);
void put_signature(struct sp_buf *out, const struct sp_signature *s);
struct sp_signature *get_signature(struct decoder *d);
void put_some_signature(struct sp_buf *out, const struct sp_signature *s);
struct sp_signature *get_some_signature(struct decoder *d);

/* ---- arrays: one block of items, where there are any, then the empty block */

void put_items(struct sp_buf *out, uint32_t count);
/* The count; as each item takes at least item_bytes, it is no larger than the bytes left allow. */
uint32_t get_items(struct decoder *d, size_t item_bytes);
void put_end_items(struct sp_buf *out);
void get_end_items(struct decoder *d, uint32_t count);

#endif
