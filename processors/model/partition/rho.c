/* See rho.h. */
#include "partition/rho.h"

#include <math.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/mem.h"

double sp_rho_deviation(const uint32_t length[SP_DIMS], uint32_t dims)
{
    double total = 0, most = 0;
    for (uint32_t d = 0; d < dims; d++)
        total += length[d];
    for (uint32_t d = 0; d < dims; d++)
        most = fmax(most, length[d] ? fabs(total / (dims * (double)length[d]) - 1) : INFINITY);
    return most;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

struct sp_rho sp_rho_of_sample(const struct sp_lengths *pages, size_t count, uint32_t dims,
                               double share)
{
    double *deviations = sp_alloc((count + 1) * sizeof *deviations);
    struct sp_rho r = {0, 1};
    size_t n = 0;
    SP_ASSERT(dims >= 1 && dims <= SP_DIMS && share >= 0 && share <= 1);
    for (size_t i = 0; i < count; i++) {
        uint64_t total = 0;
        for (uint32_t d = 0; d < dims; d++)
            total += pages[i].at[d];
        if (total > 0)
            deviations[n++] = sp_rho_deviation(pages[i].at, dims);
    }
    if (n > 0) {
        size_t at = (size_t)ceil(share * (double)n);
        qsort(deviations, n, sizeof *deviations, by_value);
        r.delta = deviations[at > 0 ? at - 1 : 0];
        r.rho = r.delta < 1 ? (1 + r.delta) / (1 - r.delta) : INFINITY;
    }
    sp_free(deviations);
    return r;
}
