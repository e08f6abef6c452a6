/* Finds the words that two texts do not share: E. W. Myers, "An O(ND) Difference Algorithm and Its
 * Variations", 1986, the greedy algorithm with its trace kept: (D + 1)^2 numbers, 4 MB for the
 * 1,000 differences that pair.c asks for. */
#include <limits.h>

#include "base/mem.h"
#include "report/internal.h"

static const int NOWHERE = INT_MIN / 2;

struct problem {
    const uint64_t *a;
    const uint64_t *b;
    int n;
    int m;
};

/* Row d of the trace has the diagonals -d … d; diagonal k is x - y. */
static int *row(int *trace, int d)
{
    return trace + (size_t)d * (size_t)d + d;
}

/* Whether the furthest path to diagonal k with d > 0 differences ends with a word of b. */
static bool from_above(const int *before, int d, int k)
{
    return k == -d || (k != d && before[k - 1] < before[k + 1]);
}

static int furthest(const struct problem *p, int *trace, int d, int k)
{
    int x = 0;
    if (d > 0) {
        const int *before = row(trace, d - 1);
        x = from_above(before, d, k) ? before[k + 1] : before[k - 1] + 1;
        if (x < 0 || x > p->n || x - k > p->m)
            return NOWHERE;
    }
    while (x < p->n && x - k < p->m && p->a[x] == p->b[x - k])
        x++;
    return x;
}

/* Returns the number of differences, or -1 if there are more than `most`. */
static int search(const struct problem *p, int *trace, int most)
{
    for (int d = 0; d <= most; d++) {
        int *now = row(trace, d);
        for (int k = -d; k <= d; k++)
            now[k] = NOWHERE;
        for (int k = -d; k <= d; k += 2) {
            now[k] = furthest(p, trace, d, k);
            if (k == p->n - p->m && now[k] == p->n)
                return d;
        }
    }
    return -1;
}

static void mark_back(const struct problem *p, int *trace, int d, bool *in_a, bool *in_b)
{
    for (int k = p->n - p->m; d > 0; d--) {
        const int *before = row(trace, d - 1);
        if (from_above(before, d, k)) {
            k++;
            in_b[before[k] - k] = true;
        } else {
            k--;
            in_a[before[k]] = true;
        }
    }
}

static void mark_all(bool *marks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        marks[i] = true;
}

void sp_diff_words(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count,
                   size_t most, bool *ret_a, bool *ret_b)
{
    size_t start = 0;
    while (start < a_count && start < b_count && a[start] == b[start])
        ret_a[start] = ret_b[start] = false, start++;
    while (a_count > start && b_count > start && a[a_count - 1] == b[b_count - 1])
        ret_a[--a_count] = ret_b[--b_count] = false;
    struct problem p = {a + start, b + start, (int)(a_count - start), (int)(b_count - start)};
    if (most > (size_t)p.n + (size_t)p.m)
        most = (size_t)p.n + (size_t)p.m;
    int *trace = sp_alloc((most + 1) * (most + 1) * sizeof *trace);
    for (size_t i = start; i < a_count; i++)
        ret_a[i] = false;
    for (size_t i = start; i < b_count; i++)
        ret_b[i] = false;
    int d = search(&p, trace, (int)most);
    if (d >= 0) {
        mark_back(&p, trace, d, ret_a + start, ret_b + start);
    } else {
        mark_all(ret_a + start, (size_t)p.n);
        mark_all(ret_b + start, (size_t)p.m);
    }
    sp_free(trace);
}
