/* Myers, "An O(ND) Difference Algorithm and Its Variations", Algorithmica 1986: a greedy search
 * over diagonals for the shortest edit script of D insertions and deletions. As |LCS| = (N + M - D)
 * / 2, a least length bounds D. */
#include "similarity/lcs.h"

#include <stdbool.h>

#include "base/mem.h"

size_t sp_lcs_length(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                     size_t need)
{
    long n = (long)a_count, m = (long)b_count, most = n + m;
    if (need > (size_t)(n < m ? n : m))
        return 0;
    /* furthest[k]: how far along a the search has come on diagonal k. */
    long *memory = sp_calloc((size_t)(2 * most + 3), sizeof *memory);
    long *furthest = memory + most + 1;
    for (long d = 0; d <= most - 2 * (long)need; d++) {
        for (long k = -d; k <= d; k += 2) {
            bool down = k == -d || (k != d && furthest[k - 1] < furthest[k + 1]);
            long x = down ? furthest[k + 1] : furthest[k - 1] + 1, y = x - k;
            while (x < n && y >= 0 && y < m && a[x] == b[y])
                x++, y++;
            furthest[k] = x;
            if (x >= n && y >= m) {
                sp_free(memory);
                return (size_t)(most - d) / 2;
            }
        }
    }
    sp_free(memory);
    return 0;
}
