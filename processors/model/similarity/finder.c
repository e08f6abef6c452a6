/* See finder.h. If F implies a Jaccard similarity, pages are looked up by how they differ from one
 * of them (differing.h). With capped signatures, of which the differences are not known, the filter
 * is that of join.c; with other methods the keys are those of the candidate rule. */
#include "similarity/finder.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "candidates/candidates.h"
#include "similarity/differing.h"
#include "similarity/internal.h"
#include "similarity/prefix.h"

enum { NONE = UINT32_MAX };

enum filter { BY_DIFFERENCES, BY_PREFIX, BY_KEYS };

struct added {
    uint32_t met_by; /* the search that found it last */
    uint32_t next;   /* added page with the same set, or NONE */
};

struct sp_finder {
    struct sp_similarity_options options;
    struct sp_signature *const *signatures;
    size_t count;
    enum filter filter;
    struct sp_candidate_rule rule;
    struct sp_frequencies frequencies; /* of the shingles of all signatures */
    struct sp_differing *differing;
    uint32_t *sets;     /* of each signature: its number in `differing` */
    uint32_t *last;     /* of each set: the last added page that has it, or NONE */
    uint32_t set_count; /* of those */
    struct sp_prefix_index index;
    struct added *added;
    uint32_t added_count;
    uint32_t added_cap;
    uint64_t *keys; /* of one page, in the low halves */
    size_t key_cap;
    uint32_t searches;
    uint32_t *found;
    uint32_t found_count;
    uint32_t found_cap;
    uint64_t read;
};

struct sp_finder *sp_finder_new(const struct sp_similarity_options *o,
                                struct sp_signature *const *signatures, size_t count)
{
    struct sp_finder *l = sp_calloc(1, sizeof *l);
    l->options = *o;
    l->signatures = signatures;
    l->count = count;
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
    sp_differing_free(l->differing);
    sp_prefix_index_done(&l->index);
    sp_free(l->sets);
    sp_free(l->last);
    sp_free(l->added);
    sp_free(l->keys);
    sp_free(l->found);
    sp_free(l);
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

static struct sp_differing_set set_of(const struct sp_signature *s)
{
    return (struct sp_differing_set){s->hashes, s->shingle_count};
}

/* An index of the different signatures among the pages. */
static enum sp_err index_differences(struct sp_finder *l, const uint32_t *pages, size_t count)
{
    struct sp_differing_set reference = set_of(choose_reference(l, pages, count));
    struct sp_differing_set *sets = sp_alloc((count + 1) * sizeof *sets);
    if (!l->sets)
        l->sets = sp_alloc((l->count + 1) * sizeof *l->sets);
    for (size_t i = 0; i < count; i++)
        l->sets[pages[i]] = NONE;
    l->set_count = 0;
    for (size_t i = 0; i < count; i++)
        if (l->sets[pages[i]] == NONE) {
            l->sets[pages[i]] = l->set_count;
            sets[l->set_count++] = set_of(l->signatures[pages[i]]);
        }
    l->last = sp_realloc(l->last, (l->set_count + 1ull) * sizeof *l->last);
    memset(l->last, 0xff, l->set_count * sizeof *l->last);
    struct sp_differing_most most =
        sp_differing_jaccard(l->options.threshold - SP_SIMILARITY_SLACK);
    enum sp_err err = sp_differing_new(most, &reference, sets, l->set_count, &l->differing);
    sp_free(sets);
    return err;
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
    sp_differing_free(l->differing);
    l->differing = NULL;
    l->added_count = 0;
    l->searches = 0;
    if (l->filter != BY_KEYS)
        l->filter = any_capped(l, pages, count) || count == 0 ? BY_PREFIX : BY_DIFFERENCES;
    if (l->filter == BY_DIFFERENCES)
        return index_differences(l, pages, count);
    for (size_t i = 0; i < count; i++) {
        uint32_t size = l->signatures[pages[i]]->shingle_count;
        keys +=
            l->filter == BY_KEYS ? l->rule.sketch : sp_prefix_length(l->options.threshold, size);
    }
    if (keys >= UINT32_MAX / 2)
        return SP_TOO_LARGE;
    sp_prefix_index_done(&l->index);
    sp_prefix_index_init(&l->index, keys);
    return SP_OK;
}

/* ---- adding and finding ---- */

/* Writes the page's keys to l->keys and returns their number. */
static uint32_t keys_of(struct sp_finder *l, uint32_t page)
{
    const struct sp_signature *s = l->signatures[page];
    uint32_t scratch[SP_SKETCH_MAX], count;
    if (l->filter == BY_PREFIX) {
        count = (uint32_t)sp_prefix_length(l->options.threshold, s->shingle_count);
        sp_grow(&l->keys, &l->key_cap, s->shingle_count + 1ull);
        sp_frequencies_rarest(&l->frequencies, s, count, l->keys);
        return count;
    }
    const uint32_t *keys = sp_candidate_keys(&l->rule, s, scratch, &count);
    sp_grow(&l->keys, &l->key_cap, count + 1ull);
    for (uint32_t i = 0; i < count; i++)
        l->keys[i] = keys[i];
    return count;
}

void sp_finder_add(struct sp_finder *l, uint32_t page)
{
    sp_grow(&l->added, &l->added_cap, l->added_count + 1);
    l->added[l->added_count] = (struct added){.next = NONE};
    if (l->filter == BY_DIFFERENCES) {
        uint32_t *last = &l->last[l->sets[page]];
        sp_differing_add(l->differing, l->sets[page]);
        l->added[l->added_count].next = *last;
        *last = l->added_count;
    } else {
        uint32_t count = keys_of(l, page);
        for (uint32_t i = 0; i < count; i++)
            sp_prefix_index_add(&l->index, (uint32_t)l->keys[i], l->added_count);
    }
    l->added_count++;
}

static void meet(struct sp_finder *l, uint32_t number)
{
    if (l->added[number].met_by == l->searches)
        return;
    l->added[number].met_by = l->searches;
    sp_grow(&l->found, &l->found_cap, l->found_count + 1);
    l->found[l->found_count++] = number;
}

static void meet_set(void *arg, uint32_t set)
{
    struct sp_finder *l = arg;
    for (uint32_t number = l->last[set]; number != NONE; number = l->added[number].next)
        meet(l, number);
}

size_t sp_finder_find(struct sp_finder *l, uint32_t page, const uint32_t **ret_added)
{
    l->found_count = 0;
    l->searches++;
    if (l->filter == BY_DIFFERENCES) {
        uint32_t set = l->sets[page];
        meet_set(l, set);
        l->read += sp_differing_each(l->differing, set, meet_set, l);
    } else {
        uint32_t count = keys_of(l, page);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t at = sp_prefix_index_find(&l->index, (uint32_t)l->keys[i]);
            for (; at; at = l->index.postings[at - 1].next, l->read++)
                meet(l, l->index.postings[at - 1].page);
        }
    }
    if (l->found_count > 1)
        qsort(l->found, l->found_count, sizeof *l->found, sp_by_u32);
    *ret_added = l->found;
    return l->found_count;
}

uint64_t sp_finder_read(const struct sp_finder *l)
{
    return l->read;
}
