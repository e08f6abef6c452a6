/* See tally.h. */
#include "similarity/tally.h"

#include <stdbool.h>
#include <stddef.h>

enum { PLANES_MOST = 33, FEW_MOST = 3 };

typedef uint64_t block __attribute__((vector_size(8 * SP_TALLY_WORDS), aligned(8), may_alias));
typedef uint64_t half __attribute__((vector_size(4 * SP_TALLY_WORDS), aligned(8), may_alias));

static inline uint32_t bits_of(uint32_t number)
{
    return number ? 32 - (uint32_t)__builtin_clz(number) : 0;
}

/* Bit p of eight numbers: all bits of their words, or none. */
static inline __attribute__((always_inline)) void bit_of_eight(const uint32_t *numbers, uint32_t p,
                                                               block *ret_bits)
{
    for (uint32_t i = 0; i < SP_TALLY_WORDS; i++)
        (*ret_bits)[i] = -(uint64_t)(numbers[i] >> p & 1);
}

/* The sums of the rows are kept bit by bit: sum[p] has bit p of the sum of each item. They stay in
 * registers if their number is known when this is compiled. */
static inline __attribute__((always_inline)) void
add_up_in(uint32_t planes, const uint64_t *const *rows, uint32_t row_count, uint32_t at,
          const uint32_t *least, uint64_t *ret_words)
{
    block sum[PLANES_MOST], more = {0}, equal = ~more;
    for (uint32_t p = 0; p < planes; p++)
        sum[p] = more;
    for (uint32_t i = 0; i < row_count; i++) {
        block carry = *(const block *)(rows[i] + at);
        for (uint32_t p = 0; p < planes; p++) {
            block both = sum[p] & carry;
            sum[p] ^= carry;
            carry = both;
        }
    }
    for (uint32_t p = planes; p-- > 0;) {
        block bit;
        bit_of_eight(least + at, p, &bit);
        more |= equal & sum[p] & ~bit;
        equal &= ~(sum[p] ^ bit);
    }
    *(block *)(ret_words + at) = more | equal;
}

static inline __attribute__((always_inline)) void add_up(const uint64_t *const *rows,
                                                         uint32_t row_count, uint32_t at,
                                                         const uint32_t *least, uint64_t *ret_words)
{
    uint32_t planes = bits_of(row_count + 1);
    if (planes <= 3)
        add_up_in(3, rows, row_count, at, least, ret_words);
    else if (planes == 4)
        add_up_in(4, rows, row_count, at, least, ret_words);
    else if (planes == 5)
        add_up_in(5, rows, row_count, at, least, ret_words);
    else if (planes == 6)
        add_up_in(6, rows, row_count, at, least, ret_words);
    else
        add_up_in(planes, rows, row_count, at, least, ret_words);
}

static inline bool is_zero(const half *b)
{
    return !((*b)[0] | (*b)[1] | (*b)[2] | (*b)[3]);
}

/* The same if all words of the block allow that fewer than `planes` rows have no bit: without[p]
 * has the columns for which more than p have none. Soon most columns are ruled out, and then the
 * other rows are not read. */
static inline __attribute__((always_inline)) void rule_out_in(uint32_t planes,
                                                              const uint64_t *const *rows,
                                                              uint32_t row_count, uint32_t at,
                                                              uint64_t *ret_words)
{
    enum { EACH = sizeof(half) / sizeof(uint64_t) };
    for (uint32_t end = at + SP_TALLY_WORDS; at < end; at += EACH) {
        half without[FEW_MOST] = {0};
        half left = ~without[0];
        for (uint32_t i = 0; i < row_count && !is_zero(&left); i++) {
            half none = ~*(const half *)(rows[i] + at);
            for (uint32_t p = planes; p-- > 1;)
                without[p] |= without[p - 1] & none;
            without[0] |= none;
            left = ~without[planes - 1];
        }
        *(half *)(ret_words + at) = left;
    }
}

static inline bool are_equal(const uint32_t *least)
{
    uint32_t differ = 0;
    for (uint32_t i = 1; i < SP_TALLY_WORDS; i++)
        differ |= least[i] ^ least[0];
    return !differ;
}

static inline __attribute__((always_inline)) void tally(const uint64_t *const *rows,
                                                        uint32_t row_count,
                                                        struct sp_tally_range range,
                                                        const uint32_t *least, uint64_t *ret_words)
{
    for (uint32_t at = range.from; at < range.end; at += SP_TALLY_WORDS) {
        uint32_t few = are_equal(least + at) ? row_count - least[at] : FEW_MOST;
        if (few == 0)
            rule_out_in(1, rows, row_count, at, ret_words);
        else if (few == 1)
            rule_out_in(2, rows, row_count, at, ret_words);
        else if (few == 2)
            rule_out_in(3, rows, row_count, at, ret_words);
        else
            add_up(rows, row_count, at, least, ret_words);
    }
}

static void tally_portable(const uint64_t *const *rows, uint32_t row_count,
                           struct sp_tally_range range, const uint32_t *least, uint64_t *ret_words)
{
    tally(rows, row_count, range, least, ret_words);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void tally_avx2(const uint64_t *const *rows,
                                                       uint32_t row_count,
                                                       struct sp_tally_range range,
                                                       const uint32_t *least, uint64_t *ret_words)
{
    tally(rows, row_count, range, least, ret_words);
}

__attribute__((target("avx512f"))) static void
tally_avx512(const uint64_t *const *rows, uint32_t row_count, struct sp_tally_range range,
             const uint32_t *least, uint64_t *ret_words)
{
    tally(rows, row_count, range, least, ret_words);
}
#endif

sp_tally_function *sp_tally_of(enum sp_tally_kind kind)
{
#if defined(__x86_64__)
    if (kind == SP_TALLY_AVX2)
        return __builtin_cpu_supports("avx2") ? tally_avx2 : NULL;
    if (kind == SP_TALLY_AVX512)
        return __builtin_cpu_supports("avx512f") ? tally_avx512 : NULL;
#endif
    return kind == SP_TALLY_PORTABLE ? tally_portable : NULL;
}

void sp_tally(const uint64_t *const *rows, uint32_t row_count, struct sp_tally_range range,
              const uint32_t *least, uint64_t *ret_words)
{
    sp_tally_function *best = NULL;
    for (enum sp_tally_kind kind = SP_TALLY_KINDS; !best && kind-- > 0;)
        best = sp_tally_of(kind);
    best(rows, row_count, range, least, ret_words);
}
