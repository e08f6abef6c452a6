/* Differences of two texts: what is not marked is the same sequence in both. */
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "harness.h"
#include "report/internal.h"

enum { MOST = 60 };

/* The length of the longest common subsequence, by dynamic programming. */
static size_t common(const uint64_t *a, size_t n, const uint64_t *b, size_t m)
{
    size_t table[MOST + 1][MOST + 1] = {{0}};
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            size_t up = table[i - 1][j], left = table[i][j - 1];
            table[i][j] = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1 : up > left ? up : left;
        }
    return table[n][m];
}

static void check(const uint64_t *a, size_t n, const uint64_t *b, size_t m, size_t most,
                  bool smallest)
{
    bool in_a[MOST], in_b[MOST];
    uint64_t kept_a[MOST], kept_b[MOST];
    size_t x = 0, y = 0;
    memset(in_a, 2, sizeof in_a); /* every mark must be overwritten */
    memset(in_b, 2, sizeof in_b);
    sp_diff_words(a, n, b, m, most, in_a, in_b);
    for (size_t i = 0; i < n; i++)
        if (!in_a[i])
            kept_a[x++] = a[i];
    for (size_t i = 0; i < m; i++)
        if (!in_b[i])
            kept_b[y++] = b[i];
    CU_ASSERT_EQUAL(x, y);
    CU_ASSERT(x == y && (x == 0 || memcmp(kept_a, kept_b, x * sizeof *kept_a) == 0));
    if (smallest)
        CU_ASSERT_EQUAL(x, common(a, n, b, m));
}

TEST(what_is_not_marked_is_the_longest_common_sequence)
{
    uint64_t random = 7, a[MOST], b[MOST];
    for (int round = 0; round < 3000; round++) {
        size_t n = (random = sp_mix64(random + 1)) % (MOST + 1);
        size_t m = (random >> 20) % (MOST + 1);
        uint64_t letters = 1 + (random >> 40) % 8;
        for (size_t i = 0; i < MOST; i++) {
            a[i] = (random = sp_mix64(random + i)) % letters;
            b[i] = random >> 50 & 3 ? a[i] : (random >> 30) % letters;
        }
        check(a, n, b, m, 1000, true);
    }
}

TEST(texts_that_differ_too_much_are_marked_between_their_common_ends)
{
    uint64_t a[] = {1, 2, 3, 4, 5, 6, 7, 8}, b[] = {1, 2, 13, 4, 15, 6, 17, 8};
    bool in_a[8], in_b[8];
    check(a, 8, b, 8, 2, false);
    sp_diff_words(a, 8, b, 8, 2, in_a, in_b);
    for (size_t i = 0; i < 8; i++)
        CU_ASSERT_EQUAL(in_a[i], i >= 2 && i < 7);
    check(a, 0, b, 0, 5, true);
    check(a, 8, b, 0, 5, false);
}
