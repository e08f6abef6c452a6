/* See finder.h. If F implies a Jaccard similarity, pages are looked up by how they differ from one
 * of them, the reference r. Let D(x) be the shingles that only one of x and r has. Two similar
 * pages x and y differ in at most H shingles, so do D(x) and D(y). So either both are near r,
 * together not further than H; or they share at least (|D(x)| + |D(y)| - H) / 2 shingles of D, and
 * at least one of the H + 1 rarest of each (a prefix filter, as in join.c). Pages that have most of
 * a text in common do not meet by that text, but by what they add to it and lack of it.
 *
 * With capped signatures, of which the differences are not known, the filter is that of join.c;
 * with other methods the keys are those of the candidate rule. */
#include "similarity/finder.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "candidates/candidates.h"
#include "similarity/prefix.h"

enum { NONE = UINT32_MAX };

enum filter { BY_DIFFERENCES, BY_PREFIX, BY_KEYS };

/* A page's keys, in l->keys. */
struct keyed {
    uint32_t size; /* its shingles */
    uint32_t all;  /* all keys that it has */
    uint32_t used; /* of these */
};

struct added {
    struct keyed keyed;
    uint32_t met_by; /* the search that found it last */
    uint32_t hits;   /* in that search */
    uint32_t next;   /* added page that is as far from the reference */
};

struct sp_finder {
    struct sp_similarity_options options;
    double threshold; /* less the slack */
    struct sp_signature *const *signatures;
    enum filter filter;
    struct sp_candidate_rule rule;
    struct sp_frequencies frequencies; /* of the shingles of all signatures */
    struct sp_frequencies differing;   /* of the shingles of all D */
    const struct sp_signature *reference;
    struct sp_prefix_index index;
    struct added *added;
    uint32_t added_count;
    uint32_t added_cap;
    uint32_t *near; /* added pages by their distance from the reference, or NONE */
    uint32_t near_count;
    uint32_t near_cap;
    uint64_t *keys; /* of one page, in the low halves */
    size_t key_cap;
    uint32_t *differences; /* of one page */
    size_t difference_cap;
    uint32_t searches;
    uint32_t *found;
    uint32_t found_cap;
};

struct sp_finder *sp_finder_new(const struct sp_similarity_options *o,
                                struct sp_signature *const *signatures, size_t count)
{
    struct sp_finder *l = sp_calloc(1, sizeof *l);
    l->options = *o;
    l->threshold = o->threshold - 1e-9;
    l->signatures = signatures;
    l->filter = sp_method_info(o->method)->jaccard ? BY_DIFFERENCES : BY_KEYS;
    if (l->filter == BY_KEYS)
        l->rule = sp_candidate_rule(o->method, o->threshold);
    else
        sp_frequencies_count(&l->frequencies, signatures, count);
    return l;
}

void sp_finder_free(struct sp_finder *l)
{
    if (!l)
        return;
    sp_frequencies_done(&l->frequencies);
    sp_frequencies_done(&l->differing);
    sp_prefix_index_done(&l->index);
    sp_free(l->added);
    sp_free(l->near);
    sp_free(l->keys);
    sp_free(l->differences);
    sp_free(l->found);
    sp_free(l);
}

/* ---- keys ---- */

/* The most shingles in which a page of that size differs from a similar one. */
static uint32_t most_different(const struct sp_finder *l, uint32_t size)
{
    return (uint32_t)((1 - l->threshold) / l->threshold * size + 1e-6);
}

/* Writes D of the page to l->differences. */
static uint32_t differ(struct sp_finder *l, const struct sp_signature *x)
{
    const struct sp_signature *r = l->reference;
    uint32_t count = 0, i = 0, k = 0;
    sp_grow(&l->differences, &l->difference_cap, x->shingle_count + r->shingle_count + 1ull);
    while (i < x->shingle_count || k < r->shingle_count) {
        bool mine = k == r->shingle_count || (i < x->shingle_count && x->hashes[i] <= r->hashes[k]);
        bool both = mine && k < r->shingle_count && x->hashes[i] == r->hashes[k];
        l->differences[count] = mine ? x->hashes[i] : r->hashes[k];
        count += !both;
        i += mine;
        k += !mine || both;
    }
    return count;
}

static struct keyed keys_of(struct sp_finder *l, uint32_t page)
{
    const struct sp_signature *s = l->signatures[page];
    struct keyed keyed = {.size = s->shingle_count};
    if (l->filter == BY_KEYS) {
        uint32_t scratch[SP_SKETCH_MAX];
        const uint32_t *keys = sp_candidate_keys(&l->rule, s, scratch, &keyed.all);
        sp_grow(&l->keys, &l->key_cap, keyed.all + 1ull);
        for (uint32_t i = 0; i < keyed.all; i++)
            l->keys[i] = keys[i];
        keyed.used = keyed.all;
    } else if (l->filter == BY_PREFIX) {
        keyed.all = s->shingle_count;
        keyed.used = (uint32_t)sp_prefix_length(l->options.threshold, keyed.all);
        sp_grow(&l->keys, &l->key_cap, keyed.all + 1ull);
        sp_frequencies_rarest(&l->frequencies, s, keyed.used, l->keys);
    } else {
        uint32_t most = most_different(l, s->shingle_count) + 1;
        keyed.all = differ(l, s);
        keyed.used = keyed.all < most ? keyed.all : most;
        sp_grow(&l->keys, &l->key_cap, keyed.all + 1ull);
        sp_frequencies_rarest_of(&l->differing, l->differences, keyed.all, keyed.used, l->keys);
    }
    return keyed;
}

/* ---- the pages to come ---- */

/* The page whose rarest shingles are the most common: of near copies the original. */
static const struct sp_signature *choose_reference(struct sp_finder *l, const uint32_t *pages,
                                                   size_t count)
{
    const struct sp_signature *best = NULL;
    double most = -1;
    for (size_t i = 0; i < count; i++) {
        const struct sp_signature *s = l->signatures[pages[i]];
        size_t length = sp_prefix_length(l->options.threshold, s->shingle_count);
        double sum = 0;
        sp_grow(&l->keys, &l->key_cap, s->shingle_count + 1ull);
        sp_frequencies_rarest(&l->frequencies, s, length, l->keys);
        for (size_t k = 0; k < length; k++)
            sum += (double)(l->keys[k] >> 32) / (double)length;
        if (sum > most) {
            most = sum;
            best = s;
        }
    }
    return best;
}

static void count_differences(struct sp_finder *l, const uint32_t *pages, size_t count)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += most_different(l, l->signatures[pages[i]]->shingle_count) * 2ull;
    sp_frequencies_done(&l->differing);
    sp_frequencies_begin(&l->differing, total);
    for (size_t i = 0; i < count; i++) {
        uint32_t differing = differ(l, l->signatures[pages[i]]);
        sp_frequencies_add(&l->differing, l->differences, differing);
    }
}

static bool any_capped(const struct sp_finder *l, const uint32_t *pages, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (l->signatures[pages[i]]->shingle_count < l->signatures[pages[i]]->shingle_total)
            return true;
    return false;
}

enum sp_err sp_finder_begin(struct sp_finder *l, const uint32_t *pages, size_t count)
{
    uint64_t keys = 0;
    if (l->filter != BY_KEYS)
        l->filter = any_capped(l, pages, count) || count == 0 ? BY_PREFIX : BY_DIFFERENCES;
    for (size_t i = 0; i < count; i++) {
        uint32_t size = l->signatures[pages[i]]->shingle_count;
        keys += l->filter == BY_KEYS     ? l->rule.sketch
                : l->filter == BY_PREFIX ? sp_prefix_length(l->options.threshold, size)
                                         : most_different(l, size) + 1ull;
    }
    if (keys >= UINT32_MAX / 2)
        return SP_TOO_LARGE;
    if (l->filter == BY_DIFFERENCES) {
        l->reference = choose_reference(l, pages, count);
        count_differences(l, pages, count);
    }
    sp_prefix_index_done(&l->index);
    sp_prefix_index_init(&l->index, keys);
    l->added_count = 0;
    l->near_count = 0;
    l->searches = 0;
    return SP_OK;
}

/* ---- adding and finding ---- */

static void add_near(struct sp_finder *l, uint32_t distance)
{
    sp_grow(&l->near, &l->near_cap, distance + 1ull);
    while (l->near_count <= distance)
        l->near[l->near_count++] = NONE;
    l->added[l->added_count].next = l->near[distance];
    l->near[distance] = l->added_count;
}

void sp_finder_add(struct sp_finder *l, uint32_t page)
{
    struct keyed keyed = keys_of(l, page);
    for (uint32_t i = 0; i < keyed.used; i++)
        sp_prefix_index_add(&l->index, (uint32_t)l->keys[i], l->added_count);
    sp_grow(&l->added, &l->added_cap, l->added_count + 1);
    l->added[l->added_count] = (struct added){.keyed = keyed, .next = NONE};
    if (l->filter == BY_DIFFERENCES && keyed.all <= most_different(l, keyed.size))
        add_near(l, keyed.all);
    l->added_count++;
}

static uint32_t meet(struct sp_finder *l, uint32_t number, uint32_t found)
{
    struct added *a = &l->added[number];
    if (a->met_by == l->searches)
        return found;
    a->met_by = l->searches;
    a->hits = 0;
    sp_grow(&l->found, &l->found_cap, found + 1);
    l->found[found] = number;
    return found + 1;
}

/* Whether the keys that both pages have, those that were not looked up included, may be as many as
 * similar pages have. */
static bool may_resemble(const struct sp_finder *l, const struct keyed *x, const struct added *y)
{
    if (l->filter != BY_DIFFERENCES)
        return true;
    double sizes = (double)x->size + y->keyed.size, all = (double)x->all + y->keyed.all;
    double differ = sizes - 2 * ceil(l->threshold / (1 + l->threshold) * sizes - 1e-6);
    double shared = (double)y->hits + (x->all - x->used) + (y->keyed.all - y->keyed.used);
    return 2 * shared >= all - differ;
}

size_t sp_finder_find(struct sp_finder *l, uint32_t page, const uint32_t **ret_added)
{
    struct keyed x = keys_of(l, page);
    uint32_t met = 0, found = 0, most = most_different(l, x.size);
    l->searches++;
    for (uint32_t i = 0; i < x.used; i++) {
        uint32_t at = sp_prefix_index_find(&l->index, (uint32_t)l->keys[i]);
        for (; at; at = l->index.postings[at - 1].next) {
            uint32_t number = l->index.postings[at - 1].page;
            met = meet(l, number, met);
            l->added[number].hits++;
        }
    }
    for (uint32_t d = 0; d < l->near_count && x.all + d <= most; d++)
        for (uint32_t number = l->near[d]; number != NONE; number = l->added[number].next)
            met = meet(l, number, met);
    for (uint32_t i = 0; i < met; i++)
        if (may_resemble(l, &x, &l->added[l->found[i]]))
            l->found[found++] = l->found[i];
    if (found > 1)
        qsort(l->found, found, sizeof *l->found, sp_by_u32);
    *ret_added = l->found;
    return found;
}
