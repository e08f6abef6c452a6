/* See intersect.h and the kernels in similarity.h.
 *
 *   portable   a merge without branches on the data, which checks every few steps whether
 *              `need` can still be reached (7 M pairs/s on real pages, most of them far apart)
 *   avx2       compares 8 x 8 values at once, avx512 16 x 16: one block of a with all rotations
 *              of one block of b. Then the block with the smaller last value moves on. A value
 *              that a side has twice would be counted wrongly, so if either side repeats a value
 *              (a collision of 32-bit hashes), the merge runs instead.
 *
 * The difference is found in the same ways. There a value that a repeats is dropped where it comes
 * again, and one that b repeats only matches again. */
#include "similarity/intersect.h"

#include <string.h>

#include "similarity/similarity.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef size_t (*intersect_fn)(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                               size_t need);
typedef size_t (*difference_fn)(const uint32_t *a, size_t a_count, const uint32_t *b,
                                size_t b_count, uint32_t *ret_values);

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t merge(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                    size_t need)
{
    enum { STRIDE = 32 };
    size_t i = 0, k = 0, shared = 0;
    while (i < a_count && k < b_count) {
        size_t left = smaller(a_count - i, b_count - k);
        if (shared + left < need)
            return shared;
        /* `left` steps cannot run past the end of either array. */
        for (size_t step = smaller(left, STRIDE); step > 0; step--) {
            uint32_t x = a[i], y = b[k];
            shared += x == y;
            i += x <= y;
            k += y <= x;
        }
    }
    return shared;
}

/* The values of a that b does not have. Bit j of `matched`: a[j] is equal to a value before b.
 * `before`: the value before a; NULL: none. */
static size_t difference_rest(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                              uint64_t matched, const uint32_t *before, uint32_t *ret_values)
{
    size_t i = 0, k = 0, count = 0;
    uint64_t last = before ? *before : UINT64_MAX;
    while (i < a_count && k < b_count) {
        uint32_t x = a[i], y = b[k];
        ret_values[count] = x;
        count += (x < y) & (x != last) & !(matched & 1);
        last = x <= y ? x : last;
        i += x <= y;
        matched >>= x <= y;
        k += y < x;
    }
    for (; i < a_count; i++, matched >>= 1) {
        uint32_t x = a[i];
        ret_values[count] = x;
        count += (x != last) & !(matched & 1);
        last = x;
    }
    return count;
}

static size_t difference(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                         uint32_t *ret_values)
{
    return difference_rest(a, a_count, b, b_count, 0, NULL, ret_values);
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) static bool repeats_avx2(const uint32_t *v, size_t count)
{
    size_t i = 1;
    for (; i + 8 <= count; i += 8) {
        __m256i here = _mm256_loadu_si256((const void *)(v + i));
        __m256i before = _mm256_loadu_si256((const void *)(v + i - 1));
        if (_mm256_movemask_epi8(_mm256_cmpeq_epi32(here, before)))
            return true;
    }
    for (; i < count; i++)
        if (v[i] == v[i - 1])
            return true;
    return false;
}

/* The lanes of x that are equal to any lane of y in the same half. */
__attribute__((target("avx2"))) static inline __m256i equal_in_half(__m256i x, __m256i y)
{
    enum { ONE = 0x39, TWO = 0x4e, THREE = 0x93 }; /* places by which a half is turned */
    __m256i even = _mm256_or_si256(_mm256_cmpeq_epi32(x, y),
                                   _mm256_cmpeq_epi32(x, _mm256_shuffle_epi32(y, TWO)));
    __m256i odd = _mm256_or_si256(_mm256_cmpeq_epi32(x, _mm256_shuffle_epi32(y, ONE)),
                                  _mm256_cmpeq_epi32(x, _mm256_shuffle_epi32(y, THREE)));
    return _mm256_or_si256(even, odd);
}

/* The lanes of x that are equal to any lane of y, as bits. Halves are turned, which
 * takes a third of the time of turning all eight lanes. */
__attribute__((target("avx2"))) static inline unsigned equal_avx2(__m256i x, __m256i y)
{
    __m256i swapped = _mm256_permute2x128_si256(y, y, 1);
    __m256i equal = _mm256_or_si256(equal_in_half(x, y), equal_in_half(x, swapped));
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(equal));
}

__attribute__((target("avx2"))) static size_t
intersect_avx2(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count, size_t need)
{
    enum { LANES = 8 };
    size_t i = 0, k = 0, shared = 0;
    if (repeats_avx2(a, a_count) || repeats_avx2(b, b_count))
        return merge(a, a_count, b, b_count, need);
    while (i + LANES <= a_count && k + LANES <= b_count) {
        if (shared + smaller(a_count - i, b_count - k) < need)
            return shared;
        __m256i x = _mm256_loadu_si256((const void *)(a + i));
        __m256i y = _mm256_loadu_si256((const void *)(b + k));
        shared += (size_t)__builtin_popcount(equal_avx2(x, y));
        uint32_t x_last = a[i + LANES - 1], y_last = b[k + LANES - 1];
        i += x_last <= y_last ? LANES : 0;
        k += y_last <= x_last ? LANES : 0;
    }
    /* One of the blocks here may have been compared already. Its values that matched cannot match
     * again, because the other side has each value once. */
    size_t rest = need > shared ? need - shared : 0;
    return shared + merge(a + i, a_count - i, b + k, b_count - k, rest);
}

__attribute__((target("avx2"))) static size_t difference_avx2(const uint32_t *a, size_t a_count,
                                                              const uint32_t *b, size_t b_count,
                                                              uint32_t *ret_values)
{
    enum { LANES = 8 };
    size_t i = 0, k = 0, count = 0;
    unsigned matched = 0; /* lanes of the block of a */
    uint64_t last = UINT64_MAX;
    while (i + LANES <= a_count && k + LANES <= b_count) {
        matched |= equal_avx2(_mm256_loadu_si256((const void *)(a + i)),
                              _mm256_loadu_si256((const void *)(b + k)));
        uint32_t x_last = a[i + LANES - 1], y_last = b[k + LANES - 1];
        k += y_last <= x_last ? LANES : 0;
        if (x_last > y_last)
            continue;
        for (unsigned j = 0; j < LANES; j++) {
            uint32_t x = a[i + j];
            ret_values[count] = x;
            count += (x != last) & !(matched >> j & 1);
            last = x;
        }
        i += LANES;
        matched = 0;
    }
    return count + difference_rest(a + i, a_count - i, b + k, b_count - k, matched,
                                   i ? a + i - 1 : NULL, ret_values + count);
}

/* The lanes of x that are equal to any lane of y. */
__attribute__((target("avx512f,avx512vl,avx2"))) static inline __mmask16 equal_avx512(__m512i x,
                                                                                      __m512i y)
{
    __mmask16 equal = _mm512_cmpeq_epi32_mask(x, y);
#define TURN(n) equal |= _mm512_cmpeq_epi32_mask(x, _mm512_alignr_epi32(y, y, n))
    TURN(1), TURN(2), TURN(3), TURN(4), TURN(5), TURN(6), TURN(7), TURN(8);
    TURN(9), TURN(10), TURN(11), TURN(12), TURN(13), TURN(14), TURN(15);
#undef TURN
    return equal;
}

__attribute__((target("avx512f,avx512vl,avx2"))) static size_t
intersect_avx512(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count, size_t need)
{
    enum { LANES = 16 };
    size_t i = 0, k = 0, shared = 0;
    if (repeats_avx2(a, a_count) || repeats_avx2(b, b_count))
        return merge(a, a_count, b, b_count, need);
    while (i + LANES <= a_count && k + LANES <= b_count) {
        if (shared + smaller(a_count - i, b_count - k) < need)
            return shared;
        __m512i x = _mm512_loadu_si512(a + i);
        __m512i y = _mm512_loadu_si512(b + k);
        shared += (size_t)__builtin_popcount(equal_avx512(x, y));
        uint32_t x_last = a[i + LANES - 1], y_last = b[k + LANES - 1];
        i += x_last <= y_last ? LANES : 0;
        k += y_last <= x_last ? LANES : 0;
    }
    size_t rest = need > shared ? need - shared : 0;
    return shared + merge(a + i, a_count - i, b + k, b_count - k, rest);
}

/* A whole block of results is written: at most as many as values of a have been read. */
__attribute__((target("avx512f,avx512vl,avx2"))) static size_t
difference_avx512(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                  uint32_t *ret_values)
{
    enum { LANES = 16 };
    size_t i = 0, k = 0, count = 0;
    __mmask16 matched = 0; /* lanes of the block of a */
    __m512i before = _mm512_set1_epi32(a_count ? (int)~a[0] : 0);
    while (i + LANES <= a_count && k + LANES <= b_count) {
        __m512i x = _mm512_loadu_si512(a + i);
        matched |= equal_avx512(x, _mm512_loadu_si512(b + k));
        uint32_t x_last = a[i + LANES - 1], y_last = b[k + LANES - 1];
        k += y_last <= x_last ? LANES : 0;
        if (x_last > y_last)
            continue;
        __m512i one_before = _mm512_alignr_epi32(x, before, LANES - 1);
        __mmask16 kept = _mm512_cmpneq_epi32_mask(x, one_before) & (__mmask16)~matched;
        _mm512_storeu_si512(ret_values + count, _mm512_maskz_compress_epi32(kept, x));
        count += (size_t)__builtin_popcount(kept);
        before = x;
        i += LANES;
        matched = 0;
    }
    return count + difference_rest(a + i, a_count - i, b + k, b_count - k, matched,
                                   i ? a + i - 1 : NULL, ret_values + count);
}

#endif

static const struct kernel {
    const char *name;
    intersect_fn intersect;
    difference_fn difference;
} kernels[] = {
#if defined(__x86_64__)
    {"avx512", intersect_avx512, difference_avx512},
    {"avx2", intersect_avx2, difference_avx2},
#endif
    {"portable", merge, difference},
};

static bool supported(const struct kernel *k)
{
#if defined(__x86_64__)
    if (k->intersect == intersect_avx512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
    if (k->intersect == intersect_avx2)
        return __builtin_cpu_supports("avx2");
#endif
    return k->intersect == merge;
}

static const struct kernel *chosen;

/* A constructor, so that it runs before any thread compares. */
__attribute__((constructor)) static void choose(void)
{
    const struct kernel *k = kernels;
#if defined(__x86_64__)
    __builtin_cpu_init();
#endif
    while (!supported(k))
        k++;
    chosen = k;
}

const char *sp_similarity_kernel(void)
{
    return chosen->name;
}

bool sp_similarity_use(const char *kernel)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(kernels[i].name, kernel) == 0 && supported(&kernels[i])) {
            chosen = &kernels[i];
            return true;
        }
    return false;
}

size_t sp_intersect(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                    size_t need)
{
    /* The kernels add to both pointers, and without values these may be NULL. */
    return a_count && b_count ? chosen->intersect(a, a_count, b, b_count, need) : 0;
}

size_t sp_difference(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                     uint32_t *ret_values)
{
    difference_fn kernel = a_count && b_count ? chosen->difference : difference;
    return kernel(a, a_count, b, b_count, ret_values);
}

bool sp_intersect_reaches(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                          size_t need)
{
    size_t i = 0, k = 0, shared = 0;
    while (shared < need && shared + smaller(a_count - i, b_count - k) >= need) {
        uint32_t x = a[i], y = b[k];
        shared += x == y;
        i += x <= y;
        k += y <= x;
    }
    return shared >= need;
}
