/* See pairs.h. */
#include "cover/pairs.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/parallel.h"
#include "cover/crowds.h"
#include "cover/lists.h"
#include "cover/need.h"
#include "cover/nth.h"
#include "cover/sizes.h"
#include "similarity/intersect.h"
#include "similarity/parity.h"
#include "similarity/positional.h"

enum {
    GRAIN = 256, /* units a thread takes at a time */
    AHEAD = 16   /* look-ups between the prefetch of a cache line and its use */
};

/* Scratch memory of a thread. */
struct hand {
    uint32_t *keys;
    uint64_t *ranks;
    size_t key_cap;
    size_t rank_cap;
    uint32_t *met;        /* for each unit of the block: the last probe of the round that found it,
                           * plus 1 */
    uint32_t *candidates; /* of the current probe */
    size_t candidate_count;
    size_t candidate_cap;
    uint64_t postings;
    uint64_t counted;
    uint64_t pairs;
};

struct sp_pairs {
    struct sp_pairs_options options;
    const struct sp_unit *units;
    size_t count;
    const uint32_t *sets;
    unsigned indexed; /* the side whose shingles are in the index */
    bool whole;       /* the index has all units of its side, and is kept for the next round */
    uint64_t blocks;
    uint32_t rounds;
    struct sp_common common;
    uint64_t *last[2]; /* for each unit: rank of the last shingle of its prefix on that side */
    uint64_t (*patterns)[SP_PARITY_WIDE]; /* of each unit (similarity/parity.h) */
    uint32_t *posting_counts;
    uint32_t *commonness; /* of each unit */
    struct sp_crowds crowds;
    struct sp_sizes sizes; /* with a least Jaccard similarity, or crowds */
    /* The current block of units [from, to): */
    size_t from, to;
    struct sp_lists index; /* with sizes: units by their places in that order */
    atomic_uint_fast64_t done;
    uint64_t total;
    struct hand hands[SP_PARALLEL_THREADS];
};

static void reserve(struct hand *hand, size_t size)
{
    sp_grow(&hand->keys, &hand->key_cap, size);
    sp_grow(&hand->ranks, &hand->rank_cap, size);
}

static void note_done(struct sp_pairs *f, unsigned thread, uint64_t work)
{
    uint64_t done = atomic_fetch_add(&f->done, work) + work;
    if (thread == 0 && f->options.progress)
        f->options.progress(f->options.arg, done < f->total ? done : f->total, f->total);
}

/* ---- how common each shingle is ---- */

static void count_step(void *arg, unsigned thread, size_t from, size_t to)
{
    struct sp_pairs *f = arg;
    struct hand *hand = &f->hands[thread];
    uint64_t work = 0;
    for (size_t i = from; i < to; i++) {
        const struct sp_unit *u = &f->units[i];
        if (!sp_unit_takes_part(u))
            continue;
        reserve(hand, u->size);
        sp_common_count(&f->common, sp_unit_keys(u, f->sets, hand->keys), u->size);
        work += u->size;
    }
    note_done(f, thread, work);
}

/* ---- prefixes ---- */

static void prefix_step(void *arg, unsigned thread, size_t from, size_t to)
{
    struct sp_pairs *f = arg;
    struct hand *hand = &f->hands[thread];
    uint64_t work = 0;
    for (size_t i = from; i < to; i++) {
        const struct sp_unit *u = &f->units[i];
        f->posting_counts[i] = 0;
        if (!sp_unit_takes_part(u))
            continue;
        work += u->size;
        sp_parity_of_shingles(f->sets + u->at, u->size, SP_PARITY_WIDE, f->patterns[i]);
        reserve(hand, u->size);
        const uint32_t *keys = sp_unit_keys(u, f->sets, hand->keys);
        sp_common_prefetch(&f->common, keys, u->size);
        for (uint32_t k = 0; k < u->size; k++)
            hand->ranks[k] = sp_common_rank(&f->common, keys[k]);
        for (unsigned side = 0; side < 2; side++) {
            uint32_t need = sp_needed_of(f->options.share[side], u->size);
            if (f->last[side])
                f->last[side][i] =
                    need <= u->size ? sp_nth(hand->ranks, u->size, u->size - need) : 0;
        }
        f->commonness[i] = sp_crowds_commonness(hand->ranks, u->size, f->last[f->indexed][i]);
        for (uint32_t k = 0; u->role[f->indexed] && k < u->size; k++)
            f->posting_counts[i] +=
                hand->ranks[k] <= f->last[f->indexed][i] && hand->ranks[k] >> 32 > 1;
    }
    note_done(f, thread, work);
}

/* ---- the index of a block ---- */

/* Whether the unit has postings in this round. */
static bool is_posted(const struct sp_pairs *f, size_t unit)
{
    return f->posting_counts[unit] > 0 && (f->indexed == 0 || f->units[unit].asked);
}

/* Counts the postings of the units, or, with `put`, writes them. */
static void index_units(struct sp_pairs *f, unsigned thread, size_t from, size_t to, bool put)
{
    struct hand *hand = &f->hands[thread];
    for (size_t i = f->from + from; i < f->from + to; i++) {
        const struct sp_unit *u = &f->units[i];
        if (!is_posted(f, i))
            continue;
        reserve(hand, u->size);
        const uint32_t *keys = sp_unit_keys(u, f->sets, hand->keys);
        sp_common_prefetch(&f->common, keys, u->size);
        for (uint32_t k = 0; k < u->size; k++) {
            uint64_t rank = sp_common_rank(&f->common, keys[k]);
            if (rank > f->last[f->indexed][i] || rank >> 32 <= 1)
                continue;
            if (put)
                sp_lists_put(&f->index, keys[k],
                             f->sizes.places ? f->sizes.places[i] : (uint32_t)i);
            else
                sp_lists_count(&f->index, keys[k]);
        }
        bool again = f->indexed == 0 && f->rounds > 0;
        hand->postings += put && !again ? f->posting_counts[i] : 0;
    }
}

static void index_count_step(void *arg, unsigned thread, size_t from, size_t to)
{
    index_units(arg, thread, from, to, false);
}

static void index_put_step(void *arg, unsigned thread, size_t from, size_t to)
{
    index_units(arg, thread, from, to, true);
}

static void make_index(struct sp_pairs *f, uint64_t postings)
{
    sp_lists_open(&f->index, postings);
    sp_parallel(f->options.threads, f->to - f->from, GRAIN, index_count_step, f);
    sp_lists_settle(&f->index);
    sp_parallel(f->options.threads, f->to - f->from, GRAIN, index_put_step, f);
    if (f->sizes.places)
        sp_lists_sort(&f->index, f->options.threads);
}

/* ---- looking up ---- */

/* Whether the patterns of two units allow that they share `need` shingles. */
static bool may_share(const struct sp_pairs *f, size_t a, size_t b, uint32_t need)
{
    return sp_parity_distance(f->patterns[a], SP_PARITY_WIDE, f->patterns[b], SP_PARITY_WIDE) +
               2ull * need <=
           (uint64_t)f->units[a].size + f->units[b].size;
}

static void meet(struct sp_pairs *f, struct hand *hand, size_t probe, size_t other)
{
    const struct sp_unit *units = f->units;
    uint32_t *met = &hand->met[other - f->from], need;
    if (*met == probe + 1 || other == probe)
        return;
    *met = (uint32_t)probe + 1;
    size_t a = f->indexed == 0 ? other : probe, b = f->indexed == 0 ? probe : other;
    if (units[a].block != units[b].block || !sp_units_meet(&units[a], &units[b]) ||
        !sp_need_of(&f->options, &units[a], &units[b], &need) || !may_share(f, a, b, need))
        return;
    sp_grow(&hand->candidates, &hand->candidate_cap, hand->candidate_count + 1);
    hand->candidates[hand->candidate_count++] = (uint32_t)other;
}

/* Writes the keys of the probe that can be in a prefix of the other side to the low halves of
 * hand->ranks; returns their number. If the probe's side has prefixes, only keys in its own prefix
 * count; with a least Jaccard similarity also those of no other unit, in order of rank. */
static size_t probe_keys(const struct sp_pairs *f, struct hand *hand, size_t probe)
{
    const struct sp_unit *u = &f->units[probe];
    const uint64_t *last = f->last[!f->indexed];
    const uint32_t *keys = sp_unit_keys(u, f->sets, hand->keys);
    bool placed = f->options.jaccard > 0;
    size_t count = 0;
    if (!last) {
        for (uint32_t k = 0; k < u->size; k++)
            hand->ranks[k] = keys[k];
        return u->size;
    }
    sp_common_prefetch(&f->common, keys, u->size);
    for (uint32_t k = 0; k < u->size; k++) {
        uint64_t rank = sp_common_rank(&f->common, keys[k]);
        hand->ranks[count] = rank;
        count += rank <= last[probe] && (placed || rank >> 32 > 1);
    }
    if (placed)
        qsort(hand->ranks, count, sizeof *hand->ranks, sp_by_u64);
    return count;
}

static void meet_all(struct sp_pairs *f, struct hand *hand, size_t probe, uint32_t key)
{
    const struct sp_lists *x = &f->index;
    size_t list = sp_lists_of(x, key);
    for (uint32_t p = x->directory[list]; p < x->directory[list + 1]; p++)
        if (x->items[p].key == key)
            meet(f, hand, probe, x->items[p].unit);
}

/* Meets the units that may have the key as the first one that they share with the probe, which has
 * `before` keys of a lower rank: they are not too small, nor so large that what the probe has from
 * there on is too little. Its own crowd is passed over. */
static void meet_sized(struct sp_pairs *f, struct hand *hand, size_t probe, uint32_t key,
                       size_t before)
{
    const struct sp_lists *x = &f->index;
    size_t list = sp_lists_of(x, key);
    uint32_t p = x->directory[list], end = x->directory[list + 1], own = f->crowds.of[probe];
    double c = f->options.jaccard, size = f->units[probe].size;
    double most = c > 0 ? sp_positional_size_end(c - SP_NEED_ROUNDING, size, (double)before)
                        : (double)INFINITY;
    while (p < end) {
        uint32_t crowd = f->crowds.count > 0 ? f->crowds.of[f->sizes.units[x->items[p].unit]] : 0;
        if (crowd == 0 || crowd != own) {
            p = sp_lists_from(x, list, p, sp_sizes_from(&f->sizes, crowd, c * size - 1));
            uint32_t to = sp_sizes_from(&f->sizes, crowd, most);
            for (; p < end && x->items[p].unit < to; p++)
                if (x->items[p].key == key)
                    meet(f, hand, probe, f->sizes.units[x->items[p].unit]);
        }
        p = sp_lists_from(x, list, p, f->sizes.starts[crowd + 1]);
    }
}

struct probing {
    struct sp_pairs *pairs;
    struct hand *hand;
    size_t probe;
    const uint32_t *units; /* of its crowd */
};

static void meet_member(void *arg, uint32_t member)
{
    const struct probing *p = arg;
    size_t other = p->units[member];
    if (other >= p->pairs->from && other < p->pairs->to && is_posted(p->pairs, other))
        meet(p->pairs, p->hand, p->probe, other);
}

static void meet_crowd(struct sp_pairs *f, struct hand *hand, size_t probe)
{
    const struct sp_cover_crowd *crowd = &f->crowds.items[f->crowds.of[probe]];
    struct probing p = {f, hand, probe, crowd->units};
    sp_differing_each(crowd->index, f->crowds.members[probe], meet_member, &p);
}

static void verify(struct sp_pairs *f, unsigned thread, size_t probe)
{
    struct hand *hand = &f->hands[thread];
    const struct sp_unit *u = &f->units[probe];
    for (size_t c = 0; c < hand->candidate_count; c++) {
        size_t other = hand->candidates[c];
        const struct sp_unit *o = &f->units[other];
        size_t a = f->indexed == 0 ? other : probe, b = f->indexed == 0 ? probe : other;
        uint32_t need;
        sp_need_of(&f->options, &f->units[a], &f->units[b], &need);
        size_t overlap = sp_intersect(f->sets + u->at, u->size, f->sets + o->at, o->size, need);
        hand->counted++;
        if (overlap < need)
            continue;
        hand->pairs++;
        f->options.each(f->options.arg, thread, a, b, (uint32_t)overlap);
    }
}

static void probe_step(void *arg, unsigned thread, size_t from, size_t to)
{
    struct sp_pairs *f = arg;
    struct hand *hand = &f->hands[thread];
    uint64_t work = 0;
    for (size_t probe = from; probe < to; probe++) {
        const struct sp_unit *u = &f->units[probe];
        if (!sp_unit_takes_part(u) || !u->role[!f->indexed] || (f->indexed == 0 && !u->asked))
            continue;
        work += u->size;
        reserve(hand, u->size);
        size_t count = probe_keys(f, hand, probe);
        hand->candidate_count = 0;
        for (size_t k = 0; k < count + AHEAD; k++) {
            if (k < count)
                __builtin_prefetch(
                    &f->index.directory[sp_lists_of(&f->index, (uint32_t)hand->ranks[k])]);
            if (k < AHEAD)
                continue;
            uint64_t rank = hand->ranks[k - AHEAD];
            if (f->sizes.count == 0)
                meet_all(f, hand, probe, (uint32_t)rank);
            else if (f->options.jaccard <= 0 || rank >> 32 > 1)
                meet_sized(f, hand, probe, (uint32_t)rank, k - AHEAD);
        }
        if (f->crowds.of[probe])
            meet_crowd(f, hand, probe);
        verify(f, thread, probe);
    }
    note_done(f, thread, work);
}

/* ---- blocks ---- */

static void prepare(struct sp_pairs *f, uint64_t shingles)
{
    const struct sp_pairs_options *o = &f->options;
    /* If both sides have prefixes, either may be indexed. The one with the larger share has shorter
     * prefixes. */
    f->indexed = o->share[0] >= o->share[1] ? 0 : 1;
    sp_common_make(&f->common, shingles, o->memory_bytes / 8);
    for (unsigned side = 0; side < 2; side++)
        if (o->share[side] > 0)
            f->last[side] = sp_calloc(f->count + 1, sizeof **f->last);
    f->patterns = sp_alloc((f->count + 1) * sizeof *f->patterns);
    f->posting_counts = sp_calloc(f->count + 1, sizeof *f->posting_counts);
    f->commonness = sp_calloc(f->count + 1, sizeof *f->commonness);
    sp_parallel(o->threads, f->count, GRAIN, count_step, f);
    sp_parallel(o->threads, f->count, GRAIN, prefix_step, f);
}

/* Extends the block from f->from on by as many units as memory has room for postings; returns the
 * number of postings. */
static uint64_t next_block(struct sp_pairs *f)
{
    /* A posting and its part of the directory, which is a power of two. */
    uint64_t room = f->options.memory_bytes / 8 * 7 / (sizeof(struct sp_listed) + 8);
    uint64_t postings = 0;
    if (room > UINT32_MAX / 2)
        room = UINT32_MAX / 2;
    for (f->to = f->from; f->to < f->count; f->to++) {
        uint32_t more = is_posted(f, f->to) ? f->posting_counts[f->to] : 0;
        if (postings > 0 && postings + more > room)
            break;
        postings += more;
    }
    return postings;
}

static void drop_block(struct sp_pairs *f)
{
    for (unsigned t = 0; t < f->options.threads; t++) {
        sp_free(f->hands[t].met);
        f->hands[t].met = NULL;
    }
    sp_lists_done(&f->index);
}

static void take_block(struct sp_pairs *f, uint64_t postings)
{
    for (unsigned t = 0; t < f->options.threads; t++)
        f->hands[t].met = sp_calloc(f->to - f->from + 1, sizeof *f->hands[t].met);
    make_index(f, postings);
}

/* A pair differs in the shingles of both, less twice those that it shares: at least that share of
 * the indexed unit, whose share is the larger one. */
static struct sp_differing_most most_different(const struct sp_pairs *f)
{
    const struct sp_pairs_options *o = &f->options;
    if (o->jaccard > 0)
        return sp_differing_jaccard(o->jaccard - SP_NEED_ROUNDING);
    return (struct sp_differing_most){1, 1 - 2 * (o->share[f->indexed] - SP_NEED_ROUNDING)};
}

static void order_units(struct sp_pairs *f)
{
    const struct sp_crowds_options options = {.units = f->units,
                                              .count = f->count,
                                              .sets = f->sets,
                                              .common = &f->common,
                                              .commonness = f->commonness,
                                              .most = most_different(f),
                                              .memory_bytes = f->options.memory_bytes / 4};
    sp_crowds_make(&options, &f->crowds);
    if (f->crowds.count > 0 || f->options.jaccard > 0)
        sp_sizes_make(f->units, f->count, &f->crowds, &f->sizes);
}

struct sp_pairs *sp_pairs_open(const struct sp_unit *units, size_t count, const uint32_t *sets,
                               const struct sp_pairs_options *options)
{
    uint64_t shingles = 0;
    struct sp_pairs *f = sp_calloc(1, sizeof *f);
    f->options = *options;
    f->units = units;
    f->sets = sets;
    if (options->share[0] > 1 || options->share[1] > 1)
        return f; /* no set has more than all of its shingles */
    f->count = count;
    for (size_t i = 0; i < count; i++)
        shingles += sp_unit_takes_part(&units[i]) ? units[i].size : 0;
    f->total = 3 * shingles; /* counting, prefixes, one block; corrected below */
    prepare(f, shingles);
    order_units(f);
    uint64_t blocks = 0;
    for (f->from = 0; f->from < count; f->from = f->to) { /* counts the blocks */
        next_block(f);
        blocks++;
    }
    f->total = (2 + blocks) * shingles;
    return f;
}

/* A unit of several documents may be the last probe of one round and the first of the next. */
static void forget_met(struct sp_pairs *f)
{
    for (unsigned t = 0; t < f->options.threads; t++)
        memset(f->hands[t].met, 0, (f->to - f->from + 1) * sizeof *f->hands[t].met);
}

void sp_pairs_find(struct sp_pairs *f)
{
    unsigned threads = f->options.threads;
    uint64_t blocks = 0;
    if (f->whole) {
        forget_met(f);
        sp_parallel(threads, f->count, GRAIN, probe_step, f);
    }
    for (f->from = 0; f->from < f->count && !f->whole; f->from = f->to) {
        uint64_t postings = next_block(f);
        if (postings == 0)
            continue;
        blocks++;
        take_block(f, postings);
        sp_parallel(threads, f->count, GRAIN, probe_step, f);
        f->whole = f->indexed == 0 && f->from == 0 && f->to == f->count;
        if (f->whole)
            break;
        drop_block(f);
    }
    f->blocks = blocks > f->blocks ? blocks : f->blocks;
    f->rounds++;
}

void sp_pairs_close(struct sp_pairs *f, struct sp_pairs_stats *stats)
{
    drop_block(f);
    stats->blocks += f->blocks;
    for (unsigned t = 0; t < f->options.threads; t++) {
        struct hand *hand = &f->hands[t];
        stats->postings += hand->postings;
        stats->candidates += hand->counted;
        stats->pairs += hand->pairs;
        sp_free(hand->keys);
        sp_free(hand->ranks);
        sp_free(hand->candidates);
    }
    sp_common_done(&f->common);
    sp_free(f->last[0]);
    sp_free(f->last[1]);
    sp_free(f->patterns);
    sp_free(f->posting_counts);
    sp_free(f->commonness);
    sp_crowds_done(&f->crowds);
    sp_sizes_done(&f->sizes);
    sp_free(f);
}
