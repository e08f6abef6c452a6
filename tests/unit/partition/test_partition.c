/* Cells fill the space, and routing reaches every cell that it must. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "harness.h"
#include "partition/partition.h"
#include "similarity/similarity.h"

enum { ROUNDS = 20000 };

static double unit(uint64_t *random)
{
    *random = sp_mix64(*random + 1);
    return (double)(*random >> 11) / 9007199254740992.0;
}

/* Totals from 0 to about 30,000, most of them a few hundred. */
static void random_vector(uint64_t *random, uint32_t length[SP_DIMS])
{
    double total = exp(unit(random) * 10.3) - 1, a = unit(random), b = unit(random);
    length[0] = (uint32_t)(total * a);
    length[1] = (uint32_t)(total * (1 - a) * b);
    length[2] = (uint32_t)(total * (1 - a) * (1 - b));
}

/* A vector near `from`, so that bounds near tau are tested. */
static void near_vector(uint64_t *random, const uint32_t from[SP_DIMS], uint32_t length[SP_DIMS])
{
    for (int d = 0; d < SP_DIMS; d++)
        length[d] = (uint32_t)(from[d] * (0.7 + 0.6 * unit(random)) + unit(random) * 1.5);
}

static bool inside(const struct sp_box *box, const uint32_t length[SP_DIMS])
{
    uint64_t at[SP_AXES] = {length[0], length[1], length[2],
                            (uint64_t)length[0] + length[1] + length[2]};
    for (int d = 0; d < SP_AXES; d++)
        if (at[d] < box->lo[d] || (box->hi[d] != UINT32_MAX && at[d] >= box->hi[d]))
            return false;
    return true;
}

/* A map that divides every axis, like a trained one may. */
static struct sp_partition_map grid_map(void)
{
    static const uint32_t edges[SP_AXES][5] = {{0, 20, 90, 400, UINT32_MAX},
                                               {0, 3, 60, 300, UINT32_MAX},
                                               {0, 1, 50, 1000, UINT32_MAX},
                                               {0, 100, 320, 2000, UINT32_MAX}};
    struct sp_partition_map map = {.cells = 256, .boxes = sp_calloc(256, sizeof *map.boxes)};
    for (uint32_t c = 0; c < 256; c++)
        for (int d = 0; d < SP_AXES; d++) {
            map.boxes[c].lo[d] = edges[d][c >> 2 * d & 3];
            map.boxes[c].hi[d] = edges[d][(c >> 2 * d & 3) + 1];
        }
    CU_ASSERT_EQUAL_FATAL(sp_partition_finish(&map), SP_OK);
    return map;
}

/* Map number `which`, from 0 to 6. */
static struct sp_partition_map map_of(int which)
{
    static const uint32_t cells[] = {1, 2, 7, 64, 1000, SP_MAX_CELLS};
    struct sp_partition_map map;
    if (which == 6)
        return grid_map();
    CU_ASSERT_EQUAL_FATAL(sp_partition_default(cells[which], &map), SP_OK);
    CU_ASSERT_EQUAL(map.cells, cells[which]);
    return map;
}

TEST(numbers_of_cells_out_of_range_are_refused)
{
    struct sp_partition_map map;
    CU_ASSERT_EQUAL(sp_partition_default(0, &map), SP_INVALID);
    CU_ASSERT_EQUAL(sp_partition_default(SP_MAX_CELLS + 1, &map), SP_INVALID);
}

TEST(every_vector_lies_in_exactly_one_cell)
{
    for (int which = 0; which < 7; which++) {
        struct sp_partition_map map = map_of(which);
        uint64_t random = 1;
        for (uint32_t i = 0; i < 3000; i++) {
            uint32_t length[SP_DIMS] = {i, 0, 0}, holds = 0, in = 0;
            if (i >= 1500)
                random_vector(&random, length);
            if (i == 2999)
                length[0] = 4000000000u;
            for (uint32_t c = 0; c < map.cells; c++)
                if (inside(&map.boxes[c], length)) {
                    holds++;
                    in = c;
                }
            CU_ASSERT_EQUAL(holds, 1);
            CU_ASSERT_EQUAL(sp_partition_cell(&map, length), in);
        }
        sp_partition_done(&map);
    }
}

TEST(the_default_cells_share_a_usual_crawl_about_evenly)
{
    enum { CELLS = 16, DRAWS = 160000 };
    struct sp_partition_map map;
    uint32_t pages[CELLS] = {0};
    uint64_t random = 5;
    CU_ASSERT_EQUAL_FATAL(sp_partition_default(CELLS, &map), SP_OK);
    for (int i = 0; i < DRAWS; i++) {
        double u = unit(&random), v = unit(&random);
        double normal = sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * v);
        uint32_t length[SP_DIMS] = {0, (uint32_t)(300 * exp(1.2 * normal)), 0};
        pages[sp_partition_cell(&map, length)]++;
    }
    for (int c = 0; c < CELLS; c++)
        CU_ASSERT(pages[c] > DRAWS / CELLS * 0.85 && pages[c] < DRAWS / CELLS * 1.15);
    sp_partition_done(&map);
}

static void check_targets(const struct sp_partition_map *map, const uint32_t length[SP_DIMS],
                          const uint32_t *cells, uint32_t count)
{
    uint32_t own = sp_partition_cell(map, length);
    bool has_own = false;
    CU_ASSERT(count >= 1 && count <= map->cells);
    for (uint32_t i = 0; i < count; i++) {
        CU_ASSERT(cells[i] < map->cells);
        CU_ASSERT(i == 0 || cells[i - 1] < cells[i]);
        has_own |= cells[i] == own;
    }
    CU_ASSERT(has_own);
}

static bool holds(const uint32_t *cells, uint32_t count, uint32_t cell)
{
    for (uint32_t i = 0; i < count; i++)
        if (cells[i] == cell)
            return true;
    return false;
}

TEST(lossless_routing_reaches_every_cell_that_may_hold_a_similar_page)
{
    static const double taus[] = {0.5, 0.8, 0.9, 1.0};
    static uint32_t targets[SP_MAX_CELLS];
    for (int which = 0; which < 7; which++) {
        struct sp_partition_map map = map_of(which);
        uint64_t random = (uint64_t)which * 1000 + 3;
        int rounds = map.cells > 500 ? ROUNDS / 20 : ROUNDS, met = 0, far = 0;
        for (int i = 0; i < rounds; i++) {
            double tau = taus[i % 4];
            uint32_t a[SP_DIMS];
            random_vector(&random, a);
            uint32_t count = sp_partition_targets(&map, a, tau, SP_ROUTING_LOSSLESS, 1.1, targets);
            check_targets(&map, a, targets, count);
            for (int k = 0; k < 12; k++) {
                uint32_t b[SP_DIMS];
                near_vector(&random, a, b);
                if (k == 0)
                    random_vector(&random, b);
                if (!(sp_length_bound(a, b) >= tau))
                    continue;
                uint32_t cell = sp_partition_cell(&map, b);
                met++;
                far += cell != sp_partition_cell(&map, a);
                CU_ASSERT(holds(targets, count, cell));
            }
        }
        CU_ASSERT(met > rounds);
        CU_ASSERT(map.cells < 4 || far > rounds / 100); /* the test must see pairs across cells */
        sp_partition_done(&map);
    }
}

TEST(lossless_routing_visits_few_cells_of_many)
{
    static uint32_t targets[SP_MAX_CELLS];
    struct sp_partition_map map = map_of(3);
    uint64_t random = 9;
    double sum = 0;
    for (int i = 0; i < 2000; i++) {
        uint32_t a[SP_DIMS];
        random_vector(&random, a);
        sum += sp_partition_targets(&map, a, 0.8, SP_ROUTING_LOSSLESS, 1.1, targets);
    }
    CU_ASSERT(sum / 2000 > 1);
    CU_ASSERT(sum / 2000 < 64 / 4.0);
    sp_partition_done(&map);
}

TEST(bounded_routing_visits_no_more_cells)
{
    static uint32_t lossless[SP_MAX_CELLS], bounded[SP_MAX_CELLS];
    for (int which = 0; which < 7; which++) {
        struct sp_partition_map map = map_of(which);
        uint64_t random = 11;
        double all = 0, fewer = 0;
        for (int i = 0; i < 3000; i++) {
            uint32_t a[SP_DIMS];
            random_vector(&random, a);
            uint32_t n = sp_partition_targets(&map, a, 0.8, SP_ROUTING_LOSSLESS, 1.1, lossless);
            uint32_t m = sp_partition_targets(&map, a, 0.8, SP_ROUTING_BOUNDED, 1.1, bounded);
            check_targets(&map, a, bounded, m);
            all += n;
            fewer += m;
            if (which < 6) /* with slices of the total length the bound leaves nothing out */
                for (uint32_t k = 0; k < m; k++)
                    CU_ASSERT(holds(lossless, n, bounded[k]));
        }
        CU_ASSERT(fewer <= all);
        CU_ASSERT(which != 6 || fewer > all / 4);
        sp_partition_done(&map);
    }
}

TEST(a_wider_rho_visits_more_cells)
{
    static uint32_t narrow[SP_MAX_CELLS], wide[SP_MAX_CELLS];
    struct sp_partition_map map = map_of(6);
    uint64_t random = 13;
    double sums[2] = {0, 0};
    for (int i = 0; i < 3000; i++) {
        uint32_t a[SP_DIMS];
        random_vector(&random, a);
        uint32_t n = sp_partition_targets(&map, a, 0.8, SP_ROUTING_BOUNDED, 1, narrow);
        uint32_t m = sp_partition_targets(&map, a, 0.8, SP_ROUTING_BOUNDED, 1.5, wide);
        for (uint32_t k = 0; k < n; k++)
            CU_ASSERT(holds(wide, m, narrow[k]));
        sums[0] += n;
        sums[1] += m;
    }
    CU_ASSERT(sums[0] < sums[1]);
    sp_partition_done(&map);
}

TEST(boxes_that_overlap_or_leave_gaps_are_refused)
{
    for (int which = 0; which < 4; which++) {
        struct sp_partition_map map = {.cells = 3, .boxes = sp_calloc(3, sizeof *map.boxes)};
        static const uint32_t edges[4] = {0, 10, 20, UINT32_MAX};
        for (uint32_t c = 0; c < 3; c++)
            for (int d = 0; d < SP_AXES; d++) {
                map.boxes[c].lo[d] = d == 1 ? edges[c] : 0;
                map.boxes[c].hi[d] = d == 1 ? edges[c + 1] : UINT32_MAX;
            }
        map.boxes[1].hi[1] += which == 1; /* overlap */
        map.boxes[1].lo[1] += which == 2; /* gap */
        map.boxes[2].hi[3] -= which == 3; /* a hole at the border */
        CU_ASSERT_EQUAL(sp_partition_finish(&map), which == 0 ? SP_OK : SP_INVALID);
        sp_partition_done(&map);
    }
}

/* The definition in the header, box by box: the best quotient over all totals. */
static double best_quotient(const struct sp_box *box, const uint32_t a[SP_DIMS])
{
    double best = 0;
    uint32_t x[SP_DIMS];
    for (x[0] = box->lo[0]; x[0] < box->hi[0]; x[0]++)
        for (x[1] = box->lo[1]; x[1] < box->hi[1]; x[1]++)
            for (x[2] = box->lo[2]; x[2] < box->hi[2]; x[2]++) {
                uint32_t total = x[0] + x[1] + x[2];
                if (total >= box->lo[SP_DIMS] && total < box->hi[SP_DIMS] &&
                    sp_length_bound(a, x) > best)
                    best = sp_length_bound(a, x);
            }
    return best;
}

/* Cuts do not lead to a map of cell 0 (outside) and cell 1 (the box); the test cuts the box out
 * with many cuts. */
static struct sp_partition_map map_with_box(const struct sp_box *box)
{
    struct sp_partition_map map = {.cells = 9, .boxes = sp_calloc(9, sizeof *map.boxes)};
    struct sp_box rest = {.lo = {0}};
    uint32_t n = 0;
    for (int d = 0; d < SP_AXES; d++)
        rest.hi[d] = UINT32_MAX;
    for (int d = 0; d < SP_AXES; d++) {
        struct sp_box below = rest, above = rest;
        below.hi[d] = rest.lo[d] = box->lo[d];
        above.lo[d] = rest.hi[d] = box->hi[d];
        if (box->lo[d] > 0)
            map.boxes[n++] = below;
        map.boxes[n++] = above;
    }
    map.boxes[n++] = rest;
    map.cells = n;
    CU_ASSERT_EQUAL_FATAL(sp_partition_finish(&map), SP_OK);
    return map;
}

TEST(a_box_is_visited_exactly_where_one_of_its_vectors_reaches_tau)
{
    uint64_t random = 21;
    int visited = 0, spared = 0;
    for (int i = 0; i < 3000; i++) {
        struct sp_box box;
        uint32_t a[SP_DIMS], targets[9], from = 0, to = 0;
        for (int d = 0; d < SP_DIMS; d++) {
            a[d] = (uint32_t)(unit(&random) * 30);
            box.lo[d] = (uint32_t)(unit(&random) * 25);
            box.hi[d] = box.lo[d] + 1 + (uint32_t)(unit(&random) * 8);
            from += box.lo[d];
            to += box.hi[d];
        }
        box.lo[SP_DIMS] = from + (uint32_t)(unit(&random) * (to - from) / 2);
        box.hi[SP_DIMS] = box.lo[SP_DIMS] + 1 + (uint32_t)(unit(&random) * (to - from) / 2);
        double tau = 0.3 + 0.7 * unit(&random), best = best_quotient(&box, a);
        if (best == 0)
            continue; /* the box has no vector, or none that shares a shingle */
        struct sp_partition_map map = map_with_box(&box);
        uint32_t count = sp_partition_targets(&map, a, tau, SP_ROUTING_LOSSLESS, 1, targets);
        bool visits = holds(targets, count, map.cells - 1);
        CU_ASSERT_EQUAL(visits, best + 2e-9 >= tau);
        visited += visits;
        spared += !visits;
        sp_partition_done(&map);
    }
    CU_ASSERT(visited > 300 && spared > 300);
}
