/* Why records could not be read: the first few reasons, each with a count. */
#ifndef SP_LOCAL_REFUSALS_H
#define SP_LOCAL_REFUSALS_H

#include <stdint.h>

enum { SP_REFUSALS = 16 };

/* Zeroed: none. A reason beyond the first SP_REFUSALS is counted as `others`. */
struct sp_refusals {
    struct sp_refusal {
        char *why;
        uint64_t count;
    } items[SP_REFUSALS]; /* as they came */
    uint64_t others;
};

/* The text is copied. */
void sp_refusals_add(struct sp_refusals *r, const char *why, uint64_t count);
/* Commonest first; of equal counts, what came first. */
void sp_refusals_sort(struct sp_refusals *r);
void sp_refusals_done(struct sp_refusals *r);

#endif
