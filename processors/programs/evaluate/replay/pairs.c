/* See pairs.h. Group pairs are counted by the sizes of groups, components and their intersections:
 * no pair is ever listed. */
#include "replay/pairs.h"

#include <stdlib.h>

#include "base/mem.h"

struct place {
    uint64_t group; /* for a page without a group: a unique number */
    uint64_t component;
};

static int by_group(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->component < y->component ? -1 : x->component > y->component;
}

static int by_component(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->component != y->component)
        return x->component < y->component ? -1 : 1;
    return x->group < y->group ? -1 : x->group > y->group;
}

static uint64_t pairs_of(uint64_t n)
{
    return n * (n - 1) / 2;
}

/* Pages sorted by one side: counts the pairs within each run of that side, and how many of these
 * are within one run of the other side as well. */
struct counted {
    uint64_t pairs;
    uint64_t both;
    uint64_t worst; /* most pairs of one run that are not within one of the other */
    uint64_t worst_run;
    uint64_t runs_with_any;
};

static struct counted count_runs(const struct place *places, size_t count, bool by_component_first)
{
    struct counted c = {.worst_run = SP_NO_NUMBER};
#define OUTER(p) (by_component_first ? (p).component : (p).group)
#define INNER(p) (by_component_first ? (p).group : (p).component)
    for (size_t from = 0, to; from < count; from = to) {
        uint64_t both = 0;
        for (to = from; to < count && OUTER(places[to]) == OUTER(places[from]);) {
            size_t inner = to;
            while (to < count && OUTER(places[to]) == OUTER(places[from]) &&
                   INNER(places[to]) == INNER(places[inner]))
                to++;
            both += pairs_of(to - inner);
        }
        uint64_t pairs = pairs_of(to - from), apart = pairs - both;
        c.pairs += pairs;
        c.both += both;
        c.runs_with_any += apart > 0;
        if (apart > c.worst) {
            c.worst = apart;
            c.worst_run = OUTER(places[from]);
        }
    }
#undef OUTER
#undef INNER
    return c;
}

void sp_group_pairs_count(const uint32_t *group, const uint32_t *component, size_t page_count,
                          struct sp_group_pairs *ret_pairs)
{
    struct place *places = sp_alloc((page_count + 1) * sizeof *places);
    size_t count = 0;
    for (size_t p = 0; p < page_count; p++)
        if (component[p] != SP_NO_NUMBER)
            places[count++] = (struct place){
                group[p] == SP_NO_NUMBER ? UINT32_MAX + 1ull + p : group[p], component[p]};
    qsort(places, count, sizeof *places, by_group);
    struct counted s = count_runs(places, count, false);
    qsort(places, count, sizeof *places, by_component);
    struct counted b = count_runs(places, count, true);
    sp_free(places);
    *ret_pairs = (struct sp_group_pairs){.system = s.pairs,
                                         .baseline = b.pairs,
                                         .both = s.both,
                                         .worst_false = s.worst,
                                         .worst_group = (uint32_t)s.worst_run,
                                         .worst_missed = b.worst,
                                         .worst_component = (uint32_t)b.worst_run,
                                         .false_groups = s.runs_with_any,
                                         .missed_components = b.runs_with_any};
}

static bool duplicates(const struct sp_crawl *t, const struct sp_baseline *b,
                       const struct sp_similarity_options *o, uint32_t page, uint32_t other)
{
    uint32_t x = b->content[page], y = b->content[other];
    if (x == SP_NO_NUMBER || y == SP_NO_NUMBER)
        return false;
    return x == y ? t->contents[x]->shingle_total > 0
                  : sp_similar(o, t->contents[x], t->contents[y], NULL);
}

/* Returns the best-ranked page alive of each group, by group number. */
static uint32_t *best_of_groups(const struct sp_crawl *t, const struct sp_baseline *b,
                                const struct sp_said *said)
{
    uint32_t groups = 0;
    for (uint32_t p = 0; p < t->page_count; p++)
        if (said[p].group != SP_NO_NUMBER && said[p].group >= groups)
            groups = said[p].group + 1;
    uint32_t *best = sp_alloc((groups + 1ull) * sizeof *best);
    memset(best, 0xff, groups * sizeof *best);
    for (uint32_t p = 0; p < t->page_count; p++) {
        if (b->component[p] == SP_NO_NUMBER || said[p].group == SP_NO_NUMBER)
            continue;
        uint32_t *at = &best[said[p].group];
        if (*at == SP_NO_NUMBER || sp_baseline_outranks(t, b, p, *at))
            *at = p;
    }
    return best;
}

void sp_winner_pairs_count(const struct sp_crawl *t, const struct sp_baseline *b,
                           const struct sp_said *said, const struct sp_similarity_options *o,
                           struct sp_winner_pairs *ret_pairs)
{
    struct sp_winner_pairs n = {0};
    uint32_t *best = best_of_groups(t, b, said);
    for (uint32_t p = 0; p < t->page_count; p++) {
        if (b->component[p] == SP_NO_NUMBER)
            continue;
        bool loser = said[p].status == SP_STATUS_LOSER;
        if (loser) {
            n.system++;
            n.wrong += said[p].winner == SP_NO_NUMBER || !duplicates(t, b, o, p, said[p].winner);
        }
        if (b->winner[p] != p) {
            n.baseline++;
            n.missed += !loser;
        }
        uint32_t top = said[p].group == SP_NO_NUMBER ? p : best[said[p].group];
        if (top != p) {
            n.clustered++;
            n.rejected += !duplicates(t, b, o, p, top);
        }
    }
    sp_free(best);
    *ret_pairs = n;
}
