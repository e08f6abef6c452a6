/* See batches.h. */
#include "kafka/batches.h"

enum {
    AT_LENGTH = 8,
    AT_MAGIC = 16,
    AT_ATTRIBUTES = 21,
    AT_LAST = 23,
    AT_PRODUCER = 43,
    AT_COUNT = 57,
    HEADER_BYTES = 61,
    LENGTH_FROM = 12 /* what the length counts begins here */
};
enum { MAGIC = 2, COMPRESSION = 7, TRANSACTIONAL = 16, CONTROL = 32 };
enum { CONTROL_KEY_BYTES = 4, ABORT = 0 };

static uint32_t u32_at(struct sp_view v, size_t at)
{
    return (uint32_t)sp_get_big_endian(v.data + at, sizeof(uint32_t));
}

static int64_t i64_at(struct sp_view v, size_t at)
{
    return (int64_t)sp_get_big_endian(v.data + at, sizeof(int64_t));
}

/* The first batch; empty if it is cut, or cannot be one. */
static struct sp_view first_batch(struct sp_view bytes)
{
    if (bytes.len < HEADER_BYTES)
        return sp_view(NULL, 0);
    uint64_t len = (uint64_t)u32_at(bytes, AT_LENGTH) + LENGTH_FROM;
    return len < HEADER_BYTES || len > bytes.len ? sp_view(NULL, 0)
                                                 : sp_view(bytes.data, (size_t)len);
}

/* -1: not an offset. */
static int64_t last_of(struct sp_view batch)
{
    int64_t base = i64_at(batch, 0);
    uint32_t more = u32_at(batch, AT_LAST);
    return base < 0 || more > INT32_MAX || base > INT64_MAX - 1 - more ? -1 : base + more;
}

struct sp_batches sp_batches(struct sp_view batches, struct sp_aborted *aborted, size_t count,
                             int64_t from)
{
    return (struct sp_batches){
        .left = batches, .aborted = aborted, .aborted_count = count, .from = from, .next = from};
}

int64_t sp_batches_end(struct sp_view batches, int64_t from)
{
    int64_t end = from;
    for (struct sp_view batch; (batch = first_batch(batches)).len > 0;) {
        int64_t last = last_of(batch);
        if (batch.data[AT_MAGIC] != MAGIC || last < end)
            break;
        end = last + 1;
        batches = sp_view(batches.data + batch.len, batches.len - batch.len);
    }
    return end;
}

/* ---- records ---- */

/* False: the number is cut, or too long. */
static bool take_number(struct sp_view *v, int64_t *ret_number)
{
    uint64_t x = 0;
    size_t at = 0;
    for (unsigned shift = 0; at < v->len && shift < 64; shift += 7) {
        uint8_t byte = (uint8_t)v->data[at++];
        x |= (uint64_t)(byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        *v = sp_view(v->data + at, v->len - at);
        *ret_number = (int64_t)(x >> 1) ^ -(int64_t)(x & 1);
        return true;
    }
    return false;
}

static bool take_bytes(struct sp_view *v, int64_t len, struct sp_view *ret_bytes)
{
    if (len < 0 || (uint64_t)len > v->len)
        return false;
    *ret_bytes = sp_view(v->data, (size_t)len);
    *v = sp_view(v->data + len, v->len - (size_t)len);
    return true;
}

/* A key or a value; NULL: there is none. */
static bool take_field(struct sp_view *v, struct sp_view *ret_field)
{
    int64_t len;
    *ret_field = sp_view(NULL, 0);
    return take_number(v, &len) && (len == -1 || take_bytes(v, len, ret_field));
}

static bool take_record(struct sp_batches *r, struct sp_changelog_record *ret_record)
{
    int64_t len, time, delta;
    struct sp_view record;
    if (!take_number(&r->batch, &len) || !take_bytes(&r->batch, len, &record) || record.len < 1)
        return false;
    record = sp_view(record.data + 1, record.len - 1);
    if (!take_number(&record, &time) || !take_number(&record, &delta) || delta < 0 ||
        delta > INT32_MAX)
        return false;
    ret_record->offset = r->base + delta;
    return take_field(&record, &ret_record->key) && take_field(&record, &ret_record->value);
}

/* ---- batches ---- */

static void note_abort(struct sp_batches *r, int64_t producer, int64_t last)
{
    for (size_t i = 0; i < r->aborted_count; i++)
        if (r->aborted[i].producer == producer && r->aborted[i].first <= last)
            r->aborted[i].seen_over = true;
}

static bool is_aborted(const struct sp_batches *r, int64_t producer, int64_t last)
{
    for (size_t i = 0; i < r->aborted_count; i++)
        if (r->aborted[i].producer == producer && r->aborted[i].first <= last &&
            !r->aborted[i].seen_over)
            return true;
    return false;
}

/* Reads the marker that ends a transaction. */
static bool read_control(struct sp_batches *r, int64_t producer, int64_t last)
{
    struct sp_changelog_record marker;
    if (!take_record(r, &marker) || marker.key.len < CONTROL_KEY_BYTES)
        return false;
    if (sp_get_big_endian(marker.key.data + 2, sizeof(uint16_t)) == ABORT)
        note_abort(r, producer, last);
    return true;
}

/* Begins the first batch that is left; it has no records to read if it is a marker or aborted. */
static bool begin_batch(struct sp_batches *r)
{
    struct sp_view batch = first_batch(r->left);
    if (batch.len == 0)
        return false;
    uint16_t attributes = (uint16_t)sp_get_big_endian(batch.data + AT_ATTRIBUTES, sizeof(uint16_t));
    int64_t producer = i64_at(batch, AT_PRODUCER), last = last_of(batch);
    r->strange = batch.data[AT_MAGIC] != MAGIC || attributes & COMPRESSION || last < r->next;
    if (r->strange)
        return false;
    r->base = i64_at(batch, 0);
    r->count = u32_at(batch, AT_COUNT);
    r->batch = sp_view(batch.data + HEADER_BYTES, batch.len - HEADER_BYTES);
    if (attributes & CONTROL && r->count > 0)
        r->strange = !read_control(r, producer, last);
    if (r->strange)
        return false;
    if (attributes & CONTROL || (attributes & TRANSACTIONAL && is_aborted(r, producer, last)))
        r->count = 0;
    r->left = sp_view(r->left.data + batch.len, r->left.len - batch.len);
    r->next = last + 1;
    return true;
}

bool sp_batches_next(struct sp_batches *r, struct sp_changelog_record *ret_record)
{
    while (!r->strange) {
        if (r->count == 0) {
            if (!begin_batch(r))
                return false;
            continue;
        }
        if (!take_record(r, ret_record) || ret_record->offset >= r->next) {
            r->next = r->base;
            r->strange = true;
            return false;
        }
        r->count--;
        if (ret_record->offset >= r->from)
            return true;
    }
    return false;
}
