/* See examples.h. All choices are by similarity, then by page number, so that they are
 * reproducible. */
#include "evaluate/examples.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

enum { WEAKEST, MIDDLING, WRONGLY_TOGETHER, WRONGLY_APART };

enum { MEMBERS_MAX = 1500 }; /* larger groups are not examined pair by pair */

static const struct {
    bool good;
    const char *text;
} verdicts[SP_EXAMPLES] = {
    [WEAKEST] = {true, "Right: a winner and the loser least similar to its winner"},
    [MIDDLING] = {true, "Right: a winner and a loser of middling similarity"},
    [WRONGLY_TOGETHER] = {false, "Wrong in fast mode: in one group, although no chain of near "
                                 "duplicates connects them"},
    [WRONGLY_APART] = {false, "Wrong in fast mode: near duplicates that are in different groups"},
};

static void set(struct sp_examples *x, const struct sp_accuracy *a, size_t example, uint32_t first,
                uint32_t second, double similarity)
{
    const struct sp_baseline *b = &a->baselines[SP_MILESTONES - 1];
    struct sp_example *e = &x->list[example];
    *e = (struct sp_example){.found = true,
                             .good = verdicts[example].good,
                             .fetch_a = b->fetch[first],
                             .fetch_b = b->fetch[second]};
    snprintf(e->verdict, sizeof e->verdict, "%s, J = %.3f", verdicts[example].text, similarity);
}

static double jaccard(const struct sp_accuracy *a, uint32_t x, uint32_t y)
{
    const struct sp_baseline *b = &a->baselines[SP_MILESTONES - 1];
    return sp_jaccard(a->crawl->contents[b->content[x]], a->crawl->contents[b->content[y]]);
}

/* Losers whose content differs from their winner's, by similarity: the least similar, and the one
 * in the middle. */
struct claim {
    float similarity;
    uint32_t loser;
};

static int by_similarity(const void *a, const void *b)
{
    const struct claim *x = a, *y = b;
    if (x->similarity != y->similarity)
        return x->similarity < y->similarity ? -1 : 1;
    return x->loser < y->loser ? -1 : x->loser > y->loser;
}

static void pick_right(struct sp_examples *x, const struct sp_accuracy *a,
                       const struct sp_said *said)
{
    const struct sp_crawl *c = a->crawl;
    const struct sp_baseline *b = &a->baselines[SP_MILESTONES - 1];
    struct claim *claims = sp_alloc((c->page_count + 1) * sizeof *claims);
    size_t count = 0;
    for (uint32_t p = 0; p < c->page_count; p++) {
        uint32_t winner = said[p].winner;
        if (said[p].status != SP_STATUS_LOSER || b->content[p] == SP_NO_NUMBER ||
            winner == SP_NO_NUMBER || b->content[winner] == SP_NO_NUMBER ||
            b->content[p] == b->content[winner])
            continue;
        claims[count++] = (struct claim){said[p].similarity, p};
    }
    qsort(claims, count, sizeof *claims, by_similarity);
    if (count) {
        uint32_t weakest = claims[0].loser, middling = claims[count / 2].loser;
        set(x, a, WEAKEST, said[weakest].winner, weakest, claims[0].similarity);
        if (middling != weakest)
            set(x, a, MIDDLING, said[middling].winner, middling, claims[count / 2].similarity);
    }
    sp_free(claims);
}

/* Picks the best-ranked page of the group, and the best-ranked of those that do not belong to it.
 */
static void pick_together(struct sp_examples *x, const struct sp_accuracy *a,
                          const struct sp_said *said, uint32_t group)
{
    const struct sp_crawl *c = a->crawl;
    const struct sp_baseline *b = &a->baselines[SP_MILESTONES - 1];
    uint32_t best = SP_NO_NUMBER, stranger = SP_NO_NUMBER;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t p = 0; p < c->page_count; p++) {
            if (b->component[p] == SP_NO_NUMBER || said[p].group != group)
                continue;
            uint32_t *at = pass == 0 ? &best : &stranger;
            if (pass == 1 && b->component[p] == b->component[best])
                continue;
            if (*at == SP_NO_NUMBER || sp_baseline_outranks(c, b, p, *at))
                *at = p;
        }
    if (stranger != SP_NO_NUMBER)
        set(x, a, WRONGLY_TOGETHER, best, stranger, jaccard(a, best, stranger));
}

/* Picks the two most similar pages of the component that are in different groups. */
static void pick_apart(struct sp_examples *x, const struct sp_accuracy *a,
                       const struct sp_said *said, uint32_t component)
{
    const struct sp_crawl *c = a->crawl;
    const struct sp_baseline *b = &a->baselines[SP_MILESTONES - 1];
    uint32_t members[MEMBERS_MAX], best_a = 0, best_b = 0;
    size_t count = 0;
    double most = 0;
    for (uint32_t p = 0; p < c->page_count && count < MEMBERS_MAX; p++)
        if (b->component[p] == component)
            members[count++] = p;
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++) {
            double j;
            if (said[members[i]].group != said[members[k]].group &&
                sp_similar(x->similarity, c->contents[b->content[members[i]]],
                           c->contents[b->content[members[k]]], &j) &&
                j > most) {
                most = j;
                best_a = members[i];
                best_b = members[k];
            }
        }
    if (most > 0)
        set(x, a, WRONGLY_APART, best_a, best_b, most);
}

void sp_examples_pick(void *examples, const struct sp_accuracy *a, size_t variant,
                      const struct sp_said *said)
{
    const struct sp_group_pairs *pairs = &a->variants[variant].errors[SP_MILESTONES - 1].groups;
    if (variant == SP_EXACT_24)
        pick_right(examples, a, said);
    if (variant != SP_FAST_24)
        return;
    if (pairs->worst_false)
        pick_together(examples, a, said, pairs->worst_group);
    if (pairs->worst_missed)
        pick_apart(examples, a, said, pairs->worst_component);
}
