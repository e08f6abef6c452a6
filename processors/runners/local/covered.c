/* See covered.h. A member is compared with the first few winners, one of which covers most members
 * of a group of near copies. If none of these covers it, it is compared with those that may
 * resemble it by an index that misses none (similarity/finder.h): the ends of a long chain have
 * many winners and resemble few of them. */
#include "local/covered.h"

#include "base/assert.h"
#include "base/mem.h"

/* Of so many winners all are tried: an index for each small group takes longer. */
enum { FEW = 16 };

/* So many are tried before the index. */
enum { EARLY = 8 };

struct cover {
    const struct sp_covered_options *options;
    const uint32_t *signatures;
    uint32_t count;
    uint32_t *winners; /* members, in rank order */
    uint32_t winner_count;
    bool indexed;
    uint32_t *all; /* 0, 1, 2 ... */
    uint64_t compared;
};

/* A winner of a member. */
struct arc {
    uint32_t member;
    uint32_t winner; /* number among the winners */
    double similarity;
};

static bool covers(struct cover *c, uint32_t winner, uint32_t member, double *ret_similarity)
{
    const struct sp_covered_options *o = c->options;
    if (winner == member)
        return false;
    c->compared++;
    return sp_similar(o->similarity, o->signatures[c->signatures[winner]],
                      o->signatures[c->signatures[member]], ret_similarity) &&
           (!o->allows || o->allows(o->arg, member, winner));
}

/* The winners that may cover the member, as numbers among them, ascending. */
static uint32_t candidates(struct cover *c, uint32_t member, const uint32_t **ret_numbers)
{
    if (c->indexed)
        return (uint32_t)sp_finder_find(c->options->finder, c->signatures[member], ret_numbers);
    *ret_numbers = c->all;
    return c->winner_count;
}

static enum sp_err add_winner(struct cover *c, uint32_t member)
{
    struct sp_finder *finder = c->options->finder;
    c->winners[c->winner_count++] = member;
    if (c->winner_count == FEW + 1) {
        enum sp_err err = sp_finder_begin(finder, c->signatures, c->count);
        if (err != SP_OK)
            return err;
        c->indexed = true;
        for (uint32_t w = 0; w < FEW; w++)
            sp_finder_add(finder, c->signatures[c->winners[w]]);
    }
    if (c->indexed)
        sp_finder_add(finder, c->signatures[member]);
    return SP_OK;
}

/* The first winner that covers the member, or SP_COVERED_NONE. */
static uint32_t first_winner(struct cover *c, uint32_t member, double *ret_similarity)
{
    const uint32_t *numbers;
    uint32_t early = c->indexed ? EARLY : 0;
    for (uint32_t w = 0; w < early; w++)
        if (covers(c, c->winners[w], member, ret_similarity))
            return c->winners[w];
    uint32_t count = candidates(c, member, &numbers);
    for (uint32_t k = 0; k < count; k++)
        if (numbers[k] >= early && covers(c, c->winners[numbers[k]], member, ret_similarity))
            return c->winners[numbers[k]];
    return SP_COVERED_NONE;
}

static enum sp_err choose(struct cover *c, uint32_t *ret_winners, double *ret_similarity)
{
    enum sp_err err = SP_OK;
    for (uint32_t i = 0; i < c->count && err == SP_OK; i++) {
        ret_winners[i] = first_winner(c, i, &ret_similarity[i]);
        if (ret_winners[i] != SP_COVERED_NONE)
            continue;
        ret_winners[i] = i;
        ret_similarity[i] = 1;
        err = add_winner(c, i);
    }
    return err;
}

/* ---- under a relation ---- */

/* Finds all winners of each member; ret_starts[i]: the first of member i. */
static struct arc *find_arcs(struct cover *c, size_t *ret_starts)
{
    struct arc *arcs = NULL;
    size_t arc_count = 0, cap = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        const uint32_t *numbers;
        uint32_t count = candidates(c, i, &numbers);
        ret_starts[i] = arc_count;
        for (uint32_t k = 0; k < count; k++) {
            struct arc arc = {i, numbers[k], 0};
            if (!covers(c, c->winners[numbers[k]], i, &arc.similarity))
                continue;
            sp_grow(&arcs, &cap, arc_count + 1);
            arcs[arc_count++] = arc;
        }
    }
    ret_starts[c->count] = arc_count;
    return arcs;
}

/* The arcs of each winner, by number; ret_starts as above. */
static const struct arc **by_winner(const struct cover *c, const struct arc *arcs, size_t count,
                                    size_t *ret_starts)
{
    const struct arc **turned = sp_alloc((count + 1) * sizeof *turned);
    memset(ret_starts, 0, (c->winner_count + 2ull) * sizeof *ret_starts);
    for (size_t i = 0; i < count; i++)
        ret_starts[arcs[i].winner + 2]++;
    for (uint32_t w = 0; w < c->winner_count; w++)
        ret_starts[w + 2] += ret_starts[w + 1];
    for (size_t i = 0; i < count; i++)
        turned[ret_starts[arcs[i].winner + 1]++] = &arcs[i];
    return turned;
}

/* Drops winners, from the last one on, if they and all their losers have another winner. */
static void drop(const struct cover *c, const struct arc *const *arcs, const size_t *starts,
                 uint32_t *left, bool *kept)
{
    for (uint32_t w = c->winner_count; w-- > 0;) {
        bool needed = left[c->winners[w]] == 0;
        for (size_t i = starts[w]; i < starts[w + 1] && !needed; i++)
            needed = left[arcs[i]->member] == 1 && !kept[arcs[i]->member];
        if (needed)
            continue;
        kept[c->winners[w]] = false;
        for (size_t i = starts[w]; i < starts[w + 1]; i++)
            left[arcs[i]->member]--;
    }
}

static void drop_superfluous(struct cover *c, uint32_t *winners, double *similarity)
{
    size_t *starts = sp_alloc((c->count + 2ull) * sizeof *starts);
    size_t *of_winner = sp_alloc((c->count + 2ull) * sizeof *of_winner);
    uint32_t *left = sp_alloc((c->count + 1ull) * sizeof *left);
    bool *kept = sp_calloc(c->count + 1ull, sizeof *kept);
    struct arc *arcs = find_arcs(c, starts);
    const struct arc **turned = by_winner(c, arcs, starts[c->count], of_winner);
    for (uint32_t i = 0; i < c->count; i++) {
        left[i] = (uint32_t)(starts[i + 1] - starts[i]);
        kept[i] = winners[i] == i;
    }
    drop(c, turned, of_winner, left, kept);
    for (uint32_t i = 0; i < c->count; i++) {
        size_t a = starts[i];
        while (!kept[i] && a < starts[i + 1] && !kept[c->winners[arcs[a].winner]])
            a++;
        SP_ASSERT(kept[i] || a < starts[i + 1]); /* the last winner of a member is not dropped */
        winners[i] = kept[i] ? i : c->winners[arcs[a].winner];
        similarity[i] = kept[i] ? 1 : arcs[a].similarity;
    }
    sp_free(turned);
    sp_free(arcs);
    sp_free(starts);
    sp_free(of_winner);
    sp_free(left);
    sp_free(kept);
}

enum sp_err sp_covered(const struct sp_covered_options *o, const uint32_t *signatures,
                       uint32_t count, uint32_t *ret_winners, double *ret_similarity,
                       struct sp_connected_stats *stats)
{
    uint32_t all[FEW] = {0};
    struct cover c = {.options = o, .signatures = signatures, .count = count, .all = all};
    uint64_t read = sp_finder_read(o->finder);
    c.winners = sp_alloc((count + 1ull) * sizeof *c.winners);
    for (uint32_t i = 0; i < FEW; i++)
        all[i] = i;
    enum sp_err err = choose(&c, ret_winners, ret_similarity);
    if (err == SP_OK && o->allows)
        drop_superfluous(&c, ret_winners, ret_similarity);
    stats->compared += c.compared;
    stats->read += sp_finder_read(o->finder) - read;
    sp_free(c.winners);
    return err;
}
