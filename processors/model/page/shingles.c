/* See shingles.h.
 *
 * A shingle's hash is a linear combination of its words' 64-bit hashes with an odd constant for
 * each position, followed by a finaliser. The five multiplications are independent, so that the
 * compiler makes vector code of them, even without 64-bit vector multiplication (AVX-512DQ).
 *
 * Sorting: hashes are uniform, so one scatter into about as many buckets as there are shingles puts
 * each within a few places of its final one. With vectors, as many rounds of an odd-even
 * transposition sort (Habermann 1972; Knuth 5.3.4) finish as the fullest bucket has keys; without,
 * or if a bucket has many, an insertion sort. The order of equal keys does not matter. A page that
 * repeats one word fills one bucket, which is then sorted already. To make the sort quadratic, an
 * attacker would have to find many different hashes for one bucket; the insertion sort has a limit
 * even so, and qsort takes over. */
#include "page/shingles.h"

#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/clones.h"
#include "base/hash.h"
#include "base/order.h"

static const uint64_t position[SP_SHINGLE_WORDS] = {
    0x9e3779b97f4a7c15ull, 0xc2b2ae3d27d4eb4full, 0x165667b19e3779f9ull,
    0xd6e8feb86659fd93ull, 0xa0761d6478bd642full,
};

static inline __attribute__((always_inline)) void hash_all(const uint64_t *words, size_t count,
                                                           uint32_t *restrict ret_shingles)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t h = words[i] * position[0] + words[i + 1] * position[1] +
                     words[i + 2] * position[2] + words[i + 3] * position[3] +
                     words[i + 4] * position[4];
        ret_shingles[i] = (uint32_t)(sp_mix64(h) >> 32);
    }
}

void sp_shingles_hash_portable(const uint64_t *words, size_t count, uint32_t *ret_shingles)
{
    hash_all(words, count, ret_shingles);
}

#if defined(__x86_64__)
#ifdef __clang__ /* does not know prefer-vector-width, and warns */
#define AVX512 "avx512f,avx512dq,avx512vl"
#else
#define AVX512 "avx512f,avx512dq,avx512vl,prefer-vector-width=512"
#endif
__attribute__((target(AVX512))) static void hash_avx512(const uint64_t *words, size_t count,
                                                        uint32_t *ret_shingles)
{
    hash_all(words, count, ret_shingles);
}

__attribute__((target("avx2"))) static void hash_avx2(const uint64_t *words, size_t count,
                                                      uint32_t *ret_shingles)
{
    hash_all(words, count, ret_shingles);
}
#endif

void sp_shingles_hash(const uint64_t *words, size_t count, uint32_t *ret_shingles)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        hash_avx512(words, count, ret_shingles);
        return;
    }
    if (__builtin_cpu_supports("avx2")) {
        hash_avx2(words, count, ret_shingles);
        return;
    }
#endif
    hash_all(words, count, ret_shingles);
}

static const uint64_t third = UINT64_MAX / 3;

static inline void set_thirds(uint64_t count, uint64_t beyond_first, uint64_t last,
                              uint32_t ret_length[SP_DIMS])
{
    _Static_assert(SP_DIMS == 3, "thirds");
    ret_length[0] = (uint32_t)(count - beyond_first);
    ret_length[1] = (uint32_t)(beyond_first - last);
    ret_length[2] = (uint32_t)last;
}

/* Counts words by the third of the range of hashes that they are in. */
static inline __attribute__((always_inline)) void count_thirds(const uint64_t *words, size_t count,
                                                               uint32_t ret_length[SP_DIMS])
{
    uint64_t beyond_first = 0, last = 0;
    for (size_t i = 0; i < count; i++) {
        beyond_first += words[i] >= third;
        last += words[i] >= 2 * third;
    }
    set_thirds(count, beyond_first, last, ret_length);
}

void sp_shingles_thirds_portable(const uint64_t *words, size_t count, uint32_t ret_length[SP_DIMS])
{
    count_thirds(words, count, ret_length);
}

#if defined(__x86_64__)
__attribute__((target(AVX512))) static void thirds_avx512(const uint64_t *words, size_t count,
                                                          uint32_t ret_length[SP_DIMS])
{
    count_thirds(words, count, ret_length);
}

__attribute__((target("avx2"))) static void thirds_avx2(const uint64_t *words, size_t count,
                                                        uint32_t ret_length[SP_DIMS])
{
    count_thirds(words, count, ret_length);
}
#endif

static void lengths_by_hash(const uint64_t *words, size_t count, uint32_t ret_length[SP_DIMS])
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        thirds_avx512(words, count, ret_length);
        return;
    }
    if (__builtin_cpu_supports("avx2")) {
        thirds_avx2(words, count, ret_length);
        return;
    }
#endif
    count_thirds(words, count, ret_length);
}

/* Whether the third of a word's hash is its sub-dictionary. */
static bool is_by_hash(const struct sp_dictionary *d)
{
    return !d || (d->count == 0 && d->dims == SP_DIMS);
}

void sp_shingles_lengths(const uint64_t *words, size_t count,
                         const struct sp_dictionary *dictionary, uint32_t ret_length[SP_DIMS])
{
    if (is_by_hash(dictionary)) {
        lengths_by_hash(words, count, ret_length);
        return;
    }
    memset(ret_length, 0, SP_DIMS * sizeof *ret_length);
    for (size_t i = 0; i < count; i++)
        ret_length[sp_dictionary_sub(dictionary, words[i])]++;
}

size_t sp_shingles_table(size_t count)
{
    size_t cap = 64;
    while (cap < 2 * count)
        cap *= 2;
    return cap;
}

/* A set of shingles in the caller's memory: open addressing of buckets, whose free places are the
 * last. */
struct seen {
    uint32_t *table; /* 0: free */
    size_t mask;
    bool zero; /* the shingle 0 was added */
};

enum { BUCKET = 4 };

static struct seen seen_none(uint32_t *table, size_t count)
{
    size_t cap = sp_shingles_table(count);
    memset(table, 0, cap * sizeof *table);
    return (struct seen){table, cap - BUCKET, false};
}

/* Bit i is set if place i of the bucket has the shingle, which *ret_has says, or is free. */
static inline unsigned places_for(const uint32_t *bucket, uint32_t shingle, bool *ret_has)
{
#if defined(__x86_64__)
    __m128i places = _mm_loadu_si128((const void *)bucket);
    __m128i has = _mm_cmpeq_epi32(places, _mm_set1_epi32((int)shingle));
    __m128i is_free = _mm_cmpeq_epi32(places, _mm_setzero_si128());
    *ret_has = _mm_movemask_epi8(has) != 0;
    return (unsigned)_mm_movemask_ps(_mm_castsi128_ps(_mm_or_si128(has, is_free)));
#else
    unsigned found = 0;
    *ret_has = false;
    for (unsigned i = 0; i < BUCKET; i++) {
        found |= (unsigned)(bucket[i] == shingle || bucket[i] == 0) << i;
        *ret_has |= bucket[i] == shingle;
    }
    return found;
#endif
}

/* Returns false if it was there already. Without branches that cannot be predicted: whether a
 * shingle is a repeat, and what else its bucket has. So callers add the result. `zeros`: a shingle
 * may be 0, which also stands for a free place. */
static inline __attribute__((always_inline)) bool seen_add(struct seen *s, uint32_t shingle,
                                                           bool zeros)
{
    bool has;
    size_t at = shingle & s->mask;
    unsigned places = places_for(s->table + at, shingle, &has);
    while (__builtin_expect(places == 0, 0)) {
        at = (at + BUCKET) & s->mask;
        places = places_for(s->table + at, shingle, &has);
    }
    bool repeat = has;
    if (zeros) {
        repeat = has & ((shingle != 0) | s->zero);
        s->zero |= shingle == 0;
    }
    s->table[at + (unsigned)__builtin_ctz(places)] = shingle;
    return !repeat;
}

static bool has_zero(const uint32_t *shingles, size_t count)
{
    uint32_t zeros = 0;
    for (size_t i = 0; i < count; i++)
        zeros += shingles[i] == 0;
    return zeros > 0;
}

/* The same as below with thirds, whose counts stay in registers. */
static inline __attribute__((always_inline)) size_t
once_by_hash(const uint64_t *words, uint32_t *shingles, size_t count, uint32_t *table,
             uint32_t ret_length[SP_DIMS], bool zeros)
{
    size_t kept = 0;
    uint64_t beyond_first = 0, last = 0;
    struct seen seen = seen_none(table, count);
    for (size_t i = 0; i < count; i++) {
        bool first = seen_add(&seen, shingles[i], zeros);
        shingles[kept] = shingles[i];
        kept += first;
        beyond_first += first & (words[i] >= third);
        last += first & (words[i] >= 2 * third);
    }
    set_thirds(kept, beyond_first, last, ret_length);
    return kept;
}

SP_CLONES size_t sp_shingles_once(const uint64_t *words, uint32_t *shingles, size_t count,
                                  uint32_t *table, const struct sp_dictionary *dictionary,
                                  uint32_t ret_length[SP_DIMS])
{
    if (is_by_hash(dictionary))
        return has_zero(shingles, count)
                   ? once_by_hash(words, shingles, count, table, ret_length, true)
                   : once_by_hash(words, shingles, count, table, ret_length, false);
    size_t kept = 0;
    struct seen seen = seen_none(table, count);
    memset(ret_length, 0, SP_DIMS * sizeof *ret_length);
    for (size_t i = 0; i < count; i++) {
        bool first = seen_add(&seen, shingles[i], true);
        shingles[kept] = shingles[i];
        kept += first;
        ret_length[sp_dictionary_sub(dictionary, words[i])] += first;
    }
    return kept;
}

size_t sp_shingles_first_words(uint64_t *words, const uint32_t *shingles, size_t count,
                               uint32_t *table)
{
    size_t kept = 0;
    struct seen seen = seen_none(table, count);
    for (size_t i = 0; i < count; i++) {
        words[kept] = words[i];
        kept += seen_add(&seen, shingles[i], true);
    }
    return kept;
}

/* Returns false if it gave up because the keys are not uniform. */
static bool insertion_sort(uint32_t *keys, size_t count)
{
    size_t budget = 8 * count + 64;
    for (size_t i = 1; i < count; i++) {
        uint32_t key = keys[i];
        size_t k = i;
        for (; k > 0 && keys[k - 1] > key; k--)
            keys[k] = keys[k - 1];
        keys[k] = key;
        if (i - k > budget)
            return false;
        budget -= i - k;
    }
    return true;
}

#if defined(__x86_64__)
/* Each pair of neighbours is a number of 64 bits, whose upper half is the second: the greater of it
 * and of the pair turned round is in order. The compiler makes vector code of it. */
static inline __attribute__((always_inline)) void sort_rounds(uint32_t *keys, size_t count,
                                                              size_t rounds)
{
    for (size_t round = 0; round < rounds; round++) {
        uint32_t *from = keys + (round & 1);
        for (size_t i = 0; i < (count - (round & 1)) / 2; i++) {
            uint64_t pair;
            memcpy(&pair, from + 2 * i, sizeof pair);
            uint64_t turned = pair << 32 | pair >> 32;
            pair = pair > turned ? pair : turned;
            memcpy(from + 2 * i, &pair, sizeof pair);
        }
    }
}

__attribute__((target(AVX512))) static void sort_rounds_avx512(uint32_t *keys, size_t count,
                                                               size_t rounds)
{
    sort_rounds(keys, count, rounds);
}

/* AVX2 compares 32 bits faster than 64. */
__attribute__((target("avx2"))) static void sort_rounds_avx2(uint32_t *keys, size_t count,
                                                             size_t rounds)
{
    for (size_t round = 0; round < rounds; round++) {
        uint32_t *at = keys + (round & 1);
        size_t pairs = (count - (round & 1)) / 2;
        for (; pairs >= 4; pairs -= 4, at += 8) {
            __m256i given = _mm256_loadu_si256((const __m256i *)at);
            __m256i turned = _mm256_shuffle_epi32(given, 0xb1);
            __m256i least = _mm256_min_epu32(given, turned);
            __m256i most = _mm256_max_epu32(given, turned);
            _mm256_storeu_si256((__m256i *)at, _mm256_blend_epi32(least, most, 0xaa));
        }
        sort_rounds(at, 2 * pairs, 1);
    }
}
#endif

/* Sorts keys that are in order but for those of one bucket, of which the fullest has so many.
 * Returns false if it cannot do that quickly. */
static bool sort_within(uint32_t *keys, size_t count, size_t fullest)
{
#if defined(__x86_64__)
    enum { MOST_ROUNDS = 24 };
    if (count > 0 && fullest <= MOST_ROUNDS) {
        if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
            sort_rounds_avx512(keys, count, fullest);
            return true;
        }
        if (__builtin_cpu_supports("avx2")) {
            sort_rounds_avx2(keys, count, fullest);
            return true;
        }
    }
#endif
    (void)fullest;
    return insertion_sort(keys, count);
}

SP_CLONES void sp_shingles_sort(uint32_t *shingles, uint32_t *scratch, size_t count)
{
    enum { MIN_BITS = 4, MAX_BITS = 16 };
    uint32_t ends[1u << MAX_BITS];
    unsigned bits = MIN_BITS;
    while (bits < MAX_BITS && (2u << bits) <= count)
        bits++;
    unsigned shift = 32 - bits;
    memset(ends, 0, sizeof *ends << bits);
    for (size_t i = 0; i < count; i++)
        ends[shingles[i] >> shift]++;
    uint32_t sum = 0, fullest = 0;
    for (size_t b = 0; b < 1u << bits; b++) {
        uint32_t n = ends[b];
        ends[b] = sum;
        sum += n;
        fullest = n > fullest ? n : fullest;
    }
    for (size_t i = 0; i < count; i++)
        scratch[ends[shingles[i] >> shift]++] = shingles[i];
    memcpy(shingles, scratch, count * sizeof *shingles);
    if (!sort_within(shingles, count, fullest))
        qsort(shingles, count, sizeof *shingles, sp_by_u32);
}

/* Takes out the second and later occurrences, gives them new hashes, and merges them back. */
void sp_shingles_label(uint32_t *shingles, uint32_t *scratch, size_t count)
{
    size_t kept = 0, moved = 0;
    uint32_t occurrence = 0, last = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t shingle = shingles[i];
        occurrence = i > 0 && shingle == last ? occurrence + 1 : 0;
        last = shingle;
        if (occurrence)
            scratch[moved++] = (uint32_t)(sp_mix64((uint64_t)occurrence << 32 | shingle) >> 32);
        else
            shingles[kept++] = shingle;
    }
    if (moved == 0)
        return;
    sp_shingles_sort(scratch, shingles + kept, moved);
    for (size_t out = count; moved > 0;) {
        if (kept > 0 && shingles[kept - 1] > scratch[moved - 1])
            shingles[--out] = shingles[--kept];
        else
            shingles[--out] = scratch[--moved];
    }
}
