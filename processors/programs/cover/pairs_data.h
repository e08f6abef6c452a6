/* The join of pairs.h: what its two halves share. pairs.c counts shingles, makes the index of a
 * block of units and goes from block to block; pairs_probe.c looks the other units up in it. */
#ifndef SP_COVER_PAIRS_DATA_H
#define SP_COVER_PAIRS_DATA_H

#include <stdatomic.h>

#include "base/mem.h"
#include "base/parallel.h"
#include "cover/common.h"
#include "cover/crowds.h"
#include "cover/lists.h"
#include "cover/pairs.h"
#include "cover/sizes.h"
#include "similarity/parity.h"

/* Scratch memory of a thread. */
struct sp_pairs_hand {
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
    struct sp_pairs_hand hands[SP_PARALLEL_THREADS];
};

/* Makes room for the keys and ranks of a unit. */
static inline void sp_pairs_reserve(struct sp_pairs_hand *hand, size_t size)
{
    sp_grow(&hand->keys, &hand->key_cap, size);
    sp_grow(&hand->ranks, &hand->rank_cap, size);
}

/* Whether the unit has postings in this round. */
static inline bool sp_pairs_posts(const struct sp_pairs *f, size_t unit)
{
    return f->posting_counts[unit] > 0 && (f->indexed == 0 || f->units[unit].asked);
}

/* Counts work for the progress report. */
static inline void sp_pairs_note_done(struct sp_pairs *f, unsigned thread, uint64_t work)
{
    uint64_t done = atomic_fetch_add(&f->done, work) + work;
    if (thread == 0 && f->options.progress)
        f->options.progress(f->options.arg, done < f->total ? done : f->total, f->total);
}

/* Looks up units from `from` to before `to` in the index of the block, verifies what it finds, and
 * reports the pairs; for sp_parallel. */
void sp_pairs_probe_step(void *arg, unsigned thread, size_t from, size_t to);

#endif
