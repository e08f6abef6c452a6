/* The difference between what was published at one moment and the baseline at that moment. Source:
 * Zhu et al., WWW 2012, section 6.3 (relative error in precision, REP, and in recall, RER). The
 * paper does not say which pairs count; here it is:
 *
 *   pages      those alive by the baseline: the latest fetch has content
 *   group pairs
 *     S        pairs of such pages whose last published status names the same group
 *     B        pairs of such pages in one component of the baseline
 *     REP      |S \ B| / |S|: of the pairs called duplicates, the share that the baseline does not
 *     RER      |B \ S| / |B|: of the baseline's pairs, the share that is missed
 *   winner pairs
 *     S        (loser, winner) as last published
 *     REP      share of S that F does not hold for, with the contents both have now, or whose
 *              winner is not alive
 *     RER      of the pages that the baseline's winner rule makes losers, the share not published
 *              as losers
 *
 * A share of nothing is 0. Group pairs weigh a group of n with n (n - 1) / 2: one wrong edge
 * between two large groups counts for all the pairs across it. Winner pairs weigh each page once:
 * they are what an indexer acts on.
 *
 * Thread rule: pure; any thread. */
#ifndef SP_REPLAY_PAIRS_H
#define SP_REPLAY_PAIRS_H

#include "replay/baseline.h"
#include "replay/replay.h"

struct sp_group_pairs {
    uint64_t system;   /* |S| */
    uint64_t baseline; /* |B| */
    uint64_t both;     /* |S n B| */
    /* Where most of the errors come from; SP_NO_NUMBER: nowhere. */
    uint64_t worst_false;  /* pairs of S \ B within one group, worst_group */
    uint64_t worst_missed; /* pairs of B \ S within one component, worst_component */
    uint32_t worst_group;
    uint32_t worst_component;
    uint64_t false_groups; /* groups with any pair of S \ B */
    uint64_t missed_components;
};
_Static_assert(sizeof(struct sp_group_pairs) == 7 * sizeof(uint64_t) + 2 * sizeof(uint32_t),
               "without padding: tests compare them as bytes");

/* `group` and `component` by page number. A page without component is not counted, one without
 * group is alone. */
void sp_group_pairs_count(const uint32_t *group, const uint32_t *component, size_t page_count,
                          struct sp_group_pairs *ret_pairs);

struct sp_winner_pairs {
    uint64_t system;
    uint64_t wrong;
    uint64_t baseline;
    uint64_t missed;
    /* The verification step of the paper's section 5: members of groups of two and more against
     * the best-ranked one. */
    uint64_t clustered;
    uint64_t rejected; /* of these, not similar to it */
};

void sp_winner_pairs_count(const struct sp_crawl *crawl, const struct sp_baseline *baseline,
                           const struct sp_said *said,
                           const struct sp_similarity_options *similarity,
                           struct sp_winner_pairs *ret_pairs);

static inline double sp_share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static inline double sp_group_pairs_rep(const struct sp_group_pairs *p)
{
    return sp_share(p->system - p->both, p->system);
}

static inline double sp_group_pairs_rer(const struct sp_group_pairs *p)
{
    return sp_share(p->baseline - p->both, p->baseline);
}

#endif
