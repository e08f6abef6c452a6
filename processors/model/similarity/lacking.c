/* See lacking.h. */
#include "similarity/lacking.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/counts.h"
#include "base/mem.h"

enum { BLOCK = 8, PLANES_MOST = 33, POOLS = 32, POOLS_EACH = 4 };

/* Free numbers of items for which |D| less `most` is about the same. */
struct pool {
    uint32_t *free;
    uint32_t count;
    uint32_t cap;
    double least;  /* |D| less `most`, of its items so far */
    uint32_t need; /* scratch of sp_lacking_find */
};

struct item {
    uint32_t
        *differs; /* what it lacks, places in the reference, then what it adds; NULL: it is odd */
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
    uint8_t *pool_of; /* of each word */
    uint32_t words_used;
    struct pool pools[POOLS]; /* the first has the odd ones */
    struct sp_counts added;   /* shingle -> items that add it */
    /* scratch: how the last signature differs from the reference */
    uint64_t *has; /* shingles of the reference, a bit for each */
    uint32_t *lacks;
    uint32_t lacks_count;
    uint32_t *adds;
    uint32_t adds_count;
    uint32_t adds_cap;
    const uint64_t **tallied;
    uint32_t *needs;
    uint64_t *found;
};

static uint32_t first_place(const struct sp_lacking *l, uint32_t shingle)
{
    return shingle * 2654435761u >> l->place_shift;
}

/* The place of the shingle in the table, or the free one for it. */
static inline struct place *find_place(const struct sp_lacking *l, uint32_t shingle)
{
    uint32_t mask = UINT32_MAX >> l->place_shift, i = first_place(l, shingle);
    while (l->places[i].at && l->places[i].shingle != shingle)
        i = (i + 1) & mask;
    return &l->places[i];
}

struct sp_lacking *sp_lacking_new(const struct sp_signature *reference)
{
    struct sp_lacking *l = sp_calloc(1, sizeof *l);
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
    sp_free(l->needs);
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
    l->needs = sp_realloc(l->needs, words * sizeof *l->needs);
    l->found = sp_realloc(l->found, words * sizeof *l->found);
    memset(l->pool_of + l->words, 0, words - l->words);
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
    i->differs = sp_alloc((l->lacks_count + l->adds_count) * sizeof *i->differs);
    i->lacks = l->lacks_count;
    i->adds = l->adds_count;
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
    double pool = 1 + POOLS_EACH * apart / most;
    return pool < POOLS ? (uint32_t)pool : POOLS - 1;
}

uint32_t sp_lacking_put(struct sp_lacking *l, const struct sp_signature *x, double most)
{
    differ(l, x);
    double apart = (double)l->lacks_count + l->adds_count - most;
    bool odd = apart <= 0 || l->lacks_count > l->count / 2;
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
    sp_free(i->differs);
    i->differs = NULL;
    l->others--;
}

uint32_t sp_lacking_odd(const struct sp_lacking *l)
{
    return l->odd;
}

/* ---- searching ---- */

typedef uint64_t block __attribute__((vector_size(8 * BLOCK), aligned(8), may_alias));

static inline uint32_t bits_of(uint32_t number)
{
    return number ? 32 - (uint32_t)__builtin_clz(number) : 0;
}

/* Bit p of eight numbers: all bits of their words, or none. */
static inline __attribute__((always_inline)) void bit_of_eight(const uint32_t *numbers, uint32_t p,
                                                               block *ret_bits)
{
    for (uint32_t i = 0; i < BLOCK; i++)
        (*ret_bits)[i] = -(uint64_t)(numbers[i] >> p & 1);
}

/* The sums of the rows are kept bit by bit: sum[p] has bit p of the sum of each item. They stay in
 * registers if their number is known when this is compiled. */
static inline __attribute__((always_inline)) void
tally_in(uint32_t planes, const uint64_t *const *rows, uint32_t row_count, uint32_t words,
         const uint32_t *least, uint64_t *ret_words)
{
    for (uint32_t at = 0; at < words; at += BLOCK) {
        block sum[PLANES_MOST], more = {0}, equal = ~more;
        for (uint32_t p = 0; p < planes; p++)
            sum[p] = more;
        for (uint32_t i = 0; i < row_count; i++) {
            block carry = *(const block *)(rows[i] + at);
            for (uint32_t p = 0; p < planes; p++) {
                block both = sum[p] & carry;
                sum[p] ^= carry;
                carry = both;
            }
        }
        for (uint32_t p = planes; p-- > 0;) {
            block bit;
            bit_of_eight(least + at, p, &bit);
            more |= equal & sum[p] & ~bit;
            equal &= ~(sum[p] ^ bit);
        }
        *(block *)(ret_words + at) = more | equal;
    }
}

static inline __attribute__((always_inline)) void tally(const uint64_t *const *rows,
                                                        uint32_t row_count, uint32_t words,
                                                        const uint32_t *least, uint64_t *ret_words)
{
    uint32_t planes = bits_of(row_count + 1);
    if (planes <= 3)
        tally_in(3, rows, row_count, words, least, ret_words);
    else if (planes == 4)
        tally_in(4, rows, row_count, words, least, ret_words);
    else if (planes == 5)
        tally_in(5, rows, row_count, words, least, ret_words);
    else if (planes == 6)
        tally_in(6, rows, row_count, words, least, ret_words);
    else
        tally_in(planes, rows, row_count, words, least, ret_words);
}

void sp_lacking_tally_portable(const uint64_t *const *rows, uint32_t row_count, uint32_t words,
                               const uint32_t *least, uint64_t *ret_words)
{
    tally(rows, row_count, words, least, ret_words);
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static void tally_avx512(const uint64_t *const *rows,
                                                            uint32_t row_count, uint32_t words,
                                                            const uint32_t *least,
                                                            uint64_t *ret_words)
{
    tally(rows, row_count, words, least, ret_words);
}

__attribute__((target("avx2"))) static void tally_avx2(const uint64_t *const *rows,
                                                       uint32_t row_count, uint32_t words,
                                                       const uint32_t *least, uint64_t *ret_words)
{
    tally(rows, row_count, words, least, ret_words);
}
#endif

void sp_lacking_tally(const uint64_t *const *rows, uint32_t row_count, uint32_t words,
                      const uint32_t *least, uint64_t *ret_words)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
        tally_avx512(rows, row_count, words, least, ret_words);
        return;
    }
    if (__builtin_cpu_supports("avx2")) {
        tally_avx2(rows, row_count, words, least, ret_words);
        return;
    }
#endif
    sp_lacking_tally_portable(rows, row_count, words, least, ret_words);
}

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

/* For each word of items: how many of the shingles that the last signature lacks an item must lack
 * as well, at most one more than there are. */
static void fill_needs(struct sp_lacking *l, double most, int64_t self)
{
    static const double rounding = 1e-6;
    double differs = (double)l->lacks_count + l->adds_count - most, all = l->lacks_count + 1.0;
    uint32_t known = known_adds(l, self);
    for (uint32_t i = 0; i < POOLS; i++) {
        double need = (differs + l->pools[i].least) / 2 - rounding - known;
        l->pools[i].need = need >= all ? l->lacks_count + 1 : need > 0 ? (uint32_t)ceil(need) : 0;
    }
    for (uint32_t i = 0; i < l->words; i++)
        l->needs[i] = l->pools[l->pool_of[i]].need;
}

const uint64_t *sp_lacking_find(struct sp_lacking *l, const struct sp_signature *x, double most,
                                int64_t self, uint32_t *ret_words)
{
    uint32_t words = *ret_words = (l->words_used + BLOCK - 1) / BLOCK * BLOCK;
    if (l->others == 0)
        return l->words ? row(l, l->count) : NULL;
    differ(l, x);
    fill_needs(l, most, self);
    for (uint32_t i = 0; i < l->lacks_count; i++)
        l->tallied[i] = row(l, l->lacks[i]);
    sp_lacking_tally(l->tallied, l->lacks_count, words, l->needs, l->found);
    for (uint32_t i = 0; i < words; i++)
        l->found[i] = (l->found[i] & row(l, l->count + 1)[i]) | row(l, l->count)[i];
    return l->found;
}
