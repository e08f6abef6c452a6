/* See judge.h. */
#include "evaluate/judge.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

enum { SAMPLE = 1000 };

static int by_set(const void *a, const void *b, void *arg)
{
    const uint32_t *set = arg;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (set[x] != set[y])
        return set[x] < set[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Returns the pages in the order of their sets. */
uint32_t *sp_judge_order(const struct sp_judge *j, const uint32_t *set)
{
    uint32_t count = (uint32_t)j->labels->page_count;
    uint32_t *order = sp_alloc(((size_t)count + 1) * sizeof *order);
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    qsort_r(order, count, sizeof *order, by_set, (void *)(uintptr_t)set);
    return order;
}

static bool is_known(const struct sp_judge *j, uint32_t a, uint32_t b)
{
    return a == b || !j->labels->listed || j->truth[a] == j->truth[b] ||
           sp_labelled_find(j->labels, a < b ? a : b, a < b ? b : a);
}

static bool is_of_site(const struct sp_judge *j, uint32_t a, uint32_t b)
{
    const char *x = j->labels->pages[a].site, *y = j->labels->pages[b].site;
    return x && y && strcmp(x, y) == 0;
}

/* Returns the page of the set `pages` with the most truly similar ones in it; among equals, the one
 * with the smallest number. */
static uint32_t representative_of(const struct sp_judge *j, const uint32_t *pages, uint32_t count)
{
    uint32_t best = pages[0], most = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t n = 0;
        for (uint32_t k = 0; k < count; k++)
            n += j->truth[pages[k]] == j->truth[pages[i]];
        if (n > most) {
            most = n;
            best = pages[i];
        }
    }
    return best;
}

struct sampled {
    uint64_t place; /* random order in which sets are drawn */
    uint32_t representative;
    uint32_t first; /* in the order by set */
    uint32_t count;
};

static int by_place(const void *a, const void *b)
{
    const struct sampled *x = a, *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Draws SAMPLE of the sets with two or more pages, or takes all if there are fewer. */
static uint32_t sample_sets(const struct sp_judge *j, const uint32_t *set, const uint32_t *order,
                            struct sampled **ret_sample)
{
    uint32_t count = (uint32_t)j->labels->page_count, n = 0;
    struct sampled *sample = sp_alloc(((size_t)count + 1) * sizeof *sample);
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && set[order[end]] == set[order[first]]; end++)
            continue;
        if (end - first > 1)
            sample[n++] = (struct sampled){sp_mix64(order[first] + 1), 0, first, end - first};
    }
    qsort(sample, n, sizeof *sample, by_place);
    if (n > SAMPLE)
        n = SAMPLE;
    for (uint32_t i = 0; i < n; i++)
        sample[i].representative = representative_of(j, order + sample[i].first, sample[i].count);
    *ret_sample = sample;
    return n;
}

/* Returns the mean truly similar share over the sampled sets; negative if there is no set. */
double sp_judge_precision(const struct sp_judge *j, const uint32_t *set, bool one_site)
{
    struct sampled *sample;
    uint32_t *order = sp_judge_order(j, set);
    uint32_t n = sample_sets(j, set, order, &sample), used = 0;
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t right = 0, all = 0, rp = sample[i].representative;
        for (uint32_t k = 0; k < sample[i].count; k++) {
            uint32_t page = order[sample[i].first + k];
            if (!is_known(j, rp, page) || (one_site && !is_of_site(j, rp, page)))
                continue;
            all++;
            right += j->truth[page] == j->truth[rp];
        }
        if (all > 1) {
            sum += (double)right / all;
            used++;
        }
    }
    sp_free(order);
    sp_free(sample);
    return used ? sum / used : -1;
}

/* Counts the truly similar pages in the set of the page, itself included. */
static uint32_t detected(const struct sp_judge *j, const uint32_t *set, uint32_t rp, bool one_site)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < j->labels->page_count; i++)
        n += set[i] == set[rp] && j->truth[i] == j->truth[rp] &&
             (i == rp || !one_site || is_of_site(j, i, rp));
    return n;
}

void sp_judge_recalls(const struct sp_judge *j, const uint32_t *const *sets, size_t count,
                      size_t sampled_from, bool one_site, double *ret_recalls)
{
    struct sampled *sample;
    uint32_t *order = sp_judge_order(j, sets[sampled_from]);
    uint32_t n = sample_sets(j, sets[sampled_from], order, &sample), used = 0;
    for (size_t way = 0; way < count; way++)
        ret_recalls[way] = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rp = sample[i].representative;
        if (one_site && !j->labels->pages[rp].site)
            continue;
        uint32_t least = detected(j, sets[0], rp, one_site);
        for (size_t way = 0; way < count; way++)
            ret_recalls[way] += (double)detected(j, sets[way], rp, one_site) / least;
        used++;
    }
    for (size_t way = 0; way < count; way++)
        ret_recalls[way] = used ? ret_recalls[way] / used : -1;
    sp_free(order);
    sp_free(sample);
}

uint32_t sp_judge_sets(const struct sp_judge *j, const uint32_t *set)
{
    struct sampled *sample;
    uint32_t *order = sp_judge_order(j, set);
    uint32_t n = sample_sets(j, set, order, &sample);
    sp_free(order);
    sp_free(sample);
    return n;
}
