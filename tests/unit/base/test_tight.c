/* Arrays with little room to spare: what they keep, and that large ones are not copied. */
#include "base/tight.h"

#include <sys/resource.h>
#include <unistd.h>

#include "base/huge.h"
#include "base/mem.h"
#include "harness.h"

struct pair {
    uint64_t left, right;
};

enum { IN_HUGE_PAGE = SP_HUGE_PAGE / sizeof(struct pair) };

/* Adds pairs until there are `count`. */
static void fill(struct pair **pairs, uint32_t *cap, uint32_t from, uint32_t count)
{
    for (uint32_t i = from; i < count; i++) {
        sp_tight_grow(pairs, cap, i + 1);
        (*pairs)[i] = (struct pair){i, ~(uint64_t)i};
        CU_ASSERT_FATAL(i < *cap && *cap <= i + 1 + i / 8);
    }
}

static void check(const struct pair *pairs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        CU_ASSERT_FATAL(pairs[i].left == i && pairs[i].right == ~(uint64_t)i);
}

TEST(an_array_has_little_room_to_spare_and_keeps_its_elements)
{
    struct pair *pairs = NULL;
    uint32_t cap = 0, none = 0;
    sp_tight_grow(&pairs, &cap, none);
    CU_ASSERT_PTR_NULL(pairs);
    fill(&pairs, &cap, 0, 5 * IN_HUGE_PAGE);
    check(pairs, 5 * IN_HUGE_PAGE);
    sp_tight_grow(&pairs, &cap, 100 * IN_HUGE_PAGE);
    CU_ASSERT_EQUAL(cap, 100 * IN_HUGE_PAGE);
    check(pairs, 5 * IN_HUGE_PAGE);
    pairs[cap - 1] = pairs[0];
    sp_tight_free(pairs, cap);
}

TEST(arrays_that_grow_side_by_side_do_not_meet)
{
    struct pair *pairs[3] = {NULL};
    uint32_t caps[3] = {0};
    for (uint32_t count = IN_HUGE_PAGE / 2; count < 20 * IN_HUGE_PAGE; count *= 2)
        for (int i = 0; i < 3; i++)
            fill(&pairs[i], &caps[i], count == IN_HUGE_PAGE / 2 ? 0 : count / 2, count);
    for (int i = 0; i < 3; i++) {
        check(pairs[i], 16 * IN_HUGE_PAGE);
        sp_tight_free(pairs[i], caps[i]);
    }
}

TEST(a_small_array_and_none_are_freed)
{
    struct pair *pairs = NULL;
    uint32_t cap = 0;
    sp_tight_free(pairs, cap);
    fill(&pairs, &cap, 0, 3);
    check(pairs, 3);
    sp_tight_free(pairs, cap);
}

static long page_faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

/* A page that is copied is used for the first time once more. */
TEST(a_large_array_is_not_copied)
{
    enum { COUNT = 32 * IN_HUGE_PAGE };
    struct pair *pairs = NULL;
    uint32_t cap = 0;
    long before = page_faults(), pages = (long)(COUNT * sizeof *pairs) / sysconf(_SC_PAGESIZE);
    fill(&pairs, &cap, 0, COUNT);
    check(pairs, COUNT);
#ifndef SP_SANITIZED
    CU_ASSERT(page_faults() - before < pages + pages / 2);
#else
    (void)before, (void)pages; /* of a sanitizer's own memory as well */
#endif
    sp_tight_free(pairs, cap);
}
