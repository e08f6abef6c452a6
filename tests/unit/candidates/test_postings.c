/* Posting lists: adding many at once, and removing. */
#include "candidates/postings.h"

#include "base/hash.h"
#include "base/mem.h"
#include "harness.h"

enum { KEYS = 40, SLOTS = 400 };

static bool divides(void *arg, uint32_t slot)
{
    return slot % *(const uint32_t *)arg == 0;
}

/* Key k lists the slots that are multiples of k + 1, in order: lists of 400 down to 10. */
static struct sp_postings *multiples(void)
{
    struct sp_postings *p = sp_postings_new();
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        for (uint32_t key = 0; key < KEYS; key++)
            if (slot % (key + 1) == 0)
                sp_postings_add(p, key, slot);
    return p;
}

static void check_list(struct sp_postings *p, uint32_t key, uint32_t step)
{
    struct sp_posting_list list = sp_postings_get(p, key);
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        if (slot % (key + 1) != 0 || slot % step != 0)
            continue;
        CU_ASSERT_TRUE_FATAL(count < list.count);
        CU_ASSERT_EQUAL(list.slots ? list.slots[count] : list.only, slot);
        count++;
    }
    CU_ASSERT_EQUAL(list.count, count);
}

static void check_equal(struct sp_postings *a, struct sp_postings *b, uint32_t key)
{
    struct sp_posting_list x = sp_postings_get(a, key), y = sp_postings_get(b, key);
    CU_ASSERT_EQUAL_FATAL(x.count, y.count);
    for (uint32_t i = 0; i < x.count; i++)
        CU_ASSERT_EQUAL(x.slots ? x.slots[i] : x.only, y.slots ? y.slots[i] : y.only);
}

/* Enough keys for every shard. */
TEST(postings_that_are_added_together_are_those_added_one_by_one)
{
    enum { MANY = 20000, DIFFERENT = 5000 };
    struct sp_posting *all = sp_alloc(MANY * sizeof *all), *scratch = sp_alloc(MANY * sizeof *all);
    struct sp_postings *one_by_one = sp_postings_new(), *together = sp_postings_new();
    for (uint32_t i = 0; i < MANY; i++) {
        all[i] = (struct sp_posting){i * 2654435761u % DIFFERENT * 858993u, i};
        sp_postings_add(one_by_one, all[i].key, i);
    }
    sp_postings_add_many(together, all, MANY / 2, scratch); /* also appends to existing lists */
    sp_postings_add_many(together, all + MANY / 2, MANY / 2, scratch);
    sp_postings_trim(together);
    for (uint32_t key = 0; key < DIFFERENT; key++) {
        CU_ASSERT(sp_postings_get(one_by_one, key * 858993u).count > 1);
        check_equal(one_by_one, together, key * 858993u);
    }
    sp_postings_free(one_by_one);
    sp_postings_free(together);
    sp_free(all);
    sp_free(scratch);
}

/* Enough keys for chains of cells in every shard. */
TEST(a_removed_slot_is_gone_and_all_others_are_as_before)
{
    enum { MANY = 120000, DIFFERENT = 40000 };
    struct sp_postings *p = sp_postings_new(), *kept = sp_postings_new();
    for (uint32_t i = 0; i < MANY; i++) {
        sp_postings_add(p, sp_mix64(i) % DIFFERENT, i);
        if (i % 5 < 2)
            sp_postings_add(kept, sp_mix64(i) % DIFFERENT, i);
    }
    for (int round = 0; round < 2; round++) /* the second removes nothing */
        for (uint32_t i = 0; i < MANY; i++)
            if (i % 5 >= 2)
                sp_postings_remove(p, sp_mix64(i) % DIFFERENT, i);
    for (uint32_t key = 0; key < DIFFERENT; key++)
        check_equal(p, kept, key);
    sp_postings_free(p);
    sp_postings_free(kept);
}

TEST(memory_does_not_grow_with_turnover)
{
    enum { MANY = 400000 };
    struct sp_postings *p = sp_postings_new();
    size_t full = 0;
    for (uint32_t round = 0; round < 6; round++) {
        for (uint32_t i = 0; i < MANY; i++) /* some keys have ten slots, most have one */
            sp_postings_add(p, (uint32_t)sp_mix64((uint64_t)round << 40 | (i % 4 ? i : i / 40)), i);
        if (round == 0)
            full = sp_postings_bytes(p);
        for (uint32_t i = 0; i < MANY; i++)
            sp_postings_remove(p, (uint32_t)sp_mix64((uint64_t)round << 40 | (i % 4 ? i : i / 40)),
                               i);
    }
    CU_ASSERT(sp_postings_bytes(p) < 2 * full);
    sp_postings_free(p);
}

TEST(a_filtered_list_has_the_others_in_their_order_and_other_lists_are_as_before)
{
    struct sp_postings *p = multiples();
    uint32_t step = 3;
    for (uint32_t key = 0; key < KEYS; key += 2)
        sp_postings_filter(p, key, divides, &step);
    sp_postings_filter(p, 7777, divides, &step); /* a key without a list */
    for (uint32_t key = 0; key < KEYS; key++)
        check_list(p, key, key % 2 ? 1 : step);
    for (uint32_t key = 0; key < KEYS; key += 2) /* freed memory is reused */
        sp_postings_add(p, key, SLOTS);
    for (uint32_t key = 1; key < KEYS; key += 2)
        check_list(p, key, 1);
    sp_postings_free(p);
}

TEST(a_list_may_be_filtered_to_one_slot_or_none)
{
    struct sp_postings *p = multiples();
    uint32_t most = SLOTS; /* only slot 0 is a multiple */
    sp_postings_filter(p, 1, divides, &most);
    struct sp_posting_list list = sp_postings_get(p, 1);
    CU_ASSERT_EQUAL(list.count, 1);
    CU_ASSERT_EQUAL(list.slots ? list.slots[0] : list.only, 0);
    sp_postings_filter(p, 1, divides, &most);
    CU_ASSERT_EQUAL(sp_postings_get(p, 1).count, 1);
    sp_postings_remove(p, 1, 0);
    sp_postings_add(p, 1, 5);
    sp_postings_filter(p, 1, divides, &most);
    CU_ASSERT_EQUAL(sp_postings_get(p, 1).count, 0);
    sp_postings_remove(p, 2, 0);
    sp_postings_filter(p, 2, divides, &most); /* filters out the whole list */
    CU_ASSERT_EQUAL(sp_postings_get(p, 2).count, 0);
    sp_postings_add(p, 2, 9);
    CU_ASSERT_EQUAL(sp_postings_get(p, 2).count, 1);
    for (uint32_t key = 3; key < KEYS; key++)
        check_list(p, key, 1);
    sp_postings_free(p);
}

/* All pages of a site may share a text. */
TEST(a_list_and_those_made_after_it_can_be_longer_than_a_hundred_million_words)
{
    enum { LONG = 68000000, OTHER = 7 };
    struct sp_postings *p = sp_postings_new();
    for (uint32_t slot = 0; slot < LONG; slot++)
        sp_postings_add(p, 0, slot + 1);
    for (uint32_t slot = 0; slot < OTHER; slot++)
        sp_postings_add(p, 1, UINT32_MAX - slot);
    struct sp_posting_list list = sp_postings_get(p, 0);
    CU_ASSERT_EQUAL_FATAL(list.count, LONG);
    CU_ASSERT_EQUAL(list.slots[0], 1);
    CU_ASSERT_EQUAL(list.slots[LONG - 1], LONG);
    list = sp_postings_get(p, 1);
    CU_ASSERT_EQUAL_FATAL(list.count, OTHER);
    CU_ASSERT_EQUAL(list.slots[0], UINT32_MAX);
    CU_ASSERT(sp_postings_bytes(p) > sizeof(uint32_t) << 27);
    sp_postings_free(p);
}
