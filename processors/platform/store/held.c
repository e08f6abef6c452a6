/* See held.h. */
#include "store/held.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/prefetch.h"

/* Of the filter: nine bits a row of pages of 250 words. */
enum { BYTES_A_WORD = 2048 };

void sp_held_init(struct sp_held *h, uint64_t bytes)
{
    size_t words = 1;
    while (words < bytes / BYTES_A_WORD)
        words *= 2;
    *h = (struct sp_held){.filter_mask = words - 1};
    h->filter = sp_calloc(words, sizeof *h->filter);
}

void sp_held_done(struct sp_held *h)
{
    sp_write_batch_done(&h->rows);
    sp_free(h->filter);
    *h = (struct sp_held){0};
}

size_t sp_held_open(const struct sp_held *h)
{
    return h->runs ? h->ends[h->runs - 1] : 0;
}

void sp_held_discard(struct sp_held *h)
{
    sp_write_batch_cut(&h->rows, sp_held_open(h), &h->size);
}

/* Adds the keys of the last run to both filters. Each key waits for its own memory and for that of
 * the filters, so these are fetched for several keys at once. */
static void note_keys(struct sp_held *h, size_t from, struct sp_key_filter *present)
{
    enum { AT_ONCE = 32 };
    const struct sp_write_batch *b = &h->rows;
    uint64_t hashes[AT_ONCE];
    for (size_t i = from, n; h->filter && i < b->count; i += n) {
        n = b->count - i < AT_ONCE ? b->count - i : AT_ONCE;
        for (size_t k = 0; k < n; k++)
            sp_prefetch(sp_write_batch_key(b, &b->writes[i + k]).data);
        for (size_t k = 0; k < n; k++) {
            struct sp_view key = sp_write_batch_key(b, &b->writes[i + k]);
            hashes[k] = sp_hash64(key.data, key.len);
            sp_prefetch(&h->filter[hashes[k] & h->filter_mask]);
            sp_key_filter_prefetch(present, hashes[k]);
        }
        for (size_t k = 0; k < n; k++) {
            h->filter[hashes[k] & h->filter_mask] |= sp_key_filter_bits(hashes[k]);
            sp_key_filter_add(present, hashes[k]);
        }
    }
}

static size_t run_start(const struct sp_held *h, size_t run)
{
    return run ? h->ends[run - 1] : 0;
}

static void merge_last_two(struct sp_held *h)
{
    size_t last = h->runs - 1;
    sp_write_batch_merge(&h->rows, run_start(h, last - 1), run_start(h, last));
    h->ends[last - 1] = h->rows.count;
    h->runs--;
}

static bool last_is_long(const struct sp_held *h)
{
    size_t last = h->runs - 1;
    return last > 0 &&
           2 * (h->ends[last] - run_start(h, last)) >= h->ends[last - 1] - run_start(h, last - 1);
}

void sp_held_commit(struct sp_held *h, struct sp_key_filter *present)
{
    size_t from = sp_held_open(h);
    SP_ASSERT(h->runs < SP_HELD_RUNS);
    sp_write_batch_sort(&h->rows, from);
    note_keys(h, from, present);
    h->size = sp_write_batch_size(&h->rows);
    h->ends[h->runs++] = h->rows.count;
    while (last_is_long(h))
        merge_last_two(h);
}

uint64_t sp_held_bytes(const struct sp_held *h)
{
    return h->size.bytes + h->size.lent_bytes + sp_held_open(h) * sizeof *h->rows.writes;
}

const struct sp_write *sp_held_find(const struct sp_held *h, struct sp_view key, uint64_t hash)
{
    if (!h->filter || !h->runs)
        return NULL;
    uint64_t bits = sp_key_filter_bits(hash);
    if ((h->filter[hash & h->filter_mask] & bits) != bits)
        return NULL;
    const struct sp_write *w = NULL;
    for (size_t run = h->runs; run-- > 0 && !w;)
        w = sp_write_batch_find(&h->rows, run_start(h, run), h->ends[run], key);
    return w;
}

void sp_held_merge(struct sp_held *h)
{
    SP_ASSERT(sp_held_open(h) == h->rows.count);
    while (h->runs > 1)
        merge_last_two(h);
}

void sp_held_clear(struct sp_held *h)
{
    sp_write_batch_clear(&h->rows);
    h->runs = 0;
    h->size = (struct sp_write_batch_size){0};
    if (h->filter)
        memset(h->filter, 0, (h->filter_mask + 1) * sizeof *h->filter);
}
