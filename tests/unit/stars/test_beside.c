/* The shingles of a kid that the pivot does not have. */
#include "base/hash.h"
#include "harness.h"
#include "stars/internal.h"

enum { MOST = 60 };

static uint64_t state;

static uint32_t below(uint32_t limit)
{
    state = sp_mix64(state + 1);
    return (uint32_t)(state % limit);
}

/* Sorted, and some several times. */
static struct sp_signature *made_up(void)
{
    uint32_t count = below(MOST), value = 0;
    struct sp_signature *s = sp_signature_alloc(count, 0);
    for (uint32_t i = 0; i < count; i++)
        s->hashes[i] = value += below(4);
    return s;
}

static bool has(const uint32_t *values, uint32_t count, uint32_t value)
{
    for (uint32_t i = 0; i < count; i++)
        if (values[i] == value)
            return true;
    return false;
}

TEST(are_each_once_and_in_order)
{
    enum { PAIRS = 20000 };
    for (uint32_t i = 0; i < PAIRS; i++) {
        struct sp_signature *kid = made_up(), *pivot = made_up();
        uint32_t found[MOST], want[MOST], count = 0;
        for (uint32_t k = 0; k < kid->shingle_count; k++)
            if (!has(pivot->hashes, pivot->shingle_count, kid->hashes[k]) &&
                !has(want, count, kid->hashes[k]))
                want[count++] = kid->hashes[k];
        CU_ASSERT_EQUAL_FATAL(sp_star_kid_beside(kid, pivot, found), count);
        for (uint32_t k = 0; k < count; k++)
            CU_ASSERT_EQUAL_FATAL(found[k], want[k]);
        sp_signature_unref(kid);
        sp_signature_unref(pivot);
    }
}
