/* See lacking.h. */
#include "similarity/lacking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/counts.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/order.h"
#include "similarity/tally.h"

enum { BLOCK = SP_TALLY_WORDS, POOLS = 32, POOLS_EACH = 4 };

/* Free numbers of items for which |D| less `most` is about the same. */
struct pool {
    uint32_t *free;
    uint32_t count;
    uint32_t cap;
    double least;  /* |D| less `most`, of its items so far */
    uint32_t need; /* scratch of sp_lacking_find */
};

struct item {
    uint32_t *differs; /* what it lacks, places in the reference, then what it adds; NULL: it is
                        * odd */
    uint32_t lacks;
    uint32_t adds;
};

struct place {
    uint32_t shingle;
    uint32_t at; /* in the reference, plus 1; 0: free */
};

/* Row `count` has the odd items, row `count + 1` all. */
struct sp_lacking {
    uint32_t count;       /* different shingles of the reference */
    struct place *places; /* those, a hash table that is at most a quarter full */
    uint32_t place_shift;
    uint64_t *rows; /* count + 2, of `words` each */
    uint32_t words;
    struct item *items; /* 64 for each word */
    uint32_t odd;
    uint32_t others;
    uint8_t *pool_of;   /* of each word */
    uint32_t *pools_in; /* of each block of words, a bit for each pool */
    uint64_t differs;   /* of all items: what they lack and add */
    uint32_t words_used;
    struct pool pools[POOLS]; /* the first has the odd ones */
    bool counts_adds;
    struct sp_counts added; /* shingle -> items that add it, if these are counted */
    /* scratch: how the last signature differs from the reference */
    uint64_t *has; /* shingles of the reference, a bit for each */
    uint32_t *lacks;
    uint32_t lacks_count;
    uint32_t *adds;
    uint32_t adds_count;
    uint32_t adds_cap;
    const uint64_t **tallied;
    uint32_t *needs;
    uint64_t *tally; /* the found items, a bit for each */
    uint32_t *found;
    uint32_t found_count;
    uint32_t found_cap;
};

/* The place of the shingle in the table, or the free one for it. */
static inline struct place *find_place(const struct sp_lacking *l, uint32_t shingle)
{
    uint32_t mask = UINT32_MAX >> l->place_shift, i = sp_hash_place(shingle, l->place_shift);
    while (l->places[i].at && l->places[i].shingle != shingle)
        i = (i + 1) & mask;
    return &l->places[i];
}

struct sp_lacking *sp_lacking_new(const struct sp_signature *reference, bool counts_adds)
{
    struct sp_lacking *l = sp_calloc(1, sizeof *l);
    l->counts_adds = counts_adds;
    for (l->place_shift = 28; (1ull << (32 - l->place_shift)) < 4ull * reference->shingle_count;)
        l->place_shift--;
    l->places = sp_calloc(1ul << (32 - l->place_shift), sizeof *l->places);
    for (uint32_t i = 0; i < reference->shingle_count; i++) {
        struct place *place = find_place(l, reference->hashes[i]);
        if (!place->at)
            *place = (struct place){reference->hashes[i], ++l->count};
    }
    l->has = sp_calloc(l->count / 64 + 1ul, sizeof *l->has);
    l->lacks = sp_calloc(l->count + 1ul, sizeof *l->lacks);
    l->tallied = sp_calloc(l->count + 1ul, sizeof *l->tallied);
    for (uint32_t i = 0; i < POOLS; i++)
        l->pools[i].least = (double)INFINITY;
    return l;
}

void sp_lacking_free(struct sp_lacking *l)
{
    if (!l)
        return;
    for (uint32_t i = 0; i < 64 * l->words; i++)
        sp_free(l->items[i].differs);
    for (uint32_t i = 0; i < POOLS; i++)
        sp_free(l->pools[i].free);
    sp_free(l->pool_of);
    sp_free(l->pools_in);
    sp_free(l->needs);
    sp_free(l->tally);
    sp_free(l->places);
    sp_counts_done(&l->added);
    sp_free(l->rows);
    sp_free(l->items);
    sp_free(l->has);
    sp_free(l->lacks);
    sp_free(l->adds);
    sp_free(l->tallied);
    sp_free(l->found);
    sp_free(l);
}

bool sp_lacking_refers(const struct sp_lacking *l, uint32_t shingle)
{
    return find_place(l, shingle)->at > 0;
}

/* How x differs from the reference. */
static void differ(struct sp_lacking *l, const struct sp_signature *x)
{
    memset(l->has, 0, (l->count / 64 + 1ul) * sizeof *l->has);
    sp_grow(&l->adds, &l->adds_cap, x->shingle_count + 1);
    l->adds_count = l->lacks_count = 0;
    for (uint32_t i = 0; i < x->shingle_count; i++) {
        uint32_t shingle = x->hashes[i], place;
        if (i > 0 && shingle == x->hashes[i - 1])
            continue;
        place = find_place(l, shingle)->at;
        if (place)
            l->has[(place - 1) / 64] |= 1ull << (place - 1) % 64;
        else
            l->adds[l->adds_count++] = shingle;
    }
    for (uint32_t at = 0; at < l->count; at += 64) {
        uint64_t lacks = ~l->has[at / 64];
        if (l->count - at < 64)
            lacks &= (1ull << (l->count - at)) - 1;
        for (; lacks; lacks &= lacks - 1)
            l->lacks[l->lacks_count++] = at + (uint32_t)__builtin_ctzll(lacks);
    }
}

/* ---- items ---- */

static uint64_t *row(const struct sp_lacking *l, uint32_t number)
{
    return l->rows + (size_t)number * l->words;
}

static void add_words(struct sp_lacking *l)
{
    uint32_t words = l->words ? 2 * l->words : BLOCK;
    uint64_t *rows = sp_calloc((size_t)(l->count + 2) * words, sizeof *rows);
    for (uint32_t i = 0; l->words && i < l->count + 2; i++)
        memcpy(rows + (size_t)i * words, row(l, i), l->words * sizeof *rows);
    sp_free(l->rows);
    l->rows = rows;
    l->items = sp_realloc(l->items, 64ul * words * sizeof *l->items);
    memset(l->items + 64ul * l->words, 0, 64ul * (words - l->words) * sizeof *l->items);
    l->pool_of = sp_realloc(l->pool_of, words);
    l->pools_in = sp_realloc(l->pools_in, words / BLOCK * sizeof *l->pools_in);
    l->needs = sp_realloc(l->needs, words * sizeof *l->needs);
    l->tally = sp_realloc(l->tally, words * sizeof *l->tally);
    memset(l->pool_of + l->words, 0, words - l->words);
    memset(l->pools_in + l->words / BLOCK, 0, (words - l->words) / BLOCK * sizeof *l->pools_in);
    l->words = words;
}

static void free_number(struct sp_lacking *l, uint32_t pool, uint32_t item)
{
    struct pool *c = &l->pools[pool];
    sp_grow(&c->free, &c->cap, c->count + 1);
    c->free[c->count++] = item;
}

static uint32_t take_number(struct sp_lacking *l, uint32_t pool)
{
    struct pool *c = &l->pools[pool];
    if (!c->count) {
        if (l->words_used == l->words)
            add_words(l);
        for (uint32_t i = 64; i-- > 0;)
            free_number(l, pool, 64 * l->words_used + i);
        l->pools_in[l->words_used / BLOCK] |= 1u << pool;
        l->pool_of[l->words_used++] = (uint8_t)pool;
    }
    return c->free[--c->count];
}

static void set(struct sp_lacking *l, uint32_t number, uint32_t item)
{
    row(l, number)[item / 64] |= 1ull << item % 64;
}

static void unset(struct sp_lacking *l, uint32_t number, uint32_t item)
{
    row(l, number)[item / 64] &= ~(1ull << item % 64);
}

static void put_other(struct sp_lacking *l, uint32_t item)
{
    struct item *i = &l->items[item];
    i->lacks = l->lacks_count;
    i->adds = l->counts_adds ? l->adds_count : 0;
    i->differs = sp_alloc((i->lacks + i->adds + 1ul) * sizeof *i->differs);
    l->differs += i->lacks + i->adds;
    memcpy(i->differs, l->lacks, i->lacks * sizeof *i->differs);
    memcpy(i->differs + i->lacks, l->adds, i->adds * sizeof *i->differs);
    for (uint32_t k = 0; k < i->lacks; k++)
        set(l, i->differs[k], item);
    for (uint32_t k = 0; k < i->adds; k++)
        sp_counts_add(&l->added, i->differs[i->lacks + k], 1);
    l->others++;
}

static uint32_t pool_of(double apart, double most)
{
    double pool = 1 + POOLS_EACH * (apart / most + 1);
    return pool < POOLS ? (uint32_t)pool : POOLS - 1;
}

uint32_t sp_lacking_put(struct sp_lacking *l, const struct sp_signature *x, double most)
{
    differ(l, x);
    double apart = (double)l->lacks_count + l->adds_count - most;
    bool odd = apart <= -most || l->lacks_count > l->count / 2;
    uint32_t item = take_number(l, odd ? 0 : pool_of(apart, most));
    set(l, l->count + 1, item);
    if (odd) {
        set(l, l->count, item);
        l->odd++;
        return item;
    }
    put_other(l, item);
    struct pool *c = &l->pools[l->pool_of[item / 64]];
    c->least = apart < c->least ? apart : c->least;
    return item;
}

void sp_lacking_take(struct sp_lacking *l, uint32_t item)
{
    struct item *i = &l->items[item];
    unset(l, l->count + 1, item);
    free_number(l, l->pool_of[item / 64], item);
    if (!i->differs) {
        unset(l, l->count, item);
        l->odd--;
        return;
    }
    for (uint32_t k = 0; k < i->lacks; k++)
        unset(l, i->differs[k], item);
    for (uint32_t k = 0; k < i->adds; k++)
        sp_counts_take_one(&l->added, i->differs[i->lacks + k]);
    l->differs -= i->lacks + i->adds;
    sp_free(i->differs);
    i->differs = NULL;
    l->others--;
}

uint32_t sp_lacking_odd(const struct sp_lacking *l)
{
    return l->odd;
}

/* ---- the reference ---- */

/* Marks the shingles of the reference that more than `least` items have, in l->has. Returns their
 * number. */
static uint32_t mark_common(const struct sp_lacking *l, uint32_t least)
{
    uint32_t common = 0;
    memset(l->has, 0, (l->count / 64 + 1ul) * sizeof *l->has);
    for (uint32_t i = 0; i < l->count; i++) {
        uint32_t lack = 0;
        for (uint32_t k = 0; k < l->words_used; k++)
            lack += (uint32_t)__builtin_popcountll(row(l, i)[k]);
        if (l->others - lack <= least)
            continue;
        l->has[i / 64] |= 1ull << i % 64;
        common++;
    }
    return common;
}

/* Appends the shingles that more than `least` items add to those of `s`, if it is not NULL. Returns
 * their number. */
static uint32_t add_common(const struct sp_lacking *l, uint32_t least, struct sp_signature *s,
                           uint32_t at)
{
    uint32_t common = 0;
    for (size_t i = 0; i < l->added.cap; i++) {
        const struct sp_count *c = &l->added.items[i];
        if (c->count <= least)
            continue;
        if (s)
            s->hashes[at + common] = (uint32_t)c->key;
        common++;
    }
    return common;
}

struct sp_signature *sp_lacking_centre(const struct sp_lacking *l)
{
    static const uint32_t parts[] = {32, 8, 2};
    uint32_t least = 1, kept = 0, added = 0, at = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        least = l->others / parts[i] > 1 ? l->others / parts[i] : 1;
        kept = mark_common(l, least);
        added = add_common(l, least, NULL, 0);
        if (kept + added <= 2 * l->count)
            break;
    }
    if (!l->others || (kept == l->count && !added))
        return NULL;
    struct sp_signature *s = sp_signature_alloc(kept + added, 0);
    for (uint32_t i = 0; i < 1u << (32 - l->place_shift); i++) {
        uint32_t place = l->places[i].at;
        if (place && l->has[(place - 1) / 64] >> (place - 1) % 64 & 1)
            s->hashes[at++] = l->places[i].shingle;
    }
    add_common(l, least, s, at);
    qsort(s->hashes, s->shingle_count, sizeof *s->hashes, sp_by_u32);
    return s;
}

/* ---- searching ---- */

/* How many of the shingles that the last signature adds are also added by another item. */
static uint32_t known_adds(const struct sp_lacking *l, int64_t self)
{
    uint32_t by_itself = self != SP_LACKING_NONE && l->items[self].differs, known = 0;
    for (uint32_t i = 0; i < l->adds_count; i++)
        sp_counts_prefetch(&l->added, l->adds[i]);
    for (uint32_t i = 0; i < l->adds_count; i++)
        known += sp_counts_get(&l->added, l->adds[i]) > by_itself;
    return known;
}

/* For each pool: how many of the shingles that the last signature lacks an item must lack as well,
 * at most one more than there are. Returns the pools that the search reads, a bit for each. */
static uint32_t fill_needs(struct sp_lacking *l, double most, uint32_t known)
{
    static const double rounding = 1e-6;
    double differs = (double)l->lacks_count + l->adds_count - most, all = l->lacks_count + 1.0;
    uint32_t pools = l->odd > 0;
    for (uint32_t i = 0; i < POOLS; i++) {
        double need = (differs + l->pools[i].least) / 2 - rounding - known;
        l->pools[i].need = need >= all ? l->lacks_count + 1 : need > 0 ? (uint32_t)ceil(need) : 0;
        pools |= (uint32_t)(l->pools[i].need <= l->lacks_count) << i;
    }
    return pools;
}

static void add_found(struct sp_lacking *l, uint32_t word, uint64_t bits)
{
    for (; bits; bits &= bits - 1) {
        sp_grow(&l->found, &l->found_cap, l->found_count + 1);
        l->found[l->found_count++] = 64 * word + (uint32_t)__builtin_ctzll(bits);
    }
}

static void find_in(struct sp_lacking *l, struct sp_tally_range range)
{
    for (uint32_t i = range.from; i < range.end; i++)
        l->needs[i] = l->pools[l->pool_of[i]].need;
    sp_tally(l->tallied, l->lacks_count, range, l->needs, l->tally);
    for (uint32_t i = range.from; i < range.end; i++) {
        l->tally[i] = (l->tally[i] & row(l, l->count + 1)[i]) | row(l, l->count)[i];
        add_found(l, i, l->tally[i]);
    }
}

/* The last signature is x. */
static struct sp_lacking_found find(struct sp_lacking *l, double most, uint32_t known)
{
    uint32_t blocks = (l->words_used + BLOCK - 1) / BLOCK, read = 0;
    if (blocks == 0)
        return (struct sp_lacking_found){NULL, 0, 0};
    uint32_t pools = fill_needs(l, most, known);
    for (uint32_t i = 0; i < l->lacks_count; i++)
        l->tallied[i] = row(l, l->lacks[i]);
    l->found_count = 0;
    memset(l->tally, 0, l->words * sizeof *l->tally);
    for (uint32_t i = 0, end; i < blocks; i = end + 1) {
        for (end = i; end < blocks && l->pools_in[end] & pools;)
            end++;
        if (end > i)
            find_in(l, (struct sp_tally_range){BLOCK * i, BLOCK * end});
        read += end - i;
    }
    return (struct sp_lacking_found){l->found, l->found_count, BLOCK * read};
}

struct sp_lacking_found sp_lacking_find(struct sp_lacking *l, const struct sp_signature *x,
                                        double most, int64_t self)
{
    SP_ASSERT(l->counts_adds);
    differ(l, x);
    return find(l, most, known_adds(l, self));
}

struct sp_lacking_found sp_lacking_find_knowing(struct sp_lacking *l, const struct sp_signature *x,
                                                double most, const uint32_t *unshared,
                                                uint32_t unshared_count)
{
    differ(l, x);
    uint32_t known = l->adds_count;
    for (uint32_t i = 0; i < unshared_count; i++)
        known -= find_place(l, unshared[i])->at == 0;
    return find(l, most, known);
}

bool sp_lacking_is_found(const struct sp_lacking *l, uint32_t item)
{
    return l->tally[item / 64] >> item % 64 & 1;
}

size_t sp_lacking_bytes(const struct sp_lacking *l)
{
    size_t places = (1ul << (32 - l->place_shift)) * sizeof *l->places;
    size_t a_word = (l->count + 2ul) * sizeof *l->rows + 64 * sizeof *l->items +
                    sizeof *l->pool_of + sizeof *l->needs + sizeof *l->tally;
    return sizeof *l + places + l->words * a_word + l->differs * sizeof *l->items->differs +
           l->added.cap * sizeof *l->added.items;
}
