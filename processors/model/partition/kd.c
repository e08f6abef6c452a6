/* k-d splits: the space is cut in two recursively. Each cut divides the pages in proportion to the
 * cells on its sides, so that any number of cells gets equal loads.
 *
 * A cut may cross any of the lengths in use, or their total. It is chosen by its cost. The visitors
 * of a box are the pages whose probes reach it; each visits one part or both, and the sum over all
 * cuts of those that visit both is the cost of probes beyond one cell a page. An uneven cut costs
 * less but leaves more to cut, so the cost is divided by f (1 - f), with f the share of the cells
 * on one side. Measured on 13,047 distinct final pages of three documentation sites, 64 cells, tau
 * = 0.9, words by hash: 4.0 cells a probe; cutting only at the median, where the fewest pages of
 * the box lie within tau of the cut: 4.7. docs/OPERATIONS.md has the measurements of all maps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "partition/train_parts.h"
#include "partition/tree.h"

enum {
    CUTS = 63,         /* candidates on each axis, at equal distances in pages */
    AHEAD_CELLS = 8,   /* with so many cells or fewer, look one cut ahead */
    AHEAD_CHOICES = 24 /* of the best */
};

/* The share by which a cell may exceed its mean load. They are tried in this order until the
 * largest cell is at most FULL. Early cuts get a part of the tolerance in proportion to the cuts
 * done, so that deviations do not add up. If many pages have equal lengths, one tolerance may fail
 * by chance where a smaller one succeeds. */
static const double tolerances[] = {0.03, 0.04, 0.02, 0.01};
static const double FULL = 1.05;

struct kd {
    const struct sp_train_options *options;
    double tolerance;
    size_t count; /* pages in all */
    struct sp_box *boxes;
    uint32_t made;    /* of them */
    size_t most;      /* pages in one */
    uint32_t *sorted; /* scratch: one axis' values */
};

struct part {
    struct sp_box box;
    uint32_t cells;
    struct sp_point *points; /* in the box; reordered */
    size_t count;
    const struct sp_point **visitors;
    size_t visitor_count;
};

struct candidate {
    uint32_t cut;
    size_t below;
};

struct choice {
    int axis;
    uint32_t cut;
    uint32_t left; /* cells below it */
    double over;   /* by how much a side is too full */
    double score;
};

static size_t count_below(const uint32_t *sorted, size_t count, uint64_t cut)
{
    size_t lo = 0;
    while (lo < count) {
        size_t middle = lo + (count - lo) / 2;
        if (sorted[middle] < cut)
            lo = middle + 1;
        else
            count = middle;
    }
    return lo;
}

/* Finds cuts that leave pages on both sides, ascending. Each is as close to the share of a whole
 * number of cells as equal values allow. */
static int find_candidates(struct kd *k, const struct part *p, int axis, struct candidate *ret_cuts)
{
    int found = 0;
    uint32_t step = (p->cells + CUTS - 2) / CUTS;
    for (size_t i = 0; i < p->count; i++)
        k->sorted[i] = p->points[i].at[axis];
    qsort(k->sorted, p->count, sizeof *k->sorted, sp_by_u32);
    for (uint32_t left = step; left < p->cells; left += step) {
        size_t want = (size_t)((double)p->count * left / p->cells + 0.5);
        uint32_t value = k->sorted[want < p->count ? want : p->count - 1];
        size_t before = count_below(k->sorted, p->count, value);
        size_t behind = count_below(k->sorted, p->count, (uint64_t)value + 1);
        struct candidate c = {value, before};
        if (behind < p->count && (before == 0 || behind - want < want - before))
            c = (struct candidate){k->sorted[behind], behind};
        if (c.below > 0 && c.below < p->count && (found == 0 || ret_cuts[found - 1].cut < c.cut))
            ret_cuts[found++] = c;
    }
    return found;
}

static bool visits(const struct kd *k, const struct sp_point *page, const struct sp_box *box)
{
    return sp_box_contact(box, page->at, k->options->threshold);
}

/* Counts the page for each cut where it visits both sides: from the first cut whose lower part it
 * reaches to the last one whose upper part it reaches. */
static void count_visitor(const struct kd *k, const struct part *p, const struct sp_point *page,
                          int axis, const struct candidate *cuts, int count, int64_t *changes)
{
    struct sp_box lower = p->box, upper = p->box;
    int first = 0, last = count;
    for (int end = count; first < end;) {
        int middle = (first + end) / 2;
        lower.hi[axis] = cuts[middle].cut;
        if (visits(k, page, &lower))
            end = middle;
        else
            first = middle + 1;
    }
    for (int start = first; start < last;) {
        int middle = (start + last) / 2;
        upper.lo[axis] = cuts[middle].cut;
        if (visits(k, page, &upper))
            start = middle + 1;
        else
            last = middle;
    }
    if (last > first) {
        changes[first]++;
        changes[last]--;
    }
}

static double over(const struct kd *k, size_t pages, uint32_t cells)
{
    double share = (double)k->count / k->options->cells;
    double done = 1 - log2(cells) / log2(k->options->cells);
    double much = (double)pages / cells / share - 1 - k->tolerance * done;
    return much > 0 ? much : 0;
}

static struct choice rate(const struct kd *k, const struct part *p, int axis,
                          const struct candidate *c, int64_t both)
{
    double left = round((double)c->below * p->cells / (double)p->count);
    left = left < 1 ? 1 : left > p->cells - 1 ? p->cells - 1 : left;
    struct choice choice = {.axis = axis, .cut = c->cut, .left = (uint32_t)left};
    double f = left / p->cells, upper = over(k, p->count - c->below, p->cells - choice.left);
    choice.over = over(k, c->below, choice.left);
    if (upper > choice.over)
        choice.over = upper;
    choice.score = ((double)both + 0.5) / (f * (1 - f));
    return choice;
}

static void rate_axis(struct kd *k, const struct part *p, int axis, struct choice *choices,
                      uint32_t *count)
{
    struct candidate cuts[CUTS];
    int64_t changes[CUTS + 1] = {0}, both = 0;
    int found = find_candidates(k, p, axis, cuts);
    for (size_t i = 0; i < p->visitor_count && found > 0; i++)
        count_visitor(k, p, p->visitors[i], axis, cuts, found, changes);
    for (int i = 0; i < found; i++) {
        both += changes[i];
        choices[(*count)++] = rate(k, p, axis, &cuts[i], both);
    }
}

/* If no cut separates pages, any cut will do: cuts the widest axis. Returns left = 0, no cut, if
 * the box is a single vector. */
static struct choice blind_cut(const struct part *p)
{
    const uint32_t far = 1 << 16;
    const struct sp_box *box = &p->box;
    struct choice c = {.axis = SP_DIMS, .left = p->cells / 2};
    for (int d = SP_DIMS; d-- > 0;)
        if (box->hi[d] - box->lo[d] > box->hi[c.axis] - box->lo[c.axis])
            c.axis = d;
    uint32_t lo = box->lo[c.axis], hi = box->hi[c.axis];
    c.cut = hi == UINT32_MAX ? lo + far : lo + (hi - lo) / 2;
    if (c.cut == lo)
        c.left = 0;
    return c;
}

static size_t divide(struct sp_point *points, size_t count, const struct choice *c)
{
    size_t below = 0;
    for (size_t i = 0; i < count; i++)
        if (points[i].at[c->axis] < c->cut) {
            struct sp_point p = points[i];
            points[i] = points[below];
            points[below++] = p;
        }
    return below;
}

static bool in_use(const struct kd *k, int axis)
{
    return axis == SP_DIMS || (k->options->dims > 1 && axis < (int)k->options->dims);
}

/* By how much a side of the best next cut is too full; for a single cell, the cell. */
static double over_later(struct kd *k, const struct part *p)
{
    if (p->cells == 1 || p->count == 0)
        return over(k, p->count, p->cells);
    double least = INFINITY;
    for (int d = 0; d < SP_AXES; d++) {
        struct candidate cuts[CUTS];
        int found = in_use(k, d) ? find_candidates(k, p, d, cuts) : 0;
        for (int i = 0; i < found; i++) {
            struct choice c = rate(k, p, d, &cuts[i], 0);
            least = c.over < least ? c.over : least;
        }
    }
    return least;
}

static struct part side_of(const struct part *whole, const struct choice *c, size_t below, int side)
{
    struct part part = *whole;
    part.cells = side ? whole->cells - c->left : c->left;
    part.points += side ? below : 0;
    part.count = side ? whole->count - below : below;
    *(side ? &part.box.lo[c->axis] : &part.box.hi[c->axis]) = c->cut;
    return part;
}

static int by_worth(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;
    if (x->over != y->over)
        return x->over < y->over ? -1 : 1;
    if (x->score != y->score)
        return x->score < y->score ? -1 : 1;
    return x->axis != y->axis ? x->axis - y->axis : x->cut < y->cut ? -1 : 1;
}

/* Near the end, equal lengths may leave a side that no cut divides well. Returns the best choice
 * whose sides can be cut as well. */
static struct choice look_ahead(struct kd *k, const struct part *p, const struct choice *choices,
                                uint32_t count)
{
    struct choice best = choices[0];
    double least = INFINITY;
    for (uint32_t i = 0; i < count && i < AHEAD_CHOICES && least > 0; i++) {
        size_t below = divide(p->points, p->count, &choices[i]);
        struct part left = side_of(p, &choices[i], below, 0);
        struct part right = side_of(p, &choices[i], below, 1);
        double most = fmax(choices[i].over, fmax(over_later(k, &left), over_later(k, &right)));
        if (most < least) {
            least = most;
            best = choices[i];
        }
    }
    return best;
}

static struct choice choose(struct kd *k, const struct part *p)
{
    struct choice choices[SP_AXES * CUTS];
    uint32_t count = 0;
    for (int d = 0; d < SP_AXES && p->count > 0; d++)
        if (in_use(k, d))
            rate_axis(k, p, d, choices, &count);
    if (count == 0)
        return blind_cut(p);
    qsort(choices, count, sizeof *choices, by_worth);
    return p->cells <= AHEAD_CELLS ? look_ahead(k, p, choices, count) : choices[0];
}

static void split(struct kd *k, const struct part *whole)
{
    struct choice c = {.left = 0};
    if (whole->cells > 1)
        c = choose(k, whole);
    if (c.left == 0) {
        k->boxes[k->made++] = whole->box;
        k->most = whole->count > k->most ? whole->count : k->most;
        return;
    }
    size_t below = divide(whole->points, whole->count, &c);
    const struct sp_point **visitors = sp_alloc((whole->visitor_count + 1) * sizeof *visitors);
    for (int side = 0; side < 2; side++) {
        struct part part = side_of(whole, &c, below, side);
        part.visitors = visitors;
        part.visitor_count = 0;
        for (size_t i = 0; i < whole->visitor_count; i++)
            if (visits(k, whole->visitors[i], &part.box))
                visitors[part.visitor_count++] = whole->visitors[i];
        split(k, &part);
    }
    sp_free(visitors);
}

void sp_train_kd(const struct sp_train_options *o, struct sp_point *points, size_t count,
                 struct sp_partition_map *map)
{
    size_t bytes = o->cells * sizeof(struct sp_box), least = SIZE_MAX;
    struct kd k = {.options = o,
                   .count = count,
                   .boxes = sp_alloc(bytes),
                   .sorted = sp_alloc(count * sizeof *k.sorted + 1)};
    struct sp_point *pages = sp_memdup(points, count * sizeof *points);
    struct part all = {.cells = o->cells,
                       .points = points,
                       .count = count,
                       .visitors = sp_alloc(count * sizeof *all.visitors + 1),
                       .visitor_count = count};
    for (size_t i = 0; i < count; i++)
        all.visitors[i] = &pages[i];
    for (int d = 0; d < SP_AXES; d++)
        all.box.hi[d] = UINT32_MAX;
    map->boxes = sp_calloc(o->cells, sizeof *map->boxes);
    for (size_t i = 0; i < sizeof tolerances / sizeof *tolerances; i++) {
        k.tolerance = tolerances[i];
        k.made = 0;
        k.most = 0;
        split(&k, &all);
        if (k.most < least) {
            map->cells = k.made;
            memcpy(map->boxes, k.boxes, bytes);
        }
        least = k.most < least ? k.most : least;
        if ((double)least * o->cells <= FULL * (double)count)
            break;
    }
    sp_free(all.visitors);
    sp_free(pages);
    sp_free(k.boxes);
    sp_free(k.sorted);
}
