/* See lcs_sets.h. */
#include "similarity/lcs_sets.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/sets.h"

enum { MINIMA_MAX = 8, BUCKETS_MAX = 64, RUN = 3, GAP = 2 };

static const double SLACK = 1e-9;

void sp_lcs_sets_default(struct sp_lcs_sets *ret_options)
{
    *ret_options = (struct sp_lcs_sets){.buckets = 7,
                                        .minima = 3,
                                        .most = 1000,
                                        .threshold = 0.5,
                                        .filtered = true,
                                        .trusted = true};
}

/* ---- stage 1 ---- */

struct print {
    uint64_t print;
    uint32_t page;
    uint32_t pages; /* that have it */
};

/* A bucket's smallest hashes, each once, ascending. */
static void note_minimum(uint64_t *minima, uint32_t *count, uint32_t most, uint64_t hash)
{
    uint32_t at = 0;
    while (at < *count && minima[at] < hash)
        at++;
    if (at == most || (at < *count && minima[at] == hash))
        return;
    uint32_t kept = *count < most ? *count : most - 1;
    for (uint32_t i = kept; i > at; i--)
        minima[i] = minima[i - 1];
    minima[at] = hash;
    *count = kept + 1;
}

/* A bucket with fewer sentences than `minima` has a fingerprint of those; an empty one has none. */
static uint32_t put_prints(const struct sp_lcs_sets *o, const struct sp_signature *s, uint32_t page,
                           struct print *ret_prints)
{
    uint64_t minima[BUCKETS_MAX][MINIMA_MAX];
    uint32_t counts[BUCKETS_MAX] = {0}, count = 0;
    const uint32_t *sentences = sp_signature_sentences(s);
    for (uint32_t i = 0; i < s->sentence_count; i++) {
        uint64_t hash = sp_mix64((uint64_t)sentences[i] + 1);
        uint32_t bucket = (uint32_t)(hash % o->buckets);
        note_minimum(minima[bucket], &counts[bucket], o->minima, hash);
    }
    for (uint32_t b = 0; b < o->buckets; b++) {
        uint64_t print = sp_mix64(b + 1);
        for (uint32_t i = 0; i < counts[b]; i++)
            print = sp_mix64(print ^ minima[b][i]);
        if (counts[b])
            ret_prints[count++] = (struct print){print, page, 0};
    }
    return count;
}

static int by_print(const void *a, const void *b)
{
    const struct print *x = a, *y = b;
    if (x->print != y->print)
        return x->print < y->print ? -1 : 1;
    return x->page < y->page ? -1 : x->page > y->page;
}

static int by_rarity(const void *a, const void *b)
{
    const struct print *x = a, *y = b;
    if (x->pages != y->pages)
        return x->pages < y->pages ? -1 : 1;
    return by_print(a, b);
}

/* The root is the smallest page. */
static void join(uint32_t *set, uint32_t *sizes, uint32_t most, uint32_t a, uint32_t b)
{
    uint32_t x = sp_sets_root(set, a), y = sp_sets_root(set, b);
    if (x == y || sizes[x] + sizes[y] > most)
        return;
    sizes[sp_sets_unite(set, x, y)] = sizes[x] + sizes[y];
}

void sp_lcs_perhaps(const struct sp_lcs_sets *o, struct sp_signature *const *signatures,
                    uint32_t count, uint32_t *ret_set)
{
    struct print *prints = sp_alloc(((size_t)count * o->buckets + 1) * sizeof *prints);
    uint32_t *sizes = sp_alloc(((size_t)count + 1) * sizeof *sizes);
    size_t n = 0;
    sp_sets_init(ret_set, count);
    for (uint32_t i = 0; i < count; i++) {
        n += put_prints(o, signatures[i], i, prints + n);
        sizes[i] = 1;
    }
    qsort(prints, n, sizeof *prints, by_print);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first; end < n && prints[end].print == prints[first].print; end++)
            continue;
        for (size_t i = first; i < end; i++)
            prints[i].pages = (uint32_t)(end - first);
    }
    qsort(prints, n, sizeof *prints, by_rarity);
    for (size_t i = 1; i < n; i++)
        if (prints[i].print == prints[i - 1].print)
            join(ret_set, sizes, o->most, prints[i - 1].page, prints[i].page);
    for (uint32_t i = 0; i < count; i++)
        ret_set[i] = sp_sets_root(ret_set, i);
    sp_free(prints);
    sp_free(sizes);
}

/* ---- two pages ---- */

/* The sentences of a page that the filter left, and their places in the page. */
struct sketch {
    uint32_t *items;
    uint32_t *places;
    uint32_t count;
    uint32_t whole; /* sentences of the page */
};

struct pair {
    uint32_t a; /* places of a common sentence in either page */
    uint32_t b;
};

/* Writes the pairs of one LCS to ret_pairs, which has room for as many as the shorter page has
 * sentences; returns their number. Only the part between the equal beginning and the equal end
 * needs the table. */
static uint32_t align(const struct sketch *a, const struct sketch *b, struct pair *ret_pairs)
{
    uint32_t n = 0, head = 0, tail = 0;
    while (head < a->count && head < b->count && a->items[head] == b->items[head])
        head++;
    while (tail < a->count - head && tail < b->count - head &&
           a->items[a->count - 1 - tail] == b->items[b->count - 1 - tail])
        tail++;
    uint32_t rows = a->count - head - tail, columns = b->count - head - tail;
    size_t width = (size_t)columns + 1;
    uint16_t *longest = sp_calloc((size_t)(rows + 1) * width, sizeof *longest);
    for (uint32_t i = rows; i-- > 0;)
        for (uint32_t k = columns; k-- > 0;) {
            uint16_t down = longest[(i + 1) * width + k], right = longest[i * width + k + 1];
            bool equal = a->items[head + i] == b->items[head + k];
            longest[i * width + k] = equal ? (uint16_t)(longest[(i + 1) * width + k + 1] + 1)
                                     : down > right ? down
                                                    : right;
        }
    for (uint32_t i = 0; i < head; i++)
        ret_pairs[n++] = (struct pair){a->places[i], b->places[i]};
    for (uint32_t i = 0, k = 0; i < rows && k < columns;) {
        if (a->items[head + i] == b->items[head + k])
            ret_pairs[n++] = (struct pair){a->places[head + i++], b->places[head + k++]};
        else if (longest[(i + 1) * width + k] >= longest[i * width + k + 1])
            i++;
        else
            k++;
    }
    for (uint32_t i = tail; i-- > 0;)
        ret_pairs[n++] = (struct pair){a->places[a->count - 1 - i], b->places[b->count - 1 - i]};
    sp_free(longest);
    return n;
}

struct middle {
    uint32_t from;
    uint32_t end;
    uint32_t trusted;
};

static struct middle middle_of(const struct sketch *s)
{
    uint32_t quarter = s->whole / 4;
    return (struct middle){quarter, s->whole - quarter, 0};
}

static void count_run(const struct pair *pairs, uint32_t count, uint32_t least, struct middle *a,
                      struct middle *b)
{
    for (uint32_t i = 0; i < count && count >= least; i++) {
        a->trusted += pairs[i].a >= a->from && pairs[i].a < a->end;
        b->trusted += pairs[i].b >= b->from && pairs[i].b < b->end;
    }
}

static bool is_enough(const struct middle *m, double threshold)
{
    return m->trusted >= threshold * (m->end - m->from) - SLACK;
}

/* Whether coherent runs of the LCS make up the threshold's share of the middle halves of both
 * pages. */
static bool is_coherent(const struct sketch *a, const struct sketch *b, double threshold)
{
    struct middle x = middle_of(a), y = middle_of(b);
    uint32_t shorter = a->whole < b->whole ? a->whole : b->whole;
    uint32_t least = shorter < RUN ? shorter : RUN, first = 0;
    struct pair *pairs = sp_alloc(((size_t)shorter + 1) * sizeof *pairs);
    uint32_t n = align(a, b, pairs);
    for (uint32_t i = 1; i <= n; i++) {
        if (i < n && pairs[i].a - pairs[i - 1].a <= GAP + 1 &&
            pairs[i].b - pairs[i - 1].b <= GAP + 1)
            continue;
        count_run(pairs + first, i - first, least, &x, &y);
        first = i;
    }
    sp_free(pairs);
    return is_enough(&x, threshold) && is_enough(&y, threshold);
}

/* The algorithm of Myers, 1986, as in similarity/lcs.c: a greedy search over the diagonals that the
 * threshold allows. */
static bool reaches_ratio(const struct sketch *a, const struct sketch *b, double threshold)
{
    double whole = (double)a->whole + b->whole;
    double least = threshold * whole / (1 + threshold) - SLACK;
    long need = (long)least + ((double)(long)least < least);
    long n = a->count, m = b->count, most = n + m - 2 * need;
    if (need < 1 || need > (n < m ? n : m))
        return false;
    long *memory = sp_calloc((size_t)(2 * most + 5), sizeof *memory);
    long *furthest = memory + most + 2;
    bool reached = false;
    for (long d = 0; d <= most && !reached; d++)
        for (long k = -d; k <= d && !reached; k += 2) {
            bool down = k == -d || (k != d && furthest[k - 1] < furthest[k + 1]);
            long x = down ? furthest[k + 1] : furthest[k - 1] + 1, y = x - k;
            while (x < n && y >= 0 && y < m && a->items[x] == b->items[y])
                x++, y++;
            furthest[k] = x;
            reached = x >= n && y >= m;
        }
    sp_free(memory);
    return reached;
}

static bool are_similar(const struct sp_lcs_sets *o, const struct sketch *a, const struct sketch *b)
{
    return reaches_ratio(a, b, o->threshold) && (!o->trusted || is_coherent(a, b, o->threshold));
}

/* ---- stages 2 and 3 ---- */

struct place {
    uint32_t set;
    uint32_t sentences;
    uint32_t page;
};

static int by_set_and_length(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->set != y->set)
        return x->set < y->set ? -1 : 1;
    if (x->sentences != y->sentences)
        return x->sentences < y->sentences ? -1 : 1;
    return x->page < y->page ? -1 : x->page > y->page;
}

struct held {
    uint32_t sentence;
    uint32_t page; /* number in the set */
};

static int by_sentence(const void *a, const void *b)
{
    const struct held *x = a, *y = b;
    if (x->sentence != y->sentence)
        return x->sentence < y->sentence ? -1 : 1;
    return x->page < y->page ? -1 : x->page > y->page;
}

/* Finds the sentences that more than one page of the set has, ascending; returns their number. */
static size_t find_shared(struct sp_signature *const *signatures, const struct place *pages,
                          uint32_t count, uint32_t **ret_shared)
{
    size_t all = 0, n = 0, shared = 0;
    for (uint32_t i = 0; i < count; i++)
        all += pages[i].sentences;
    struct held *held = sp_alloc((all + 1) * sizeof *held);
    uint32_t *found = sp_alloc((all + 1) * sizeof *found);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < pages[i].sentences; k++)
            held[n++] = (struct held){sp_signature_sentences(signatures[pages[i].page])[k], i};
    qsort(held, n, sizeof *held, by_sentence);
    for (size_t i = 1; i < n; i++)
        if (held[i].sentence == held[i - 1].sentence && held[i].page != held[i - 1].page &&
            (shared == 0 || found[shared - 1] != held[i].sentence))
            found[shared++] = held[i].sentence;
    sp_free(held);
    *ret_shared = found;
    return shared;
}

/* Keeps the sentences in `shared`; NULL keeps all. */
static struct sketch sketch_of(const struct sp_signature *s, const uint32_t *shared, size_t count)
{
    struct sketch k = {.whole = s->sentence_count};
    k.items = sp_alloc(((size_t)k.whole + 1) * sizeof *k.items);
    k.places = sp_alloc(((size_t)k.whole + 1) * sizeof *k.places);
    for (uint32_t i = 0; i < k.whole; i++) {
        uint32_t sentence = sp_signature_sentences(s)[i];
        if (shared && !bsearch(&sentence, shared, count, sizeof *shared, sp_by_u32))
            continue;
        k.items[k.count] = sentence;
        k.places[k.count++] = i;
    }
    return k;
}

static void sketch_done(struct sketch *k)
{
    sp_free(k->items);
    sp_free(k->places);
}

static void refine_set(const struct sp_lcs_sets *o, struct sp_signature *const *signatures,
                       const struct place *pages, uint32_t count, uint32_t *ret_set,
                       struct sp_lcs_counts *counts)
{
    uint32_t *shared = NULL;
    size_t shared_count = o->filtered ? find_shared(signatures, pages, count, &shared) : 0;
    struct sketch *sketches = sp_alloc(count * sizeof *sketches);
    bool *assigned = sp_calloc(count, sizeof *assigned);
    for (uint32_t i = 0; i < count; i++) {
        sketches[i] = sketch_of(signatures[pages[i].page], shared, shared_count);
        counts->sentences += sketches[i].whole;
        counts->sentences_left += sketches[i].count;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (assigned[i])
            continue;
        ret_set[pages[i].page] = pages[i].page;
        for (uint32_t k = i + 1; k < count; k++) {
            if (assigned[k])
                continue;
            counts->compared++;
            assigned[k] = are_similar(o, &sketches[i], &sketches[k]);
            if (assigned[k])
                ret_set[pages[k].page] = pages[i].page;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        sketch_done(&sketches[i]);
    sp_free(sketches);
    sp_free(assigned);
    sp_free(shared);
}

void sp_lcs_refine(const struct sp_lcs_sets *o, struct sp_signature *const *signatures,
                   uint32_t count, const uint32_t *perhaps, uint32_t *ret_set,
                   struct sp_lcs_counts *ret_counts)
{
    struct place *pages = sp_alloc(((size_t)count + 1) * sizeof *pages);
    *ret_counts = (struct sp_lcs_counts){0};
    for (uint32_t i = 0; i < count; i++) {
        pages[i] = (struct place){perhaps[i], signatures[i]->sentence_count, i};
        ret_set[i] = i;
    }
    qsort(pages, count, sizeof *pages, by_set_and_length);
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && pages[end].set == pages[first].set; end++)
            continue;
        if (end - first > 1)
            refine_set(o, signatures, pages + first, end - first, ret_set, ret_counts);
    }
    sp_free(pages);
}

enum sp_lcs_parted sp_lcs_parted(const struct sp_lcs_sets *o,
                                 struct sp_signature *const *signatures, const uint32_t *perhaps,
                                 const uint32_t *set, uint32_t a, uint32_t b)
{
    if (set[a] == set[b])
        return SP_LCS_TOGETHER;
    if (perhaps[a] != perhaps[b])
        return SP_LCS_NO_FINGERPRINT;
    struct sketch x = sketch_of(signatures[a], NULL, 0), y = sketch_of(signatures[b], NULL, 0);
    enum sp_lcs_parted why = SP_LCS_ASSIGNED;
    if (!reaches_ratio(&x, &y, o->threshold))
        why = SP_LCS_RATIO;
    else if (o->trusted && !is_coherent(&x, &y, o->threshold))
        why = SP_LCS_INCOHERENT;
    sketch_done(&x);
    sketch_done(&y);
    return why;
}
