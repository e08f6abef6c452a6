/* SP_CLONES before a function: GCC compiles it twice, for all processors and for those with AVX2
 * and BMI2 (x86-64-v3), and the loader chooses. For functions that are much of the cost of a page
 * and shift by variable amounts, which takes three steps without BMI2. Builds with a sanitizer do
 * not allow it, so they test the code of other processors. */
#ifndef SP_BASE_CLONES_H
#define SP_BASE_CLONES_H

#if defined(__x86_64__) && defined(__ELF__) && !defined(__clang__) &&                              \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SP_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define SP_CLONES
#endif

#endif
