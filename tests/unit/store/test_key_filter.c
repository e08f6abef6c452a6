/* The filter of the keys of a database. */
#include "base/hash.h"
#include "harness.h"
#include "store/key_filter.h"

enum { KEYS = 2000000 };

static uint64_t key_of(uint64_t number)
{
    return sp_mix64(number * 7);
}

static size_t count(const struct sp_key_filter *k, uint64_t from, uint64_t to)
{
    size_t found = 0;
    for (uint64_t i = from; i < to; i++)
        found += sp_key_filter_may_have(k, key_of(i));
    return found;
}

TEST(without_a_filter_every_key_may_be_there)
{
    struct sp_key_filter k = {0};
    CU_ASSERT_EQUAL(count(&k, 0, 100), 100);
    sp_key_filter_add(&k, key_of(1));
    CU_ASSERT_EQUAL(count(&k, 0, 100), 100);
    sp_key_filter_begin(&k, SP_KEY_FILTER_LAYERS);
    CU_ASSERT_EQUAL(count(&k, 0, 100), 0);
    sp_key_filter_done(&k);
    CU_ASSERT_EQUAL(count(&k, 0, 100), 100);
}

TEST(keys_that_were_added_are_found_and_few_others)
{
    struct sp_key_filter k = {0};
    sp_key_filter_begin(&k, SP_KEY_FILTER_LAYERS);
    for (uint64_t n = 1000; n <= KEYS; n *= 10) {
        for (uint64_t i = n / 10; i < n; i++)
            sp_key_filter_add(&k, key_of(i));
        CU_ASSERT_EQUAL(count(&k, 100, n), n - 100);
        CU_ASSERT(count(&k, KEYS, KEYS + 100000) < 1000);
    }
    sp_key_filter_done(&k);
}

TEST(a_key_that_is_added_again_and_again_takes_the_room_of_one)
{
    struct sp_key_filter k = {0};
    sp_key_filter_begin(&k, SP_KEY_FILTER_LAYERS);
    for (int i = 0; i < KEYS; i++)
        sp_key_filter_add(&k, key_of(1));
    CU_ASSERT_EQUAL(k.count, 1);
    size_t room = k.room;
    sp_key_filter_add(&k, key_of(2));
    CU_ASSERT_EQUAL(k.room, room - 1);
    sp_key_filter_done(&k);
}

/* The layers have room for 10,485,760 keys, and take none for those that seem to be there. */
TEST(a_filter_that_would_become_too_large_is_dropped)
{
    enum { LAYERS = 2, ROOM = 5 << 21 };
    struct sp_key_filter k = {0};
    uint64_t added = 0;
    sp_key_filter_begin(&k, LAYERS);
    while (k.complete && added <= 4 * ROOM)
        sp_key_filter_add(&k, key_of(added++));
    CU_ASSERT(!k.complete);
    CU_ASSERT(added > ROOM);
    CU_ASSERT_EQUAL(count(&k, added, added + 100), 100);
    sp_key_filter_done(&k);
}
