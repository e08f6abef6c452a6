/* The second half of the join of pairs.h: units are looked up in the index of a block. Of those
 * found, sizes, conditions and patterns rule out most; the others are intersected. */
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "cover/need.h"
#include "cover/pairs_data.h"
#include "similarity/intersect.h"
#include "similarity/positional.h"

enum { AHEAD = 16 }; /* look-ups between the prefetch of a cache line and its use */

/* Whether the patterns of two units allow that they share `need` shingles. */
static bool may_share(const struct sp_pairs *f, size_t a, size_t b, uint32_t need)
{
    return sp_parity_distance(f->patterns[a], SP_PARITY_WIDE, f->patterns[b], SP_PARITY_WIDE) +
               2ull * need <=
           (uint64_t)f->units[a].size + f->units[b].size;
}

static void meet(struct sp_pairs *f, struct sp_pairs_hand *hand, size_t probe, size_t other)
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
static size_t probe_keys(const struct sp_pairs *f, struct sp_pairs_hand *hand, size_t probe)
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

static void meet_all(struct sp_pairs *f, struct sp_pairs_hand *hand, size_t probe, uint32_t key)
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
static void meet_sized(struct sp_pairs *f, struct sp_pairs_hand *hand, size_t probe, uint32_t key,
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
    struct sp_pairs_hand *hand;
    size_t probe;
    const uint32_t *units; /* of its crowd */
};

static void meet_member(void *arg, uint32_t member)
{
    const struct probing *p = arg;
    size_t other = p->units[member];
    if (other >= p->pairs->from && other < p->pairs->to && sp_pairs_posts(p->pairs, other))
        meet(p->pairs, p->hand, p->probe, other);
}

static void meet_crowd(struct sp_pairs *f, struct sp_pairs_hand *hand, size_t probe)
{
    const struct sp_cover_crowd *crowd = &f->crowds.items[f->crowds.of[probe]];
    struct probing p = {f, hand, probe, crowd->units};
    sp_differing_each(crowd->index, f->crowds.members[probe], meet_member, &p);
}

static void verify(struct sp_pairs *f, unsigned thread, size_t probe)
{
    struct sp_pairs_hand *hand = &f->hands[thread];
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

void sp_pairs_probe_step(void *arg, unsigned thread, size_t from, size_t to)
{
    struct sp_pairs *f = arg;
    struct sp_pairs_hand *hand = &f->hands[thread];
    uint64_t work = 0;
    for (size_t probe = from; probe < to; probe++) {
        const struct sp_unit *u = &f->units[probe];
        if (!sp_unit_takes_part(u) || !u->role[!f->indexed] || (f->indexed == 0 && !u->asked))
            continue;
        work += u->size;
        sp_pairs_reserve(hand, u->size);
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
    sp_pairs_note_done(f, thread, work);
}
