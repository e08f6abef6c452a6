/* The solver against exhaustive search. */
#include "base/hash.h"
#include "base/mem.h"
#include "cover/solve.h"
#include "harness.h"

enum { MOST = 400 };

struct graph {
    uint32_t starts[MOST + 1];
    uint32_t covers[MOST * MOST];
    struct sp_digraph graph;
};

/* A random graph; each arc exists with probability permille / 1000. */
static void make_graph(struct graph *g, uint64_t seed, uint32_t count, uint32_t permille)
{
    uint32_t end = 0;
    for (uint32_t i = 0; i < count; i++) {
        g->starts[i] = end;
        for (uint32_t k = 0; k < count; k++)
            if (k != i && sp_mix64(seed * 1000003 + i * 1009 + k) % 1000 < permille)
                g->covers[end++] = k;
    }
    g->starts[count] = end;
    g->graph = (struct sp_digraph){count, g->starts, g->covers, NULL};
}

static bool is_cover(const struct sp_digraph *g, const uint8_t *kept)
{
    uint8_t covered[MOST] = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        if (!kept[i])
            continue;
        covered[i] = 1;
        for (uint32_t k = g->starts[i]; k < g->starts[i + 1]; k++)
            covered[g->covers[k]] = 1;
    }
    for (uint32_t i = 0; i < g->count; i++)
        n += covered[i];
    return n == g->count;
}

/* Whether no kept document can be dropped. */
static bool is_minimal(const struct sp_digraph *g, uint8_t *kept)
{
    bool minimal = true;
    for (uint32_t i = 0; i < g->count; i++) {
        if (!kept[i])
            continue;
        kept[i] = 0;
        minimal &= !is_cover(g, kept);
        kept[i] = 1;
    }
    return minimal;
}

static uint32_t size_of(const uint8_t *kept, uint32_t count)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        n += kept[i];
    return n;
}

/* The size of the smallest cover, by exhaustive search. */
static uint32_t smallest(const struct sp_digraph *g)
{
    uint32_t best = g->count, all = (1u << g->count) - 1;
    uint32_t covers[32];
    for (uint32_t i = 0; i < g->count; i++) {
        covers[i] = 1u << i;
        for (uint32_t k = g->starts[i]; k < g->starts[i + 1]; k++)
            covers[i] |= 1u << g->covers[k];
    }
    for (uint32_t set = 1; set <= all; set++) {
        uint32_t covered = 0, size = (uint32_t)__builtin_popcount(set);
        if (size >= best)
            continue;
        for (uint32_t i = 0; i < g->count; i++)
            covered |= set >> i & 1 ? covers[i] : 0;
        best = covered == all ? size : best;
    }
    return best;
}

TEST(small_graphs_have_the_cover_that_trying_all_finds)
{
    static struct graph g;
    struct sp_solve_options o = {.exact_max = 64, .steps_max = 1000000};
    struct sp_solve_stats stats = {0};
    for (uint64_t seed = 0; seed < 700; seed++) {
        uint8_t kept[MOST];
        make_graph(&g, seed, 1 + seed % 13, 20 + (uint32_t)(seed * 37 % 400));
        sp_solve(&g.graph, &o, kept, &stats);
        CU_ASSERT(is_cover(&g.graph, kept));
        CU_ASSERT_EQUAL(size_of(kept, g.graph.count), smallest(&g.graph));
    }
    CU_ASSERT_EQUAL(stats.greedy + stats.stopped, 0);
}

TEST(greedy_covers_are_covers_and_exact_ones_no_larger)
{
    static struct graph g;
    struct sp_solve_options exact = {.exact_max = MOST, .steps_max = 300};
    struct sp_solve_options greedy = {.exact_max = 0};
    struct sp_solve_stats stats = {0}, none = {0};
    uint32_t better = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        uint8_t kept[MOST], quick[MOST];
        make_graph(&g, seed, 20 + (uint32_t)seed * 2, seed % 2 ? 40 : 90);
        sp_solve(&g.graph, &exact, kept, &stats);
        sp_solve(&g.graph, &greedy, quick, &none);
        CU_ASSERT(is_cover(&g.graph, kept) && is_cover(&g.graph, quick));
        CU_ASSERT(is_minimal(&g.graph, kept) && is_minimal(&g.graph, quick));
        CU_ASSERT(size_of(kept, g.graph.count) <= size_of(quick, g.graph.count));
        better += size_of(kept, g.graph.count) < size_of(quick, g.graph.count);
    }
    CU_ASSERT(better > 0);
    CU_ASSERT(stats.exact > 0);
    CU_ASSERT_EQUAL(none.stopped, 0);
    CU_ASSERT(none.greedy > 0);
}

TEST(running_out_of_steps_still_gives_a_cover)
{
    static struct graph g;
    struct sp_solve_options o = {.exact_max = MOST, .steps_max = 5};
    struct sp_solve_stats stats = {0};
    uint8_t kept[MOST];
    make_graph(&g, 3, 120, 60);
    sp_solve(&g.graph, &o, kept, &stats);
    CU_ASSERT(is_cover(&g.graph, kept));
    CU_ASSERT_EQUAL(stats.stopped, 1);
}

TEST(trees_and_cliques_need_no_search)
{
    static struct graph g;
    struct sp_solve_options o = {.exact_max = 0};
    struct sp_solve_stats stats = {0};
    uint8_t kept[MOST];
    make_graph(&g, 1, 50, 1000); /* a complete graph */
    sp_solve(&g.graph, &o, kept, &stats);
    CU_ASSERT_EQUAL(size_of(kept, 50), 1);
    CU_ASSERT_EQUAL(kept[0], 1);
    uint32_t end = 0;
    for (uint32_t i = 0; i < 300; i++) { /* a chain: each covers the one before */
        g.starts[i] = end;
        if (i > 0)
            g.covers[end++] = i - 1;
    }
    g.starts[300] = end;
    g.graph = (struct sp_digraph){300, g.starts, g.covers, NULL};
    stats = (struct sp_solve_stats){0};
    sp_solve(&g.graph, &o, kept, &stats);
    CU_ASSERT(is_cover(&g.graph, kept));
    CU_ASSERT_EQUAL(size_of(kept, 300), 150);
    CU_ASSERT_EQUAL(stats.greedy, 0);
}

TEST(a_graph_without_documents_has_an_empty_cover)
{
    uint32_t starts[1] = {0};
    struct sp_digraph graph = {0, starts, NULL, NULL};
    struct sp_solve_options o = {.exact_max = 10, .steps_max = 10};
    struct sp_solve_stats stats = {0};
    sp_solve(&graph, &o, NULL, &stats);
    CU_ASSERT_EQUAL(stats.exact + stats.greedy, 0);
}

static double weight_of(const struct sp_digraph *g, const uint8_t *kept)
{
    double sum = 0;
    for (uint32_t i = 0; i < g->count; i++)
        sum += kept[i] ? g->weights[i] : 0;
    return sum;
}

TEST(the_lightest_cover_of_a_small_graph_is_that_of_trying_all)
{
    static struct graph g;
    static double weights[MOST];
    uint8_t kept[MOST] = {0}, tried[MOST] = {0};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint32_t count = 1 + (uint32_t)(seed % 11);
        struct sp_solve_stats stats = {0};
        make_graph(&g, seed, count, 50 + (uint32_t)seed * 5);
        for (uint32_t i = 0; i < count; i++)
            weights[i] = 1 + (double)(sp_mix64(seed * 77 + i) % 9);
        g.graph.weights = weights;
        sp_solve_weighted(&g.graph, kept, &stats);
        CU_ASSERT(is_cover(&g.graph, kept));
        CU_ASSERT_EQUAL(stats.exact, 1);
        double least = 1e9;
        for (uint32_t s = 1; s < 1u << count; s++) {
            for (uint32_t i = 0; i < count; i++)
                tried[i] = s >> i & 1;
            if (is_cover(&g.graph, tried) && weight_of(&g.graph, tried) < least)
                least = weight_of(&g.graph, tried);
        }
        CU_ASSERT_EQUAL(weight_of(&g.graph, kept), least);
    }
}

TEST(a_light_cover_of_a_large_graph_has_nothing_superfluous)
{
    static struct graph g;
    static double weights[MOST];
    uint8_t kept[MOST] = {0}, plain[MOST] = {0};
    struct sp_solve_options options = {0, 0};
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct sp_solve_stats stats = {0};
        make_graph(&g, seed, 300, 10 + 5 * (uint32_t)seed);
        for (uint32_t i = 0; i < 300; i++)
            weights[i] = i % 3 ? 1 : 50;
        g.graph.weights = weights;
        sp_solve_weighted(&g.graph, kept, &stats);
        CU_ASSERT(is_cover(&g.graph, kept));
        CU_ASSERT(is_minimal(&g.graph, kept));
        CU_ASSERT_EQUAL(stats.greedy, 1);
        sp_solve(&g.graph, &options, plain, &stats);
        CU_ASSERT(weight_of(&g.graph, kept) < weight_of(&g.graph, plain));
    }
}
