/* The winners of a component, by the definition and from scratch: members in rank order, each
 * covered by the first winner that it is similar to and that the relation allows. `run --verify`
 * and `evaluate` compare the incremental system with it. */
#ifndef SP_LOCAL_COVERED_H
#define SP_LOCAL_COVERED_H

#include "similarity/connected.h"
#include "similarity/finder.h"

enum { SP_COVERED_NONE = UINT32_MAX };

struct sp_covered_options {
    const struct sp_similarity_options *similarity;
    struct sp_signature *const *signatures;
    /* Over the signatures; what it had before is lost. */
    struct sp_finder *finder;
    /* Whether the winner may represent the loser (both numbers of members); NULL: always. Winners
     * that others can replace are then dropped, from the last on. */
    bool (*allows)(void *arg, uint32_t loser, uint32_t winner);
    void *arg;
};

/* `signatures[i]`: the number of the signature of member i, in rank order. ret_winners[i]: the
 * member that represents it, itself if it is kept. ret_similarity[i]: to that one, 1 to itself.
 * Adds to *stats. */
enum sp_err sp_covered(const struct sp_covered_options *o, const uint32_t *signatures,
                       uint32_t count, uint32_t *ret_winners, double *ret_similarity,
                       struct sp_connected_stats *stats);

#endif
