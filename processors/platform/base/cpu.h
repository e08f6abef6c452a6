/* What the processor can do, as far as several files ask it. A function that runs before main must
 * call __builtin_cpu_init first. Thread rule: any thread. */
#ifndef SP_BASE_CPU_H
#define SP_BASE_CPU_H

#if defined(__x86_64__)

#include <stdbool.h>

/* AVX2, and the instructions on bits that all processors with AVX2 have. */
static inline bool sp_cpu_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt");
}

#endif

#endif
