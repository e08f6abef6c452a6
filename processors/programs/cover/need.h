/* How much a pair of units must share. Private to this folder; thread rule: pure; any thread. */
#ifndef SP_COVER_NEED_H
#define SP_COVER_NEED_H

#include <math.h>

#include "cover/pairs.h"

#define SP_NEED_ROUNDING 1e-6

/* Returns the least overlap with which a set of `size` has that share: at least 1. */
static inline uint32_t sp_needed_of(double share, uint32_t size)
{
    double need = ceil(share * size - SP_NEED_ROUNDING);
    return need < 1 ? 1 : need > (double)UINT32_MAX ? UINT32_MAX : (uint32_t)need;
}

/* Whether the sizes allow the pair to share enough; *ret_need is how much it must share. */
static inline bool sp_need_of(const struct sp_pairs_options *o, const struct sp_unit *a,
                              const struct sp_unit *b, uint32_t *ret_need)
{
    uint32_t for_a = sp_needed_of(o->share[0], a->size);
    uint32_t for_b = sp_needed_of(o->share[1], b->size);
    double both = o->jaccard / (1 + o->jaccard) * ((double)a->size + b->size);
    uint32_t for_both =
        sp_needed_of(1, (uint32_t)(both < UINT32_MAX ? ceil(both - SP_NEED_ROUNDING) : UINT32_MAX));
    *ret_need = for_a > for_b ? for_a : for_b;
    *ret_need = for_both > *ret_need ? for_both : *ret_need;
    return *ret_need <= a->size && *ret_need <= b->size;
}

#endif
