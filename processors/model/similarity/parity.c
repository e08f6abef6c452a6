/* See parity.h. */
#include "similarity/parity.h"

#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

uint32_t sp_parity_words(uint32_t shingles, uint32_t bits_each)
{
    uint32_t words = 1;
    while (words < SP_PARITY_WORDS_MAX && 64ull * words < (uint64_t)shingles * bits_each)
        words *= 2;
    return words;
}

static inline uint32_t bit_of(uint32_t shingle, uint32_t bits)
{
    return (shingle * 2654435761u >> 4) & (bits - 1);
}

void sp_parity_of_portable(const uint32_t *shingles, uint32_t count, uint32_t words,
                           uint64_t *ret_words)
{
    uint32_t bits = 64 * words;
    memset(ret_words, 0, bits / 8);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = bit_of(shingles[i], bits);
        ret_words[at / 64] ^= 1ull << at % 64;
    }
}

#if defined(__x86_64__)
/* Flips bytes: shingles of one word would wait for one another. */
__attribute__((target("avx512f,avx512bw"))) static void
of_avx512(const uint32_t *shingles, uint32_t count, uint32_t words, uint64_t *ret_words)
{
    uint8_t flips[64 * SP_PARITY_WORDS_MAX];
    memset(flips, 0, 64ul * words);
    for (uint32_t i = 0; i < count; i++)
        flips[bit_of(shingles[i], 64 * words)] ^= 1;
    for (uint32_t i = 0; i < words; i++) {
        __m512i bytes = _mm512_loadu_si512(flips + 64ul * i);
        ret_words[i] = _mm512_test_epi8_mask(bytes, bytes);
    }
}

__attribute__((target("avx2"))) static void of_avx2(const uint32_t *shingles, uint32_t count,
                                                    uint32_t words, uint64_t *ret_words)
{
    uint8_t flips[64 * SP_PARITY_WORDS_MAX];
    memset(flips, 0, 64ul * words);
    for (uint32_t i = 0; i < count; i++)
        flips[bit_of(shingles[i], 64 * words)] ^= 0x80;
    for (uint32_t i = 0; i < words; i++) {
        const __m256i *bytes = (const __m256i *)(flips + 64ul * i);
        uint32_t low = (uint32_t)_mm256_movemask_epi8(_mm256_loadu_si256(bytes));
        uint32_t high = (uint32_t)_mm256_movemask_epi8(_mm256_loadu_si256(bytes + 1));
        ret_words[i] = (uint64_t)high << 32 | low;
    }
}
#endif

void sp_parity_of_shingles(const uint32_t *shingles, uint32_t count, uint32_t words,
                           uint64_t *ret_words)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512bw")) {
        of_avx512(shingles, count, words, ret_words);
        return;
    }
    if (__builtin_cpu_supports("avx2")) {
        of_avx2(shingles, count, words, ret_words);
        return;
    }
#endif
    sp_parity_of_portable(shingles, count, words, ret_words);
}

static inline __attribute__((always_inline)) uint32_t
distance(const uint64_t *small, uint32_t least, const uint64_t *large, uint32_t most)
{
    uint32_t bits = 0;
    if (least == most) { /* nearly always: texts of one length */
        for (uint32_t i = 0; i < most; i++)
            bits += (uint32_t)__builtin_popcountll(small[i] ^ large[i]);
        return bits;
    }
    for (uint32_t i = 0; i < least; i++) {
        uint64_t folded = small[i];
        for (uint32_t k = i; k < most; k += least)
            folded ^= large[k];
        bits += (uint32_t)__builtin_popcountll(folded);
    }
    return bits;
}

static inline __attribute__((always_inline)) uint32_t brief_distance(const uint64_t *a,
                                                                     const uint64_t *b)
{
    return (uint32_t)__builtin_popcountll(a[0] ^ b[0]) +
           (uint32_t)__builtin_popcountll(a[1] ^ b[1]);
}

/* The most bits in which the brief patterns of x and of an item that is not ruled out differ. If
 * that is half of their bits, as in random patterns, they are of no use. */
static inline int64_t brief_most(const struct sp_parity_wide *x, const struct sp_parity_list *list)
{
    double most = x->most + list->largest_most;
    return most < 64 * SP_PARITY_BRIEF / 2.5 ? (int64_t)most : INT64_MAX;
}

/* In how many bits x differs from one of eight patterns of so many words. */
static inline __attribute__((always_inline)) int64_t
distance_of(const uint64_t *x, const uint64_t (*eight)[8], uint32_t item, uint32_t words)
{
    int64_t bits = 0;
    for (uint32_t k = 0; k < words; k++)
        bits += __builtin_popcountll(x[k] ^ eight[k][item]);
    return bits;
}

static inline __attribute__((always_inline)) uint64_t
near_of(const struct sp_parity_wide *x, const struct sp_parity_list *list, uint32_t count)
{
    uint64_t near = 0, brief[SP_PARITY_BRIEF];
    int64_t most = brief_most(x, list);
    sp_parity_brief(x->words, SP_PARITY_WIDE, brief);
    for (uint32_t i = 0; i < count; i++) {
        if (most < INT64_MAX &&
            distance_of(brief, list->briefs[i / 8], i % 8, SP_PARITY_BRIEF) > most)
            continue;
        int64_t bits = distance_of(x->words, list->words[i / 8], i % 8, SP_PARITY_WIDE);
        near |= (uint64_t)((double)bits <= x->most + list->most[i / 8][i % 8]) << i;
    }
    return near;
}

#if defined(__x86_64__)
__attribute__((target("popcnt"))) static uint64_t
near_popcnt(const struct sp_parity_wide *x, const struct sp_parity_list *list, uint32_t count)
{
    return near_of(x, list, count);
}

#define AVX512 "avx512f,avx512dq,avx512vpopcntdq"

/* In how many bits x differs from each of eight patterns of so many words. */
__attribute__((target(AVX512))) static inline __m512i
distances_avx512(const uint64_t *x, const uint64_t (*eight)[8], uint32_t words)
{
    __m512i bits = _mm512_setzero_si512();
    for (uint32_t k = 0; k < words; k++) {
        __m512i differ =
            _mm512_xor_si512(_mm512_set1_epi64((int64_t)x[k]), _mm512_loadu_si512(eight[k]));
        bits = _mm512_add_epi64(bits, _mm512_popcnt_epi64(differ));
    }
    return bits;
}

__attribute__((target(AVX512))) static uint64_t
near_avx512(const struct sp_parity_wide *x, const struct sp_parity_list *list, uint32_t count)
{
    uint64_t near = 0, brief[SP_PARITY_BRIEF];
    int64_t most = brief_most(x, list);
    sp_parity_brief(x->words, SP_PARITY_WIDE, brief);
    for (uint32_t i = 0; i < (count + 7) / 8; i++) {
        if (most < INT64_MAX &&
            !_mm512_cmple_epi64_mask(distances_avx512(brief, list->briefs[i], SP_PARITY_BRIEF),
                                     _mm512_set1_epi64(most)))
            continue;
        __m512i bits = distances_avx512(x->words, list->words[i], SP_PARITY_WIDE);
        __m512d both = _mm512_add_pd(_mm512_set1_pd(x->most), _mm512_loadu_pd(list->most[i]));
        __mmask8 eight = _mm512_cmp_pd_mask(_mm512_cvtepi64_pd(bits), both, _CMP_LE_OQ);
        near |= (uint64_t)eight << 8 * i;
    }
    return count < SP_PARITY_AT_ONCE ? near & ((1ull << count) - 1) : near;
}

__attribute__((target("popcnt"))) static uint32_t brief_distance_popcnt(const uint64_t *a,
                                                                        const uint64_t *b)
{
    return brief_distance(a, b);
}

/* Of patterns of equal sizes, of eight words or more. */
__attribute__((target(AVX512))) static uint32_t distance_avx512(const uint64_t *a,
                                                                const uint64_t *b, uint32_t words)
{
    __m512i bits = _mm512_setzero_si512();
    for (uint32_t i = 0; i < words; i += 8) {
        __m512i differ = _mm512_xor_si512(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i));
        bits = _mm512_add_epi64(bits, _mm512_popcnt_epi64(differ));
    }
    return (uint32_t)_mm512_reduce_add_epi64(bits);
}

__attribute__((target("popcnt"))) static uint32_t
distance_popcnt(const uint64_t *small, uint32_t least, const uint64_t *large, uint32_t most)
{
    return distance(small, least, large, most);
}
#endif

uint32_t sp_parity_distance_portable(const uint64_t *a, uint32_t a_words, const uint64_t *b,
                                     uint32_t b_words)
{
    return a_words < b_words ? distance(a, a_words, b, b_words) : distance(b, b_words, a, a_words);
}

uint32_t sp_parity_distance(const uint64_t *a, uint32_t a_words, const uint64_t *b,
                            uint32_t b_words)
{
#if defined(__x86_64__)
    if (a_words == b_words && a_words >= 8 && __builtin_cpu_supports("avx512vpopcntdq"))
        return distance_avx512(a, b, a_words);
    if (__builtin_cpu_supports("popcnt"))
        return a_words < b_words ? distance_popcnt(a, a_words, b, b_words)
                                 : distance_popcnt(b, b_words, a, a_words);
#endif
    return sp_parity_distance_portable(a, a_words, b, b_words);
}

void sp_parity_brief(const uint64_t *pattern, uint32_t words, uint64_t ret_words[SP_PARITY_BRIEF])
{
    memset(ret_words, 0, SP_PARITY_BRIEF * sizeof *ret_words);
    for (uint32_t i = 0; i < words; i++)
        ret_words[i % SP_PARITY_BRIEF] ^= pattern[i];
}

uint32_t sp_parity_brief_distance(const uint64_t a[SP_PARITY_BRIEF],
                                  const uint64_t b[SP_PARITY_BRIEF])
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("popcnt"))
        return brief_distance_popcnt(a, b);
#endif
    return brief_distance(a, b);
}

void sp_parity_widen(const uint64_t *pattern, uint32_t words, uint64_t ret_words[SP_PARITY_WIDE])
{
    memset(ret_words, 0, SP_PARITY_WIDE * sizeof *ret_words);
    for (uint32_t i = 0; i < words; i++)
        ret_words[i % SP_PARITY_WIDE] ^= pattern[i];
}

void sp_parity_put(struct sp_parity_list *list, uint32_t item, const struct sp_parity_wide *pattern)
{
    uint64_t brief[SP_PARITY_BRIEF];
    sp_parity_brief(pattern->words, SP_PARITY_WIDE, brief);
    for (uint32_t k = 0; k < SP_PARITY_BRIEF; k++)
        list->briefs[item / 8][k][item % 8] = brief[k];
    for (uint32_t k = 0; k < SP_PARITY_WIDE; k++)
        list->words[item / 8][k][item % 8] = pattern->words[k];
    list->most[item / 8][item % 8] = pattern->most;
    if (pattern->most > list->largest_most)
        list->largest_most = pattern->most;
}

void sp_parity_get(const struct sp_parity_list *list, uint32_t item,
                   struct sp_parity_wide *ret_pattern)
{
    for (uint32_t k = 0; k < SP_PARITY_WIDE; k++)
        ret_pattern->words[k] = list->words[item / 8][k][item % 8];
    ret_pattern->most = list->most[item / 8][item % 8];
}

uint64_t sp_parity_near_portable(const struct sp_parity_wide *x, const struct sp_parity_list *list,
                                 uint32_t count)
{
    return near_of(x, list, count);
}

uint64_t sp_parity_near(const struct sp_parity_wide *x, const struct sp_parity_list *list,
                        uint32_t count)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vpopcntdq"))
        return near_avx512(x, list, count);
    if (__builtin_cpu_supports("popcnt"))
        return near_popcnt(x, list, count);
#endif
    return sp_parity_near_portable(x, list, count);
}
