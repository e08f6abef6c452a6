/* Disjoint sets against labels that are changed one by one, and the length of their paths. */
#include "base/hash.h"
#include "base/mem.h"
#include "base/sets.h"
#include "harness.h"

TEST(sets_are_those_of_labels)
{
    enum { COUNT = 200 };
    uint32_t sets[COUNT], labels[COUNT], wrong = 0;
    sp_sets_init(sets, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        CU_ASSERT_EQUAL(sp_sets_root(sets, i), i);
        labels[i] = i;
    }
    for (uint64_t step = 0; step < 300; step++) {
        uint32_t x = (uint32_t)(sp_mix64(2 * step) % COUNT);
        uint32_t y = (uint32_t)(sp_mix64(2 * step + 1) % COUNT);
        uint32_t least = labels[x] < labels[y] ? labels[x] : labels[y];
        uint32_t most = labels[x] < labels[y] ? labels[y] : labels[x];
        for (uint32_t i = 0; i < COUNT; i++)
            labels[i] = labels[i] == most ? least : labels[i];
        wrong += sp_sets_unite(sets, x, y) != least;
        for (uint32_t i = step % 7; i < COUNT; i += 7)
            wrong += sp_sets_root(sets, i) != labels[i];
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* Returns how many steps the roots of all numbers take after each number was united with the next
 * one, the last first: then all are on one path. */
static uint64_t steps_of_path(uint32_t count)
{
    uint32_t *sets = sp_alloc(count * sizeof *sets);
    uint64_t steps = 0;
    sp_sets_init(sets, count);
    for (uint32_t i = count - 1; i > 0; i--)
        sp_sets_unite(sets, i - 1, i);
    for (uint32_t i = count; i-- > 0;) {
        for (uint32_t x = i; sets[x] != x; x = sets[x])
            steps++;
        CU_ASSERT_EQUAL(sp_sets_root(sets, i), 0);
    }
    sp_free(sets);
    return steps;
}

TEST(asking_for_roots_shortens_the_paths_to_them)
{
    uint64_t steps = steps_of_path(1000), more = steps_of_path(4000);
    CU_ASSERT(steps <= 1000 * 10);
    CU_ASSERT(more <= 6 * steps);
}
