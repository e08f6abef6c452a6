/* See pairs.h. */
#include "cover/pairs.h"

#include <string.h>

#include "cover/need.h"
#include "cover/nth.h"
#include "cover/pairs_data.h"

enum { GRAIN = 256 }; /* units a thread takes at a time */

/* ---- how common each shingle is ---- */

static void count_step(void *arg, unsigned thread, size_t from, size_t to)
{
    struct sp_pairs *f = arg;
    struct sp_pairs_hand *hand = &f->hands[thread];
    uint64_t work = 0;
    for (size_t i = from; i < to; i++) {
        const struct sp_unit *u = &f->units[i];
        if (!sp_unit_takes_part(u))
            continue;
        sp_pairs_reserve(hand, u->size);
        sp_common_count(&f->common, sp_unit_keys(u, f->sets, hand->keys), u->size);
        work += u->size;
    }
    sp_pairs_note_done(f, thread, work);
}

/* ---- prefixes ---- */

static void prefix_step(void *arg, unsigned thread, size_t from, size_t to)
{
    struct sp_pairs *f = arg;
    struct sp_pairs_hand *hand = &f->hands[thread];
    uint64_t work = 0;
    for (size_t i = from; i < to; i++) {
        const struct sp_unit *u = &f->units[i];
        f->posting_counts[i] = 0;
        if (!sp_unit_takes_part(u))
            continue;
        work += u->size;
        sp_parity_of_shingles(f->sets + u->at, u->size, SP_PARITY_WIDE, f->patterns[i]);
        sp_pairs_reserve(hand, u->size);
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
    sp_pairs_note_done(f, thread, work);
}

/* ---- the index of a block ---- */

/* Counts the postings of the units, or, with `put`, writes them. */
static void index_units(struct sp_pairs *f, unsigned thread, size_t from, size_t to, bool put)
{
    struct sp_pairs_hand *hand = &f->hands[thread];
    for (size_t i = f->from + from; i < f->from + to; i++) {
        const struct sp_unit *u = &f->units[i];
        if (!sp_pairs_posts(f, i))
            continue;
        sp_pairs_reserve(hand, u->size);
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
        uint32_t more = sp_pairs_posts(f, f->to) ? f->posting_counts[f->to] : 0;
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
        sp_parallel(threads, f->count, GRAIN, sp_pairs_probe_step, f);
    }
    for (f->from = 0; f->from < f->count && !f->whole; f->from = f->to) {
        uint64_t postings = next_block(f);
        if (postings == 0)
            continue;
        blocks++;
        take_block(f, postings);
        sp_parallel(threads, f->count, GRAIN, sp_pairs_probe_step, f);
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
        struct sp_pairs_hand *hand = &f->hands[t];
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
