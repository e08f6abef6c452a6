/* See prefix.h. */
#include "similarity/prefix.h"

#include <math.h>

#include "base/assert.h"
#include "base/hash.h"
#include "base/mem.h"

static unsigned bits_for(uint64_t entries, unsigned least, unsigned most)
{
    unsigned bits = least;
    while (bits < most && (1ull << bits) < entries)
        bits++;
    return bits;
}

void sp_frequencies_begin(struct sp_frequencies *f, uint64_t total)
{
    unsigned bits = bits_for(total * 2, 10, 26);
    f->shift = 32 - bits;
    f->counters = sp_calloc(1ull << bits, sizeof *f->counters);
}

void sp_frequencies_add(struct sp_frequencies *f, const uint32_t *shingles, size_t count)
{
    for (size_t k = 0; k < count; k++)
        f->counters[shingles[k] >> f->shift]++;
}

void sp_frequencies_count(struct sp_frequencies *f, struct sp_signature *const *signatures,
                          size_t count)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += signatures[i]->shingle_count;
    sp_frequencies_begin(f, total);
    for (size_t i = 0; i < count; i++)
        sp_frequencies_add(f, signatures[i]->hashes, signatures[i]->shingle_count);
}

void sp_frequencies_done(struct sp_frequencies *f)
{
    sp_free(f->counters);
    *f = (struct sp_frequencies){0};
}

static void swap(uint64_t *a, uint64_t *b)
{
    uint64_t t = *a;
    *a = *b;
    *b = t;
}

/* Moves the `take` smallest keys to the front (Hoare's selection; the middle of three as pivot). */
static void select_smallest(uint64_t *keys, size_t count, size_t take)
{
    size_t lo = 0, hi = count;
    while (hi - lo > 1 && take > lo && take < hi) {
        uint64_t *a = &keys[lo], *b = &keys[lo + (hi - lo) / 2], *c = &keys[hi - 1];
        uint64_t pivot = *a < *b ? (*b < *c   ? *b
                                    : *a < *c ? *c
                                              : *a)
                                 : (*a < *c   ? *a
                                    : *b < *c ? *c
                                              : *b);
        size_t i = lo, k = hi - 1;
        for (;;) {
            while (keys[i] < pivot)
                i++;
            while (keys[k] > pivot)
                k--;
            if (i >= k)
                break;
            swap(&keys[i++], &keys[k--]);
        }
        size_t split = k + 1;
        if (split == hi) /* only if all keys are equal or the pivot is the last */
            split = hi - 1;
        if (take <= split)
            hi = split;
        else
            lo = split;
    }
}

void sp_frequencies_rarest_of(const struct sp_frequencies *f, const uint32_t *shingles,
                              size_t count, size_t take, uint64_t *ret_keys)
{
    for (size_t k = 0; k < count; k++)
        ret_keys[k] = (uint64_t)f->counters[shingles[k] >> f->shift] << 32 | shingles[k];
    select_smallest(ret_keys, count, take);
}

void sp_frequencies_rarest(const struct sp_frequencies *f, const struct sp_signature *s,
                           size_t take, uint64_t *ret_keys)
{
    sp_frequencies_rarest_of(f, s->hashes, s->shingle_count, take, ret_keys);
}

size_t sp_prefix_length(double threshold, size_t count)
{
    if (count == 0)
        return 0;
    size_t needed = (size_t)ceil((threshold - 1e-9) * (double)count);
    return needed > 0 ? count - needed + 1 : count;
}

size_t sp_prefix_indexed(double threshold, size_t count)
{
    double t = threshold - 1e-9, n = (double)count;
    size_t most = sp_prefix_length(threshold, count);
    size_t indexed = (size_t)(n - 2 * t / (1 + t) * n + 1e-6) + 1;
    return indexed < most ? indexed : most;
}

void sp_prefix_index_init(struct sp_prefix_index *x, size_t postings)
{
    SP_ASSERT(postings < UINT32_MAX);
    unsigned bits = bits_for(postings * 2, 4, 31);
    x->shift = 32 - bits;
    x->table = sp_calloc(1ull << bits, sizeof *x->table);
    x->postings = sp_alloc((postings + 1) * sizeof *x->postings);
    x->posting_count = 0;
}

void sp_prefix_index_done(struct sp_prefix_index *x)
{
    sp_free(x->table);
    sp_free(x->postings);
    *x = (struct sp_prefix_index){0};
}

/* The place of the shingle's list in the table. */
static uint32_t place_of(const struct sp_prefix_index *x, uint32_t shingle)
{
    uint32_t mask = (uint32_t)((1ull << (32 - x->shift)) - 1);
    uint32_t at = sp_hash_place(shingle, x->shift); /* the smallest shingles are chosen first */
    while (x->table[at] && x->postings[x->table[at] - 1].shingle != shingle)
        at = (at + 1) & mask;
    return at;
}

uint32_t sp_prefix_index_add(struct sp_prefix_index *x, uint32_t shingle, uint32_t page)
{
    uint32_t at = place_of(x, shingle), before = x->table[at];
    x->postings[x->posting_count] = (struct sp_prefix_posting){shingle, page, before};
    x->table[at] = (uint32_t)++x->posting_count;
    return before;
}

uint32_t sp_prefix_index_find(const struct sp_prefix_index *x, uint32_t shingle)
{
    return x->table[place_of(x, shingle)];
}
