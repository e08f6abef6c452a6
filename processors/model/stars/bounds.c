/* The arithmetic of overlaps; stars.h has the argument. Every bound errs on the side that loses no
 * pair: F has a tolerance of 1e-9 (jaccard.c), the bounds have a larger one. */
#include <math.h>

#include "stars/internal.h"

static const double SLACK = 1e-6;

uint32_t sp_star_bound_missing(const struct sp_stars *s, uint32_t n)
{
    return (uint32_t)floor((1 - s->tau) * n + SLACK);
}

uint32_t sp_star_bound_overlap(const struct sp_stars *s, uint32_t kept, bool capped,
                               uint32_t other_kept, bool other_capped)
{
    double least = s->tau * ((double)kept + other_kept) / (1 + s->tau);
    if (capped || other_capped) /* over a range that one of them fills */
        least = s->tau * (kept < other_kept ? kept : other_kept);
    least -= SLACK;
    if (least <= 1)
        return 1;
    uint32_t whole = (uint32_t)least;
    return whole + (whole < least); /* rounded up, without a call */
}

bool sp_star_bound_sizes(const struct sp_stars *s, uint32_t total, uint32_t other_total)
{
    double smaller = total < other_total ? total : other_total;
    double larger = total < other_total ? other_total : total;
    return smaller + SLACK * larger >= s->tau * larger;
}

struct hits_bound sp_star_bound_probe(const struct sp_stars *s, uint32_t kept)
{
    double share = s->tau / (1 + s->tau);
    return (struct hits_bound){share * kept - SLACK, share * s->tau, kept / s->tau};
}
