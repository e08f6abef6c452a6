/* The clocks of experiments: see measure.h. */
#include "evaluate/measure.h"

#include <time.h>

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double sp_measure_cpu(void)
{
    return seconds(CLOCK_THREAD_CPUTIME_ID);
}

double sp_measure_clock(void)
{
    return seconds(CLOCK_MONOTONIC);
}
