/* See words.h.
 *
 * Spread. A probe visits the cells whose pages have about its own length vector, so it visits fewer
 * cells if the vectors of different pages differ more. Let g(p, i) be the share of page p's words
 * that sub-dictionary i has. The rule maximises the sum over i of the variance of g(p, i) over all
 * pages p by hill climbing: it starts with the balanced dictionary and moves each word in turn, the
 * most frequent first, to where it raises the sum most, until no word moves. Shares are integer
 * multiples of 1/65536, so that sums are exact and the order of pages does not matter.
 *
 * Measured on 13,047 distinct final pages of three documentation sites, 64 cells, lossless,
 * tau = 0.9: 4.0 cells a probe by hash, 2.6 with 8,192 words spread; at 0.8 7.5 and 4.9. */
#include "partition/words.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"

enum {
    UNIT = 65536,
    SWEEPS = 20,
    /* A rarer word overfits to the few pages that have it. With 1 instead of 32, 64 cells trained
     * on 1,480 pages had a load of 2.8 (max/mean) on later pages of the same crawl instead of 1.8,
     * which is what chance gives. */
    LEAST_PAGES = 32
};

/* ---- bags ---- */

struct sp_bag *sp_bag_new(uint64_t *words, size_t count)
{
    size_t pairs = 0;
    if (count > 0)
        qsort(words, count, sizeof *words, sp_by_u64);
    for (size_t i = 0; i < count; i++)
        pairs += i == 0 || words[i] >> 34 != words[i - 1] >> 34;
    struct sp_bag *bag = sp_alloc(sizeof *bag + 2 * pairs * sizeof *bag->words);
    *bag = (struct sp_bag){.total = (uint32_t)count};
    for (size_t i = 0; i < count; i++) {
        uint32_t *end = &bag->words[2 * (size_t)bag->pairs];
        if (i > 0 && words[i] >> 34 == words[i - 1] >> 34) {
            end[-1]++;
            continue;
        }
        end[0] = (uint32_t)(words[i] >> 34);
        end[1] = 1;
        bag->pairs++;
    }
    return bag;
}

void sp_bag_lengths(const struct sp_bag *bag, const struct sp_dictionary *dictionary,
                    uint32_t ret_length[SP_DIMS])
{
    memset(ret_length, 0, SP_DIMS * sizeof *ret_length);
    for (uint32_t i = 0; i < bag->pairs; i++)
        ret_length[sp_dictionary_sub(dictionary, (uint64_t)bag->words[2 * (size_t)i] << 34)] +=
            bag->words[2 * (size_t)i + 1];
}

/* ---- the most frequent words ---- */

struct word {
    uint32_t key;
    uint32_t pages;
    uint64_t count;
    uint32_t sub;
    size_t uses; /* where its pages begin among all uses */
};

struct vocabulary {
    struct word *words;
    uint32_t count;
    uint32_t *slots; /* number + 1 of a word; 0: free */
    uint32_t mask;
};

/* The slot of a word, or the free slot for it. */
static uint32_t *slot_of(const struct vocabulary *v, uint32_t key)
{
    uint32_t at = key & v->mask;
    while (v->slots[at] && v->words[v->slots[at] - 1].key != key)
        at = (at + 1) & v->mask;
    return &v->slots[at];
}

static void index_words(struct vocabulary *v, uint32_t size)
{
    sp_free(v->slots);
    v->slots = sp_calloc(size, sizeof *v->slots);
    v->mask = size - 1;
    for (uint32_t i = 0; i < v->count; i++)
        *slot_of(v, v->words[i].key) = i + 1;
}

static void note_word(struct vocabulary *v, uint32_t key, uint32_t count)
{
    if (2 * (v->count + 1) > v->mask) {
        uint32_t size = v->mask ? 2 * (v->mask + 1) : 4096;
        v->words = sp_realloc(v->words, size / 2 * sizeof *v->words);
        index_words(v, size);
    }
    uint32_t *slot = slot_of(v, key);
    if (!*slot) {
        v->words[v->count] = (struct word){.key = key};
        *slot = ++v->count;
    }
    v->words[*slot - 1].count += count;
    v->words[*slot - 1].pages++;
}

static int by_frequency(const void *a, const void *b)
{
    const struct word *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

static void keep_most_frequent(struct vocabulary *v, uint32_t most, uint32_t least_pages)
{
    uint32_t kept = 0;
    if (v->count > 0)
        qsort(v->words, v->count, sizeof *v->words, by_frequency);
    for (uint32_t i = 0; i < v->count && kept < most; i++)
        if (v->words[i].pages >= least_pages)
            v->words[kept++] = v->words[i];
    v->count = kept;
    if (v->slots)
        index_words(v, v->mask + 1);
}

static void balance(struct vocabulary *v, uint32_t dims)
{
    uint64_t load[SP_DIMS] = {0};
    for (uint32_t i = 0; i < v->count; i++) {
        uint32_t least = 0;
        for (uint32_t d = 1; d < dims; d++)
            if (load[d] < load[least])
                least = d;
        v->words[i].sub = least;
        load[least] += v->words[i].count;
    }
}

/* ---- spread ---- */

struct use {
    uint32_t page;
    uint32_t share; /* of the page's words, of UNIT */
};

struct spread {
    struct vocabulary *v;
    uint32_t dims;
    double pages;
    struct use *uses;          /* by word */
    int64_t (*share)[SP_DIMS]; /* of each page and sub-dictionary */
    int64_t sum[SP_DIMS];      /* over pages */
    int64_t squares[SP_DIMS];
};

static uint32_t share_of(const struct sp_bag *bag, uint32_t count)
{
    return (uint32_t)(((uint64_t)count * UNIT + bag->total / 2) / bag->total);
}

static void list_uses(struct spread *s, struct sp_bag *const *bags, size_t count)
{
    struct vocabulary *v = s->v;
    size_t uses = 0;
    for (uint32_t i = 0; i < v->count; i++) {
        v->words[i].uses = uses;
        uses += v->words[i].pages;
        v->words[i].pages = 0;
    }
    s->uses = sp_alloc(uses * sizeof *s->uses + 1);
    s->share = sp_calloc(count, sizeof *s->share);
    for (size_t p = 0; p < count; p++)
        for (uint32_t i = 0; i < bags[p]->pairs; i++) {
            uint32_t key = bags[p]->words[2 * (size_t)i];
            uint32_t share = share_of(bags[p], bags[p]->words[2 * (size_t)i + 1]),
                     *slot = slot_of(v, key);
            if (!*slot) {
                s->share[p][sp_dictionary_by_hash(s->dims, (uint64_t)key << 34)] += share;
                continue;
            }
            struct word *w = &v->words[*slot - 1];
            s->uses[w->uses + w->pages++] = (struct use){(uint32_t)p, share};
            s->share[p][w->sub] += share;
        }
    for (size_t p = 0; p < count; p++)
        for (uint32_t d = 0; d < s->dims; d++) {
            s->sum[d] += s->share[p][d];
            s->squares[d] += s->share[p][d] * s->share[p][d];
        }
}

static double variance(const struct spread *s, int64_t sum, int64_t squares)
{
    double mean = (double)sum / s->pages;
    return (double)squares / s->pages - mean * mean;
}

/* Moves the word to where it raises the sum of variances most; false if it is there already. */
static bool improve(struct spread *s, struct word *w)
{
    int64_t all = 0, squares = 0, with[SP_DIMS] = {0};
    for (uint32_t i = 0; i < w->pages; i++) {
        const struct use *u = &s->uses[w->uses + i];
        all += u->share;
        squares += (int64_t)u->share * u->share;
        for (uint32_t d = 0; d < s->dims; d++)
            with[d] += u->share * s->share[u->page][d];
    }
    uint32_t from = w->sub, best = from;
    int64_t less = s->squares[from] - 2 * with[from] + squares;
    double loss =
        variance(s, s->sum[from] - all, less) - variance(s, s->sum[from], s->squares[from]);
    double most = 1e-6; /* of a unit squared; less may be due to rounding */
    for (uint32_t d = 0; d < s->dims; d++) {
        double gain = loss + variance(s, s->sum[d] + all, s->squares[d] + 2 * with[d] + squares) -
                      variance(s, s->sum[d], s->squares[d]);
        if (d != from && gain > most) {
            most = gain;
            best = d;
        }
    }
    if (best == from)
        return false;
    for (uint32_t i = 0; i < w->pages; i++) {
        const struct use *u = &s->uses[w->uses + i];
        s->share[u->page][from] -= u->share;
        s->share[u->page][best] += u->share;
    }
    s->squares[from] = less;
    s->squares[best] += 2 * with[best] + squares;
    s->sum[from] -= all;
    s->sum[best] += all;
    w->sub = best;
    return true;
}

static void spread(struct vocabulary *v, uint32_t dims, struct sp_bag *const *bags, size_t count)
{
    struct spread s = {.v = v, .dims = dims, .pages = (double)count};
    list_uses(&s, bags, count);
    bool moved = true;
    for (int sweep = 0; sweep < SWEEPS && moved; sweep++) {
        moved = false;
        for (uint32_t i = 0; i < v->count; i++)
            moved |= improve(&s, &v->words[i]);
    }
    sp_free(s.uses);
    sp_free(s.share);
}

/* ---- the whole ---- */

enum sp_err sp_words_train(enum sp_words_rule rule, uint32_t dims, uint32_t words,
                           struct sp_bag *const *bags, size_t count,
                           struct sp_dictionary *ret_dictionary)
{
    struct vocabulary v = {0};
    if (dims < 1 || dims > SP_DIMS || words > SP_MAX_DICTIONARY_WORDS)
        return SP_INVALID;
    if (rule == SP_WORDS_BY_HASH || dims == 1)
        return sp_dictionary_init(dims, NULL, 0, ret_dictionary);
    for (size_t p = 0; p < count; p++)
        for (uint32_t i = 0; i < bags[p]->pairs; i++)
            note_word(&v, bags[p]->words[2 * (size_t)i], bags[p]->words[2 * (size_t)i + 1]);
    keep_most_frequent(&v, words, rule == SP_WORDS_SPREAD ? LEAST_PAGES : 1);
    balance(&v, dims);
    if (rule == SP_WORDS_SPREAD && v.count > 0)
        spread(&v, dims, bags, count);
    uint32_t *entries = sp_alloc(v.count * sizeof *entries + 1);
    for (uint32_t i = 0; i < v.count; i++)
        entries[i] = v.words[i].key << 2 | (v.words[i].sub + 1);
    enum sp_err err = sp_dictionary_init(dims, entries, v.count, ret_dictionary);
    sp_free(entries);
    sp_free(v.words);
    sp_free(v.slots);
    return err;
}
