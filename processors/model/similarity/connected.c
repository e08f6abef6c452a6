/* See connected.h. One page stands for each content. If F implies a Jaccard similarity, its keys
 * are its prefix, as in join.c; else those of the candidate rule.
 *
 * In step 1 pages enter the index in order of size. Each is compared with a few of those that
 * entered before and share one of its rarest keys, and with the hubs of their components. This
 * connects most of what is connected.
 *
 * In step 2 each page looks up its keys again. Each posting knows the next one in its list whose
 * page was in another component when it was last read, so what is connected with the page is passed
 * over.
 *
 * A key has a place, which bounds what a pair can share that meets by it (positional.h). */
#include "similarity/connected.h"

#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/sets.h"
#include "candidates/candidates.h"
#include "similarity/classes.h"
#include "similarity/positional.h"
#include "similarity/prefix.h"

/* Of step 1: comparisons of a page, and postings of each of its keys that it looks at. */
enum { TRIES = 8, BACK = 8 };

struct posting {
    uint32_t key;
    uint32_t page;  /* class */
    uint32_t place; /* of the key among those of the page, the rarest first */
    uint32_t next;  /* posting of another component */
};

struct work {
    const struct sp_similarity_options *options;
    double threshold; /* less the slack */
    bool sized;       /* F implies a Jaccard similarity */
    struct sp_classes classes;
    uint32_t *starts; /* of the keys of each class */
    uint32_t *keys;
    uint32_t *directory; /* starts of the lists, of several keys each; by class */
    uint32_t *ends;      /* of what is filled */
    unsigned shift;
    struct posting *postings;
    uint32_t *set;    /* union-find over classes */
    uint64_t *common; /* of each class: how common its keys are */
    uint32_t *hubs;   /* of each root: the class of its component whose keys are most common */
    uint32_t *met_by; /* class + 1 */
    uint32_t first_capped;
    struct sp_connected_stats stats;
};

static uint32_t size_of(const struct work *w, uint32_t class)
{
    return sp_class_signature(&w->classes, class)->shingle_count;
}

static bool compare(struct work *w, uint32_t x, uint32_t y)
{
    w->met_by[y] = x + 1;
    w->stats.compared++;
    if (!sp_similar(w->options, sp_class_signature(&w->classes, x),
                    sp_class_signature(&w->classes, y), NULL))
        return false;
    uint32_t a = sp_sets_root(w->set, x), b = sp_sets_root(w->set, y);
    uint32_t first = sp_sets_unite(w->set, a, b), other = first == a ? b : a;
    if (w->common[w->hubs[other]] > w->common[w->hubs[first]])
        w->hubs[first] = w->hubs[other];
    return true;
}

/* Compares x with y, and if these are not similar, with the hub of y's component: of near copies
 * that is the original, which they may all resemble while few of them resemble one another. */
static void try_component(struct work *w, uint32_t x, uint32_t y)
{
    uint32_t hub = w->hubs[sp_sets_root(w->set, y)];
    if (!compare(w, x, y) && w->sized && hub != x && w->met_by[hub] != x + 1)
        compare(w, x, hub);
}

/* ---- keys ---- */

static bool is_capped(const struct sp_signature *s)
{
    return s->shingle_count < s->shingle_total;
}

static enum sp_err make_prefixes(struct work *w, struct sp_signature *const *signatures)
{
    struct sp_frequencies frequencies = {0};
    uint64_t total = 0;
    uint32_t largest = 0;
    for (uint32_t c = 0; c < w->classes.count; c++) {
        uint32_t n = size_of(w, c);
        w->starts[c] = (uint32_t)total;
        total += sp_prefix_length(w->options->threshold, n);
        largest = n > largest ? n : largest;
        if (total >= UINT32_MAX)
            return SP_TOO_LARGE;
    }
    w->starts[w->classes.count] = (uint32_t)total;
    w->keys = sp_alloc((total + 1) * sizeof *w->keys);
    uint64_t *ranks = sp_alloc((largest + 1ull) * sizeof *ranks);
    sp_frequencies_count(&frequencies, signatures, w->classes.page_count);
    for (uint32_t c = 0; c < w->classes.count; c++) {
        const struct sp_signature *s = sp_class_signature(&w->classes, c);
        uint32_t *keys = w->keys + w->starts[c], count = w->starts[c + 1] - w->starts[c];
        if (is_capped(s) && c < w->first_capped)
            w->first_capped = c;
        sp_frequencies_rarest(&frequencies, s, count, ranks);
        qsort(ranks, count, sizeof *ranks, sp_by_u64);
        for (uint32_t k = 0; k < count; k++) {
            keys[k] = (uint32_t)ranks[k];
            w->common[c] += ranks[k] >> 32;
        }
    }
    sp_frequencies_done(&frequencies);
    sp_free(ranks);
    return SP_OK;
}

static enum sp_err make_candidate_keys(struct work *w)
{
    struct sp_candidate_rule rule = sp_candidate_rule(w->options->method, w->options->threshold);
    uint32_t scratch[SP_SKETCH_MAX], end = 0;
    if (w->classes.count * (uint64_t)rule.sketch >= UINT32_MAX)
        return SP_TOO_LARGE;
    w->keys = sp_alloc((w->classes.count * rule.sketch + 1) * sizeof *w->keys);
    for (uint32_t c = 0; c < w->classes.count; c++) {
        uint32_t count;
        const uint32_t *keys =
            sp_candidate_keys(&rule, sp_class_signature(&w->classes, c), scratch, &count);
        w->starts[c] = end;
        memcpy(w->keys + end, keys, count * sizeof *keys);
        end += count;
    }
    w->starts[w->classes.count] = end;
    return SP_OK;
}

/* ---- the index, and step 1 ---- */

static uint32_t list_of(const struct work *w, uint32_t key)
{
    /* Of long pages only the smallest hashes are known. */
    return sp_hash_place(key, w->shift);
}

/* How many of a class's keys are in the index. Those that look it up are no smaller. */
static uint32_t posted(const struct work *w, uint32_t class)
{
    if (!w->sized || w->first_capped != UINT32_MAX)
        return w->starts[class + 1] - w->starts[class];
    return (uint32_t)sp_prefix_indexed(w->options->threshold, size_of(w, class));
}

static void make_directory(struct work *w)
{
    uint32_t total = 0;
    for (uint32_t c = 0; c < w->classes.count; c++)
        total += posted(w, c);
    unsigned bits = 4;
    while (bits < 31 && (1u << bits) < total)
        bits++;
    uint32_t lists = 1u << bits;
    w->shift = 32 - bits;
    w->directory = sp_calloc(lists + 1ull, sizeof *w->directory);
    for (uint32_t c = 0; c < w->classes.count; c++)
        for (uint32_t k = 0; k < posted(w, c); k++)
            w->directory[list_of(w, w->keys[w->starts[c] + k]) + 1]++;
    for (uint32_t i = 0; i < lists; i++)
        w->directory[i + 1] += w->directory[i];
    w->ends = sp_memdup(w->directory, lists * sizeof *w->ends);
    w->postings = sp_alloc((total + 1ull) * sizeof *w->postings);
}

/* Compares the page with a few of those at the end of the key's list. */
static void try_list(struct work *w, uint32_t class, uint32_t key, uint32_t *tries)
{
    uint32_t list = list_of(w, key), back = BACK;
    for (uint32_t i = w->ends[list]; i-- > w->directory[list] && back > 0 && *tries > 0; back--) {
        const struct posting *p = &w->postings[i];
        w->stats.read++;
        if (p->key != key || p->page == class || w->met_by[p->page] == class + 1)
            continue;
        if (sp_sets_root(w->set, p->page) == sp_sets_root(w->set, class))
            return;
        try_component(w, class, p->page);
        --*tries;
    }
}

static void enter(struct work *w, uint32_t class)
{
    uint32_t tries = TRIES, first = w->starts[class], end = w->starts[class + 1];
    for (uint32_t k = first; k < end; k++)
        try_list(w, class, w->keys[k], &tries);
    for (uint32_t k = first; k < first + posted(w, class); k++)
        w->postings[w->ends[list_of(w, w->keys[k])]++] =
            (struct posting){w->keys[k], class, k - first, 0};
}

static void link_lists(struct work *w)
{
    uint32_t lists = (uint32_t)(UINT64_C(1) << (32 - w->shift));
    for (uint32_t list = 0; list < lists; list++)
        for (uint32_t i = w->ends[list], next = i; i-- > w->directory[list];) {
            struct posting *p = &w->postings[i];
            if (i + 1 < w->ends[list] &&
                sp_sets_root(w->set, p->page) != sp_sets_root(w->set, p[1].page))
                next = i + 1;
            p->next = next;
        }
}

/* ---- step 2 ---- */

/* The least number of kept shingles that similar pages share. */
static double needed(const struct work *w, uint32_t x, uint32_t y)
{
    uint32_t n = size_of(w, x), m = size_of(w, y);
    if (is_capped(sp_class_signature(&w->classes, x)) ||
        is_capped(sp_class_signature(&w->classes, y)))
        return w->threshold * (n > m ? n : m) - 1e-6;
    return w->threshold / (1 + w->threshold) * ((double)n + m) - 1e-6;
}

/* Whether the key at these places can be the first one that both share. */
static bool may_begin(const struct work *w, uint32_t x, uint32_t x_place, uint32_t y,
                      uint32_t y_place)
{
    if (!w->sized)
        return true;
    double need = needed(w, x, y);
    return size_of(w, x) - x_place >= need && size_of(w, y) - y_place >= need;
}

/* Returns the first class from `lo` on, and before `hi`, with at least that many shingles. */
static uint32_t first_of_size(const struct work *w, double size, uint32_t lo, uint32_t hi)
{
    while (lo < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (size_of(w, middle) < size)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* The end of the smaller classes with which x may share a key at that place first. */
static uint32_t end_at(const struct work *w, uint32_t x, uint32_t place, uint32_t lo)
{
    double end = sp_positional_size_end(w->threshold, size_of(w, x), place);
    if (!w->sized || w->first_capped <= x || end > size_of(w, x))
        return x;
    return first_of_size(w, end, lo, x);
}

static uint32_t first_posting(const struct work *w, uint32_t list, uint32_t class)
{
    uint32_t lo = w->directory[list], hi = w->ends[list];
    while (lo < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (w->postings[middle].page < class)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* Where the list goes on behind the pages of the posting's component. It may have grown since the
 * list was linked, so the way is halved each time (as in union-find). */
static uint32_t next_after(struct work *w, uint32_t list, struct posting *p)
{
    if (p->next < w->ends[list] &&
        sp_sets_root(w->set, w->postings[p->next].page) == sp_sets_root(w->set, p->page))
        p->next = w->postings[p->next].next;
    return p->next;
}

static void look_up(struct work *w, uint32_t x)
{
    uint32_t lo = w->sized ? first_of_size(w, w->threshold * size_of(w, x) - 1e-6, 0, x) : 0;
    for (uint32_t k = w->starts[x]; k < w->starts[x + 1]; k++) {
        uint32_t key = w->keys[k], list = list_of(w, key), place = k - w->starts[x];
        uint32_t end = end_at(w, x, place, lo);
        uint32_t i = lo < end ? first_posting(w, list, lo) : w->ends[list];
        while (i < w->ends[list] && w->postings[i].page < end) {
            struct posting *p = &w->postings[i];
            bool together = sp_sets_root(w->set, p->page) == sp_sets_root(w->set, x);
            w->stats.read++;
            i = together ? next_after(w, list, p) : i + 1;
            if (!together && p->key == key && w->met_by[p->page] != x + 1 &&
                may_begin(w, x, place, p->page, p->place))
                try_component(w, x, p->page);
        }
    }
}

/* ---- all of it ---- */

static enum sp_err connect_classes(struct work *w, struct sp_signature *const *signatures)
{
    uint32_t count = (uint32_t)w->classes.count;
    w->starts = sp_alloc((count + 1ull) * sizeof *w->starts);
    w->common = sp_calloc(count + 1ull, sizeof *w->common);
    enum sp_err err = w->sized ? make_prefixes(w, signatures) : make_candidate_keys(w);
    if (err != SP_OK)
        return err;
    w->set = sp_alloc((count + 1ull) * sizeof *w->set);
    w->met_by = sp_calloc(count + 1ull, sizeof *w->met_by);
    w->hubs = sp_alloc((count + 1ull) * sizeof *w->hubs);
    sp_sets_init(w->set, count);
    sp_sets_init(w->hubs, count);
    make_directory(w);
    for (uint32_t c = 0; c < count; c++)
        enter(w, c);
    link_lists(w);
    for (uint32_t c = 0; c < count; c++)
        look_up(w, c);
    return SP_OK;
}

static void tell_pages(struct work *w, uint32_t *ret_first)
{
    const struct sp_classes *classes = &w->classes;
    uint32_t *first = sp_alloc((classes->count + 1) * sizeof *first);
    memset(first, 0xff, classes->count * sizeof *first);
    for (uint32_t c = 0; c < classes->count; c++) {
        uint32_t *of = &first[sp_sets_root(w->set, c)];
        size_t number = classes->sorted[classes->firsts[c]].number;
        *of = number < *of ? (uint32_t)number : *of;
    }
    for (uint32_t c = 0; c < classes->count; c++) {
        const struct sp_signature *s = sp_class_signature(classes, c);
        size_t start = classes->firsts[c], end = sp_class_end(classes, start);
        bool similar = sp_similar(w->options, s, s, NULL);
        for (size_t i = start; i < end; i++)
            ret_first[classes->sorted[i].number] = similar || i == start
                                                       ? first[sp_sets_root(w->set, c)]
                                                       : (uint32_t)classes->sorted[i].number;
    }
    sp_free(first);
}

enum sp_err sp_connected(const struct sp_similarity_options *o,
                         struct sp_signature *const *signatures, size_t count, uint32_t *ret_first,
                         struct sp_connected_stats *stats)
{
    if (count >= UINT32_MAX)
        return SP_TOO_LARGE;
    struct work w = {.options = o,
                     .threshold = o->threshold - 1e-9,
                     .sized = sp_method_info(o->method)->jaccard,
                     .first_capped = UINT32_MAX};
    sp_classes_make(signatures, count, &w.classes);
    enum sp_err err = connect_classes(&w, signatures);
    if (err == SP_OK)
        tell_pages(&w, ret_first);
    if (stats) {
        stats->compared += w.stats.compared;
        stats->read += w.stats.read;
    }
    sp_classes_done(&w.classes);
    sp_free(w.starts);
    sp_free(w.keys);
    sp_free(w.directory);
    sp_free(w.ends);
    sp_free(w.postings);
    sp_free(w.set);
    sp_free(w.common);
    sp_free(w.hubs);
    sp_free(w.met_by);
    return err;
}
