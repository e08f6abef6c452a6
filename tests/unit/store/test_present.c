/* The filter of the keys of a database. */
#include "harness.h"
#include "store/present.h"

enum { KEYS = 2000000 };

static struct sp_view key_of(uint64_t *room, uint64_t number)
{
    *room = number * 7;
    return sp_view(room, sizeof *room);
}

static size_t count(const struct sp_present *k, uint64_t from, uint64_t to)
{
    size_t found = 0;
    uint64_t room;
    for (uint64_t i = from; i < to; i++)
        found += sp_present_may_have(k, key_of(&room, i));
    return found;
}

TEST(without_a_filter_every_key_may_be_there)
{
    struct sp_present k = {0};
    uint64_t room;
    CU_ASSERT_EQUAL(count(&k, 0, 100), 100);
    sp_present_add(&k, key_of(&room, 1));
    CU_ASSERT_EQUAL(count(&k, 0, 100), 100);
    sp_present_begin(&k);
    CU_ASSERT_EQUAL(count(&k, 0, 100), 0);
    sp_present_done(&k);
    CU_ASSERT_EQUAL(count(&k, 0, 100), 100);
}

TEST(keys_that_were_added_are_found_and_few_others)
{
    struct sp_present k = {0};
    uint64_t room;
    sp_present_begin(&k);
    for (uint64_t n = 1000; n <= KEYS; n *= 10) {
        for (uint64_t i = n / 10; i < n; i++)
            sp_present_add(&k, key_of(&room, i));
        CU_ASSERT_EQUAL(count(&k, 100, n), n - 100);
        CU_ASSERT(count(&k, KEYS, KEYS + 100000) < 10000);
    }
    sp_present_done(&k);
}

/* The layers have room for 67 million keys. */
TEST(a_filter_that_would_become_too_large_is_dropped)
{
    struct sp_present k = {0};
    uint64_t room, added = 0;
    sp_present_begin(&k);
    while (k.complete && added <= SP_PRESENT_BYTES)
        sp_present_add(&k, key_of(&room, added++));
    CU_ASSERT(!k.complete);
    CU_ASSERT(added > SP_PRESENT_BYTES / 2);
    CU_ASSERT_EQUAL(count(&k, added, added + 100), 100);
    sp_present_done(&k);
}
