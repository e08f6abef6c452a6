/* See batch.h. */
#include "store/batch.h"

#include <endian.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/huge.h"
#include "base/mem.h"
#include "base/prefetch.h"

/* A large batch reserves its memory at once; pages of it that are not written to take no memory. */
enum { LARGE_BYTES = 4 << 20, ROOM_BYTES = 80 << 20 };

static uint64_t first_bytes(struct sp_view key)
{
    uint64_t bytes = 0;
    memcpy(&bytes, key.data, key.len < sizeof bytes ? key.len : sizeof bytes);
    return be64toh(bytes);
}

/* Rows are stored in order of arrival but read in order of their keys. With small memory pages,
 * address translation took a third of the time of a large batch; so large batches use huge pages.
 */
static void reserve(struct sp_buf *bytes, size_t more)
{
    if (bytes->cap - bytes->len >= more)
        return;
    if (bytes->len + more < LARGE_BYTES) {
        sp_buf_reserve(bytes, more);
        return;
    }
    size_t room = bytes->len + more < ROOM_BYTES ? ROOM_BYTES - bytes->len : more;
    sp_buf_reserve(bytes, room);
    sp_huge_advise(bytes->data, bytes->cap);
}

void sp_write_batch_note(struct sp_write_batch *b, struct sp_view key, struct sp_view value,
                         bool erased)
{
    SP_ASSERT(value.len < SP_WRITE_ERASED && key.len <= INT32_MAX);
    reserve(&b->bytes, key.len + value.len);
    sp_grow(&b->writes, &b->cap, b->count + 1);
    b->writes[b->count++] =
        (struct sp_write){.first = first_bytes(key),
                          .at = b->bytes.len,
                          .key_len = (uint32_t)key.len & INT32_MAX,
                          .value_len = erased ? SP_WRITE_ERASED : (uint32_t)value.len};
    sp_buf_put_view(&b->bytes, key);
    sp_buf_put_view(&b->bytes, value);
}

void sp_write_batch_note_lent(struct sp_write_batch *b, struct sp_view key, struct sp_view value,
                              void (*release)(void *arg), void *arg)
{
    struct sp_view place = sp_view((const char *)&value.data, sizeof value.data);
    sp_write_batch_note(b, key, place, false);
    struct sp_write *w = &b->writes[b->count - 1];
    w->lent = true;
    w->value_len = (uint32_t)value.len;
    sp_grow(&b->lenders, &b->lender_cap, b->lender_count + 1);
    b->lenders[b->lender_count++] = (struct sp_lender){release, arg};
    b->lent_bytes += value.len;
}

uint64_t sp_write_batch_bytes(const struct sp_write_batch *b)
{
    return b->bytes.len + b->lent_bytes;
}

struct sp_write_batch_size sp_write_batch_size(const struct sp_write_batch *b)
{
    return (struct sp_write_batch_size){b->bytes.len, b->lender_count, b->lent_bytes};
}

void sp_write_batch_cut(struct sp_write_batch *b, size_t count,
                        const struct sp_write_batch_size *size)
{
    while (b->lender_count > size->lenders) {
        const struct sp_lender *l = &b->lenders[--b->lender_count];
        l->release(l->arg);
    }
    b->lent_bytes = size->lent_bytes;
    b->bytes.len = size->bytes;
    b->count = count;
}

void sp_write_batch_clear(struct sp_write_batch *b)
{
    sp_write_batch_cut(b, 0, &(struct sp_write_batch_size){0});
}

void sp_write_batch_done(struct sp_write_batch *b)
{
    sp_write_batch_clear(b);
    sp_buf_done(&b->bytes);
    sp_free(b->lenders);
    sp_free(b->writes);
    sp_free(b->spare);
    *b = (struct sp_write_batch){0};
}

struct sp_view sp_write_batch_key(const struct sp_write_batch *b, const struct sp_write *w)
{
    return sp_view(b->bytes.data + w->at, w->key_len);
}

struct sp_view sp_write_batch_value(const struct sp_write_batch *b, const struct sp_write *w)
{
    const void *after_key = b->bytes.data + w->at + w->key_len;
    const char *value = after_key;
    if (w->lent)
        memcpy(&value, after_key, sizeof value);
    return sp_view(value, w->value_len == SP_WRITE_ERASED ? 0 : w->value_len);
}

/* Negative if the write's key comes before this one. */
static int compare(const struct sp_write_batch *b, const struct sp_write *w, uint64_t first,
                   struct sp_view key)
{
    if (w->first != first)
        return w->first < first ? -1 : 1;
    size_t n = w->key_len < key.len ? w->key_len : key.len;
    int order = memcmp(b->bytes.data + w->at, key.data, n);
    if (order)
        return order;
    return w->key_len < key.len ? -1 : w->key_len > key.len;
}

static int by_key_then_age(const void *a, const void *b, void *batch)
{
    const struct sp_write *x = a, *y = b;
    int order = compare(batch, x, y->first, sp_write_batch_key(batch, y));
    return order ? order : x->at < y->at ? -1 : x->at > y->at;
}

/* ---- sorting: by radix for the first bytes, by insertion for the rest ---- */

enum { DIGITS = 8, VALUES = 256, FEW = 256 };
/* ROOM_BITS: as many more bits than to number the writes are sorted by radix, so that few are out
 * of order afterwards. MOVES: how many of them an insertion may pass, for each write. */
enum { ROOM_BITS = 3, MOVES = 4 };

static uint8_t digit(const struct sp_write *w, int at)
{
    return (uint8_t)(w->first >> (8 * at));
}

static int bits_of(size_t n)
{
    int bits = 0;
    for (; n > 1; n /= 2)
        bits++;
    return bits;
}

static void count_digit(const struct sp_write *writes, size_t count, int at, size_t counts[VALUES])
{
    memset(counts, 0, VALUES * sizeof *counts);
    for (size_t i = 0; i < count; i++)
        counts[digit(&writes[i], at)]++;
}

static int distinct(const size_t counts[VALUES])
{
    int n = 0;
    for (int value = 0; value < VALUES; value++)
        n += counts[value] > 0;
    return n;
}

/* Chooses digits from the highest on, whose places get their counts, until they have `bits`. Digits
 * that are the same in all keys have none: most keys share their store and their kind. */
static void choose_digits(const struct sp_write *writes, size_t count, int bits,
                          bool ret_chosen[DIGITS], size_t ret_counts[DIGITS][VALUES])
{
    uint64_t differ = 0;
    for (size_t i = 1; i < count; i++)
        differ |= writes[i].first ^ writes[0].first;
    for (int at = DIGITS - 1; at >= 0; at--) {
        ret_chosen[at] = bits > 0 && (differ >> (8 * at) & 0xff);
        if (!ret_chosen[at])
            continue;
        count_digit(writes, count, at, ret_counts[at]);
        bits -= bits_of((size_t)distinct(ret_counts[at]));
    }
}

/* A stable step of the sort. `counts` becomes the place where each value begins. */
static void sort_by_digit(const struct sp_write *from, size_t count, int at, size_t counts[VALUES],
                          struct sp_write *to)
{
    size_t next = 0;
    for (int value = 0; value < VALUES; value++) {
        size_t n = counts[value];
        counts[value] = next;
        next += n;
    }
    for (size_t i = 0; i < count; i++)
        to[counts[digit(&from[i], at)]++] = from[i];
}

/* Sorts by so many of the first bits, or more; stable. `to` has the same size, and its content is
 * lost. */
static void sort_by_first_bits(struct sp_write *writes, size_t count, int bits, struct sp_write *to)
{
    bool chosen[DIGITS];
    size_t counts[DIGITS][VALUES];
    choose_digits(writes, count, bits, chosen, counts);
    struct sp_write *from = writes;
    for (int at = 0; at < DIGITS; at++) {
        if (!chosen[at])
            continue;
        sort_by_digit(from, count, at, counts[at], to);
        struct sp_write *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != writes)
        memcpy(writes, from, count * sizeof *from);
}

/* Sorts what is almost sorted; stable. False: it was not, and is sorted only in part. */
static bool insert_all(const struct sp_write_batch *b, struct sp_write *writes, size_t count,
                       size_t moves)
{
    for (size_t i = 1; i < count; i++) {
        struct sp_write w = writes[i];
        size_t at = i;
        for (; at > 0 && writes[at - 1].first >= w.first; at--) {
            const struct sp_write *before = &writes[at - 1];
            if (before->first == w.first &&
                compare(b, before, w.first, sp_write_batch_key(b, &w)) <= 0)
                break;
            if (moves-- == 0)
                break;
            writes[at] = *before;
        }
        writes[at] = w;
        if (moves == SIZE_MAX)
            return false;
    }
    return true;
}

static void sort(struct sp_write_batch *b, size_t from)
{
    struct sp_write *writes = b->writes + from;
    size_t count = b->count - from;
    if (count < FEW) {
        if (count)
            qsort_r(writes, count, sizeof *writes, by_key_then_age, b);
        return;
    }
    sp_grow(&b->spare, &b->spare_cap, count);
    sort_by_first_bits(writes, count, bits_of(count) + ROOM_BITS, b->spare);
    if (insert_all(b, writes, count, MOVES * count))
        return;
    sort_by_first_bits(writes, count, 64, b->spare);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && writes[end].first == writes[i].first;)
            end++;
        if (end - i > 1)
            qsort_r(writes + i, end - i, sizeof *writes, by_key_then_age, b);
    }
}

void sp_write_batch_sort(struct sp_write_batch *b, size_t from)
{
    size_t kept = from;
    sort(b, from);
    for (size_t i = from; i < b->count; i++) {
        const struct sp_write *w = &b->writes[i], *next = w + 1;
        if (i + 1 < b->count && compare(b, w, next->first, sp_write_batch_key(b, next)) == 0)
            continue;
        b->writes[kept++] = *w;
    }
    b->count = kept;
}

/* Keys with the same first bytes are compared in memory, where rows are in order of arrival. */
static void prefetch_key(const struct sp_write_batch *b, const struct sp_write *writes, size_t at,
                         size_t end)
{
    enum { AHEAD = 8 };
    if (at + AHEAD < end)
        sp_prefetch(b->bytes.data + writes[at + AHEAD].at);
}

void sp_write_batch_merge(struct sp_write_batch *b, size_t from, size_t middle)
{
    size_t count = middle - from, at = 0, next = middle, kept = from;
    if (count == 0)
        return;
    sp_grow(&b->spare, &b->spare_cap, count);
    struct sp_write *older = b->spare;
    memcpy(older, b->writes + from, count * sizeof *older);
    while (at < count && next < b->count) {
        const struct sp_write *w = &b->writes[next];
        if (older[at].first == w->first) {
            prefetch_key(b, older, at, count);
            prefetch_key(b, b->writes, next, b->count);
        }
        int order = compare(b, &older[at], w->first, sp_write_batch_key(b, w));
        b->writes[kept++] = order < 0 ? older[at] : *w;
        at += order <= 0;
        next += order >= 0;
    }
    /* One of the two has nothing left. */
    memmove(b->writes + kept, b->writes + next, (b->count - next) * sizeof *b->writes);
    memcpy(b->writes + kept, older + at, (count - at) * sizeof *older);
    b->count = kept + (b->count - next) + (count - at);
}

size_t sp_write_batch_from(const struct sp_write_batch *b, size_t start, size_t end,
                           struct sp_view key)
{
    uint64_t first = first_bytes(key);
    size_t lo = start, hi = end;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (compare(b, &b->writes[mid], first, key) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

const struct sp_write *sp_write_batch_find(const struct sp_write_batch *b, size_t start, size_t end,
                                           struct sp_view key)
{
    size_t at = sp_write_batch_from(b, start, end, key);
    return at < end && sp_view_eq(sp_write_batch_key(b, &b->writes[at]), key) ? &b->writes[at]
                                                                              : NULL;
}

void sp_write_batch_fill(const struct sp_write_batch *b, rocksdb_writebatch_t *to)
{
    for (size_t i = 0; i < b->count; i++) {
        struct sp_view key = sp_write_batch_key(b, &b->writes[i]),
                       value = sp_write_batch_value(b, &b->writes[i]);
        if (b->writes[i].value_len == SP_WRITE_ERASED)
            rocksdb_writebatch_delete(to, key.data, key.len);
        else
            rocksdb_writebatch_put(to, key.data, key.len, value.data, value.len);
    }
}
