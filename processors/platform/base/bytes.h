/* Byte buffers and views.
 *
 *   struct sp_view    borrowed bytes, valid as long as their owner says
 *   struct sp_buf     growable bytes that the caller owns: zeroed it is empty, sp_buf_reset empties
 *                     it and keeps the memory, sp_buf_done frees the memory
 *   struct sp_reader  reads numbers and bytes from a view that is not trusted: a read beyond the
 *                     end sets `failed`, and all later reads return 0, so that a decoder checks
 *                     once, at its end
 *
 * Numbers are little-endian; a varint is unsigned LEB128, a zigzag is Avro's long. Thread rule: one
 * thread at a time for each buffer or reader. */
#ifndef SP_BASE_BYTES_H
#define SP_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/mem.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "numbers are copied as they lie in memory: a little-endian machine is needed"
#endif

struct sp_view {
    const char *data;
    size_t len;
};

static inline struct sp_view sp_view(const void *data, size_t len)
{
    return (struct sp_view){(const char *)data, len};
}

static inline struct sp_view sp_view_str(const char *s)
{
    return (struct sp_view){s, s ? strlen(s) : 0};
}

/* The key of a stored row of one kind about one id, made in `room`. */
enum { SP_ID_KEY_BYTES = 1 + sizeof(struct sp_id) };
static inline struct sp_view sp_id_key(char room[SP_ID_KEY_BYTES], char kind, struct sp_id id)
{
    room[0] = kind;
    memcpy(room + 1, &id, sizeof id);
    return sp_view(room, SP_ID_KEY_BYTES);
}

static inline bool sp_view_eq(struct sp_view a, struct sp_view b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* Whether the view is that word of ASCII, in letters of any case. */
static inline bool sp_view_is_word(struct sp_view v, const char *word)
{
    return v.len == strlen(word) && strncasecmp(v.data, word, v.len) == 0;
}

/* Removes from `text` and returns what comes before the first of these characters or NUL; all of it
 * if there is none. */
static inline struct sp_view sp_view_cut(struct sp_view *text, const char *at_any_of)
{
    size_t n = 0;
    while (n < text->len && !strchr(at_any_of, text->data[n]))
        n++;
    struct sp_view head = sp_view(text->data, n);
    *text = sp_view(text->data + n, text->len - n);
    return head;
}

/* A copy that ends with a NUL. Free it with sp_free. */
static inline char *sp_view_dup(struct sp_view v)
{
    char *text = (char *)sp_alloc(v.len + 1);
    if (v.len)
        memcpy(text, v.data, v.len);
    text[v.len] = 0;
    return text;
}

struct sp_buf {
    char *data;
    size_t len;
    size_t cap;
};

static inline void sp_buf_done(struct sp_buf *b)
{
    sp_free(b->data);
    *b = (struct sp_buf){0};
}

static inline void sp_buf_reset(struct sp_buf *b)
{
    b->len = 0;
}

/* Makes room for `more` bytes after the end and returns their address, which is valid until the
 * buffer grows. The length stays as it is. */
static inline char *sp_buf_reserve(struct sp_buf *b, size_t more)
{
    const size_t first = 256;
    if (b->cap - b->len < more) {
        size_t need = more > SIZE_MAX - b->len ? SIZE_MAX : b->len + more;
        b->data = (char *)sp_grow_size(b->data, &b->cap, need < first ? first : need, 1);
    }
    return b->len ? b->data + b->len : b->data; /* NULL + 0 is undefined */
}

static inline void sp_buf_put(struct sp_buf *b, const void *data, size_t len)
{
    if (len == 0)
        return; /* a buffer without memory stays one: no arithmetic on NULL */
    memcpy(sp_buf_reserve(b, len), data, len);
    b->len += len;
}

static inline void sp_buf_put_view(struct sp_buf *b, struct sp_view v)
{
    sp_buf_put(b, v.data, v.len);
}

static inline void sp_buf_put_str(struct sp_buf *b, const char *s)
{
    sp_buf_put(b, s, strlen(s));
}

static inline void sp_buf_put_u8(struct sp_buf *b, uint8_t x)
{
    *sp_buf_reserve(b, 1) = (char)x;
    b->len++;
}

static inline void sp_buf_put_u32(struct sp_buf *b, uint32_t x)
{
    sp_buf_put(b, &x, 4);
}

static inline void sp_buf_put_u64(struct sp_buf *b, uint64_t x)
{
    sp_buf_put(b, &x, 8);
}

/* `hi` and `lo`, in this order. */
static inline void sp_buf_put_id(struct sp_buf *b, struct sp_id id)
{
    sp_buf_put(b, &id, sizeof id);
}

/* Big-endian numbers, as in the keys of rows, which are in the order of their bytes. */
static inline void sp_put_big_endian(char *at, uint64_t x, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (char)(x >> (8 * (bytes - 1 - i)));
}

static inline uint64_t sp_get_big_endian(const char *at, size_t bytes)
{
    uint64_t x = 0;
    for (size_t i = 0; i < bytes; i++)
        x = x << 8 | (uint8_t)at[i];
    return x;
}

static inline void sp_buf_put_big_endian(struct sp_buf *b, uint64_t x, size_t bytes)
{
    sp_put_big_endian(sp_buf_reserve(b, bytes), x, bytes);
    b->len += bytes;
}

static inline void sp_buf_put_varint(struct sp_buf *b, uint64_t x)
{
    char *at = sp_buf_reserve(b, 10);
    size_t n = 0;
    while (x >= 0x80) {
        at[n++] = (char)(x | 0x80);
        x >>= 7;
    }
    at[n++] = (char)x;
    b->len += n;
}

static inline void sp_buf_put_zigzag(struct sp_buf *b, int64_t x)
{
    sp_buf_put_varint(b, ((uint64_t)x << 1) ^ (uint64_t)(x >> 63));
}

static inline struct sp_view sp_buf_view(const struct sp_buf *b)
{
    return (struct sp_view){b->data, b->len};
}

struct sp_reader {
    const uint8_t *at;
    const uint8_t *end;
    bool failed;
};

static inline struct sp_reader sp_reader(struct sp_view v)
{
    const uint8_t *data = (const uint8_t *)v.data;
    return (struct sp_reader){data, data ? data + v.len : data, false};
}

static inline size_t sp_reader_left(const struct sp_reader *r)
{
    return (size_t)(r->end - r->at);
}

/* The next len bytes, or an empty view and `failed`. */
static inline struct sp_view sp_read_bytes(struct sp_reader *r, uint64_t len)
{
    if (r->failed || len > sp_reader_left(r)) {
        r->failed = true;
        return sp_view(NULL, 0);
    }
    struct sp_view v = sp_view(r->at, (size_t)len);
    r->at += len;
    return v;
}

static inline uint8_t sp_read_u8(struct sp_reader *r)
{
    struct sp_view v = sp_read_bytes(r, 1);
    return v.len ? (uint8_t)v.data[0] : 0;
}

static inline uint32_t sp_read_u32(struct sp_reader *r)
{
    struct sp_view v = sp_read_bytes(r, 4);
    uint32_t x = 0;
    if (v.len)
        memcpy(&x, v.data, 4);
    return x;
}

static inline uint64_t sp_read_u64(struct sp_reader *r)
{
    struct sp_view v = sp_read_bytes(r, 8);
    uint64_t x = 0;
    if (v.len)
        memcpy(&x, v.data, 8);
    return x;
}

static inline struct sp_id sp_read_id(struct sp_reader *r)
{
    struct sp_id id = {0, 0};
    struct sp_view v = sp_read_bytes(r, sizeof id);
    if (v.len)
        memcpy(&id, v.data, sizeof id);
    return id;
}

static inline uint64_t sp_read_big_endian(struct sp_reader *r, size_t bytes)
{
    struct sp_view v = sp_read_bytes(r, bytes);
    return sp_get_big_endian(v.data, v.len);
}

static inline uint64_t sp_read_varint(struct sp_reader *r)
{
    uint64_t x = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = sp_read_u8(r);
        if (shift == 63 && byte > 1)
            break;
        x |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return r->failed ? 0 : x;
    }
    r->failed = true;
    return 0;
}

static inline int64_t sp_read_zigzag(struct sp_reader *r)
{
    uint64_t x = sp_read_varint(r);
    return (int64_t)(x >> 1) ^ -(int64_t)(x & 1);
}

#endif
