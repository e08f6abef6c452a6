/* Posting lists against a plain array. */
#include "base/hash.h"
#include "base/mem.h"
#include "harness.h"
#include "stars/shards.h"
#include "stars/table.h"

enum { KEYS = 300, MOST = 3000, FEW = 3072 };

struct model {
    uint32_t numbers[KEYS][MOST];
    uint32_t counts[KEYS];
};

static uint32_t key_of(uint32_t i)
{
    return i % 2 ? i : (uint32_t)sp_mix64(i);
}

static void check_key(const struct sp_star_table *t, const struct model *m, uint32_t i)
{
    struct sp_star_list list = sp_star_table_get(t, key_of(i));
    const uint32_t *numbers = sp_star_numbers(&list);
    uint64_t sum = 0, wanted = 0;
    CU_ASSERT_EQUAL(list.count, m->counts[i]);
    for (uint32_t k = 0; k < list.count; k++)
        sum += sp_mix64(numbers[k]);
    for (uint32_t k = 0; k < m->counts[i]; k++)
        wanted += sp_mix64(m->numbers[i][k]);
    CU_ASSERT_EQUAL(sum, wanted);
}

/* Beside the lists that are held against the model, there are `others` keys. */
static void check_lists(uint32_t others)
{
    struct sp_star_table *t = sp_star_table_new(FEW);
    struct model *m = sp_calloc(1, sizeof *m);
    uint64_t random = 1, postings = others;
    for (uint32_t i = 0; i < others; i++)
        sp_star_table_add(t, (uint32_t)sp_mix64(KEYS + i), i);
    for (uint32_t step = 0; step < 200000; step++) {
        random = sp_mix64(random + step);
        uint32_t i = random % 3 ? random % KEYS : random % 7; /* some lists are long */
        bool add = step < 100000 ? random >> 40 & 3 : !(random >> 40 & 3);
        if (add && m->counts[i] < MOST) {
            uint32_t number = (uint32_t)(random >> 20) % SP_STAR_NUMBERS;
            m->numbers[i][m->counts[i]++] = number;
            sp_star_table_add(t, key_of(i), number);
            postings++;
        } else if (m->counts[i]) {
            uint32_t k = (random >> 30) % m->counts[i];
            sp_star_table_remove(t, key_of(i), m->numbers[i][k]);
            m->numbers[i][k] = m->numbers[i][--m->counts[i]];
            postings--;
        }
        CU_ASSERT_EQUAL(sp_star_table_postings(t), postings);
        if (step % 1000 == 0)
            for (uint32_t k = 0; k < KEYS; k++)
                check_key(t, m, k);
    }
    sp_star_table_remove(t, 0xdeadbeef, 1); /* an absent entry */
    CU_ASSERT_EQUAL(sp_star_table_postings(t), postings);
    sp_free(m);
    sp_star_table_free(t);
}

TEST(lists_hold_what_was_added_and_not_removed)
{
    check_lists(0);
}

TEST(lists_of_a_table_of_many_keys_hold_what_was_added_and_not_removed)
{
    check_lists(250000);
}

static void check_displaced(uint32_t all)
{
    enum { STEP = 3 };
    struct sp_star_table *t = sp_star_table_new(FEW);
    for (uint32_t i = 0; i < all; i++)
        sp_star_table_add(t, (uint32_t)sp_mix64(i), i);
    for (uint32_t i = 0; i < all; i += STEP)
        sp_star_table_remove(t, (uint32_t)sp_mix64(i), i);
    for (uint32_t i = 0; i < 2 * all; i++) {
        struct sp_star_list list = sp_star_table_get(t, (uint32_t)sp_mix64(i));
        bool here = i < all && i % STEP, found = false;
        const uint32_t *numbers = sp_star_numbers(&list);
        for (uint32_t k = 0; k < list.count; k++)
            found |= numbers[k] == i;
        CU_ASSERT_EQUAL(found, here);
    }
    sp_star_table_free(t);
}

/* With the larger number of keys some homes are full, and displaced keys come and go. */
TEST(displaced_keys_are_found_and_absent_ones_are_not)
{
    for (uint32_t all = 10; all <= 10000; all *= 10)
        check_displaced(all);
    check_displaced(400000);
}

static size_t bytes_of_lists(uint32_t keys)
{
    struct sp_star_table *t = sp_star_table_new(FEW);
    for (uint32_t i = 0; i < 3 * keys; i++)
        sp_star_table_add(t, (uint32_t)sp_mix64(i % keys), i);
    size_t bytes = sp_star_table_bytes(t);
    sp_star_table_free(t);
    return bytes;
}

/* Each large group has tables of its own. */
TEST(a_table_takes_memory_by_its_keys)
{
    CU_ASSERT(bytes_of_lists(1) < 4096);
    for (uint32_t keys = 100; keys < 1000000; keys *= 4)
        CU_ASSERT(bytes_of_lists(keys) < 200 * keys);
}

/* Shards that are made too early or too small would be nearly empty. */
TEST(a_table_takes_as_many_bytes_a_key_however_many_keys_it_has)
{
    struct sp_star_table *t = sp_star_table_new(FEW);
    for (uint32_t keys = 0, step = 20000; step <= 1280000; step *= 4) {
        for (; keys < step; keys++)
            sp_star_table_add(t, (uint32_t)sp_mix64(keys), keys);
        CU_ASSERT(sp_star_table_bytes(t) < 11 * (size_t)keys);
    }
    sp_star_table_free(t);
}

/* In a small table more than a third of the places were free now and then. */
TEST(a_small_table_has_few_free_places)
{
    struct sp_star_table *t = sp_star_table_new(FEW);
    uint32_t keys = 0;
    for (uint32_t step = 40000; step <= 500000; step += step / 16) {
        for (; keys < step; keys++)
            sp_star_table_add(t, (uint32_t)sp_mix64(keys), keys);
        CU_ASSERT(sp_star_table_bytes(t) < 9 * (size_t)keys);
    }
    sp_star_table_free(t);
}

/* Different keys of the first shard; 64 at a time have equal last 16 bits, and some of these are in
 * one bucket. */
static uint32_t key_in_shard(uint32_t i)
{
    return (i % 64) << 16 | (i / 64 * 40503u & 0xffff);
}

/* The value that the key must have in the end: each third is changed, each fifth removed. `more` is
 * added to values that are changed. */
static uint32_t value_in_shard(uint32_t i, uint32_t more)
{
    return i % 5 == 0 ? SP_STAR_NO_VALUE : i % 3 == 0 ? SP_STAR_FLAG | (i + more) : i;
}

/* Each seventh key also has a second value in the end. */
static uint32_t second_in_shard(uint32_t i)
{
    return i % 7 == 0 ? SP_STAR_FLAG | (i + 1) : SP_STAR_NO_VALUE;
}

static bool has_values(struct sp_star_values v, uint32_t a, uint32_t b)
{
    bool ordered = v.first != SP_STAR_NO_VALUE || v.second == SP_STAR_NO_VALUE;
    return ordered && ((v.first == a && v.second == b) || (v.first == b && v.second == a));
}

static void check_shard(uint32_t count, uint32_t more)
{
    const uint32_t none = SP_STAR_NO_VALUE;
    struct sp_star_shards t = {0};
    sp_star_shards_make(&t);
    for (uint32_t i = 0; i < count; i++) {
        CU_ASSERT(has_values(sp_star_shards_get(&t, key_in_shard(i)), none, none));
        sp_star_shards_put(&t, key_in_shard(i), i);
        CU_ASSERT(has_values(sp_star_shards_get(&t, key_in_shard(i)), i, none));
    }
    for (uint32_t i = 0; i < count; i += 3)
        sp_star_shards_set(&t, key_in_shard(i), i, SP_STAR_FLAG | (i + more));
    for (uint32_t i = 0; i < count; i += 7)
        sp_star_shards_put(&t, key_in_shard(i), SP_STAR_FLAG | (i + 1));
    for (uint32_t i = 0; i < count; i += 5)
        sp_star_shards_take(&t, key_in_shard(i), i % 3 ? i : SP_STAR_FLAG | (i + more));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t key = key_in_shard(i), first = value_in_shard(i, more),
                 second = second_in_shard(i);
        CU_ASSERT(has_values(sp_star_shards_get(&t, key), first, second));
        CU_ASSERT(has_values(sp_star_shards_search(&t, key), first, second));
        CU_ASSERT(has_values(sp_star_shards_get(&t, 1u << 24 | key), none, none));
    }
    sp_star_shards_done(&t);
}

TEST(a_shard_tells_keys_apart_that_differ_only_in_bits_beside_the_tag)
{
    for (uint32_t count = 1; count < 14000; count = 2 * count + 1)
        check_shard(count, 0);
}

TEST(a_large_shard_has_all_its_keys)
{
    check_shard(20000, 0);
    check_shard(1000000, 0);
}

/* How many keys are moved until a shard has so many. */
static uint64_t moved_in_shard(uint32_t count)
{
    struct sp_star_shards t = {0};
    const struct sp_star_bucket *buckets = NULL;
    uint64_t moved = 0;
    sp_star_shards_make(&t);
    for (uint32_t i = 0; i < count; i++) {
        sp_star_shards_put(&t, key_in_shard(i), i);
        moved += t.shards[0].buckets == buckets ? 0 : i;
        buckets = t.shards[0].buckets;
    }
    sp_star_shards_done(&t);
    return moved;
}

TEST(a_key_is_moved_about_three_times_however_large_its_shard_is)
{
    for (uint32_t count = 1000; count <= 256000; count *= 4)
        CU_ASSERT(moved_in_shard(count) <= 4ull * count);
}

TEST(entries_become_wider_for_larger_numbers)
{
    for (uint32_t bits = 4; bits < 31; bits++)
        for (uint32_t count = 10; count <= 10000; count *= 10)
            check_shard(count, 1u << bits);
    check_shard(1000, SP_STAR_NUMBERS - 1000);
    check_shard(20000, SP_STAR_NUMBERS - 20000);
}

/* All of them are of one bucket, however many buckets there are. */
TEST(keys_that_crowd_in_one_bucket_are_found)
{
    enum { CROWD = 200 };
    struct sp_star_shards t = {0};
    sp_star_shards_make(&t);
    for (uint32_t i = 0; i < CROWD; i++)
        sp_star_shards_put(&t, i, i);
    for (uint32_t i = 0; i < CROWD; i += 2)
        sp_star_shards_take(&t, i, i);
    for (uint32_t i = 0; i < 2 * CROWD; i++) {
        uint32_t wanted = i < CROWD && i % 2 ? i : SP_STAR_NO_VALUE;
        CU_ASSERT(has_values(sp_star_shards_get(&t, i), wanted, SP_STAR_NO_VALUE));
    }
    sp_star_shards_done(&t);
}

struct numbers {
    uint32_t all[4096];
    uint32_t count;
};

static void add_numbers(void *arg, const uint32_t *numbers, uint32_t count)
{
    struct numbers *n = arg;
    CU_ASSERT_FATAL(n->count + count <= sizeof n->all / sizeof *n->all);
    memcpy(n->all + n->count, numbers, count * sizeof *numbers);
    n->count += count;
}

/* Every fourth key has no list, some beside them are given twice, and some lists are long. */
static void check_many(uint32_t others)
{
    enum { ALL = 1000, SALT = 77 };
    struct sp_star_table *t = sp_star_table_new(FEW);
    uint32_t keys[ALL], lengths[ALL];
    static struct numbers got;
    for (uint32_t i = 0; i < others; i++)
        sp_star_table_add(t, (uint32_t)sp_mix64(ALL + i), i);
    for (uint32_t i = 0; i < ALL; i++) {
        keys[i] = key_of(i - i % 50 / 49) ^ SALT;
        for (uint32_t k = 0; k < (i % 200 == 199 ? 40 : i % 4); k++)
            sp_star_table_add(t, key_of(i), 100 * i + k);
    }
    for (uint32_t count = 0; count <= ALL; count += count < 40 ? 1 : 120) {
        uint32_t next = 0;
        got.count = 0;
        sp_star_table_get_all(t, keys, SALT, count, lengths, add_numbers, &got);
        for (uint32_t i = 0; i < count; i++) {
            struct sp_star_list one = sp_star_table_get(t, keys[i] ^ SALT);
            CU_ASSERT_EQUAL(lengths[i], one.count);
            CU_ASSERT_FATAL(next + one.count <= got.count);
            CU_ASSERT_EQUAL(memcmp(got.all + next, sp_star_numbers(&one), one.count * 4), 0);
            next += one.count;
        }
        CU_ASSERT_EQUAL(next, got.count);
    }
    sp_star_table_free(t);
}

TEST(lists_of_many_keys_at_once_are_those_of_each)
{
    check_many(0);
    check_many(400000);
}

/* From a table of cells to one of shards, some of whose homes are full. */
TEST(new_keys_are_added_many_at_once)
{
    enum { ROUNDS = 5000, AT_ONCE = 80, SALT = 1234567 };
    struct sp_star_table *t = sp_star_table_new(FEW);
    uint32_t keys[AT_ONCE], wrong = 0;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        for (uint32_t k = 0; k < AT_ONCE; k++)
            keys[k] = (AT_ONCE * i + k) * 2654435761u; /* all different */
        sp_star_table_add_new(t, keys, SALT, i % AT_ONCE, i);
        for (uint32_t k = i % AT_ONCE; k < AT_ONCE; k++)
            sp_star_table_add(t, keys[k] ^ SALT, i);
        CU_ASSERT_EQUAL(sp_star_table_postings(t), AT_ONCE * (i + 1ull));
    }
    for (uint32_t i = 0; i < ROUNDS * AT_ONCE; i++) {
        struct sp_star_list list = sp_star_table_get(t, i * 2654435761u ^ SALT);
        wrong += list.count != 1 || list.numbers || list.few[0] != i / AT_ONCE;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    sp_star_table_free(t);
}

/* Removed lists give their memory to later ones. */
TEST(memory_is_used_again)
{
    struct sp_star_table *t = sp_star_table_new(FEW);
    size_t bytes = 0;
    for (uint32_t round = 0; round < 5; round++) {
        for (uint32_t i = 0; i < 100000; i++)
            sp_star_table_add(t, i % 1000, i);
        if (round == 0)
            bytes = sp_star_table_bytes(t);
        for (uint32_t i = 0; i < 100000; i++)
            sp_star_table_remove(t, i % 1000, i);
        CU_ASSERT_EQUAL(sp_star_table_postings(t), 0);
    }
    CU_ASSERT(sp_star_table_bytes(t) <= bytes + bytes / 4);
    sp_star_table_free(t);
}

/* Fifteen keys a shard, so that each shard grows more than once. */
TEST(no_list_is_lost_when_the_table_grows)
{
    enum { MANY = 1000000 };
    struct sp_star_table *t = sp_star_table_new(FEW);
    uint32_t lost = 0;
    for (uint32_t i = 0; i < MANY; i++)
        sp_star_table_add(t, (uint32_t)sp_mix64(i), i);
    for (uint32_t i = 0; i < MANY; i++) {
        struct sp_star_list list = sp_star_table_get(t, (uint32_t)sp_mix64(i));
        const uint32_t *numbers = sp_star_numbers(&list);
        bool found = false;
        for (uint32_t k = 0; k < list.count; k++)
            found |= numbers[k] == i;
        lost += !found;
    }
    CU_ASSERT_EQUAL(lost, 0);
    CU_ASSERT_EQUAL(sp_star_table_postings(t), MANY);
    sp_star_table_free(t);
}

TEST(an_add_without_room_is_noted_and_changes_nothing)
{
    enum { CHUNK_BYTES = 1 << 20, LIST_BYTES = 16, LISTS = CHUNK_BYTES / LIST_BYTES };
    struct sp_star_table *t = sp_star_table_new(FEW);
    sp_star_table_limit(t, CHUNK_BYTES);
    for (uint32_t i = 0; i < LISTS; i++) {
        sp_star_table_add(t, i, 1);
        sp_star_table_add(t, i, 2);
        sp_star_table_add(t, i, 3);
    }
    CU_ASSERT_FALSE(sp_star_table_is_full(t));
    sp_star_table_add(t, LISTS, 1); /* a key with two numbers needs no list */
    sp_star_table_add(t, LISTS, 2);
    CU_ASSERT_FALSE(sp_star_table_is_full(t));
    sp_star_table_add(t, LISTS, 3);
    CU_ASSERT_TRUE(sp_star_table_is_full(t));
    CU_ASSERT_EQUAL(sp_star_table_get(t, LISTS).count, 2);
    sp_star_table_add(t, 0, 4); /* the first list would have to move */
    CU_ASSERT_EQUAL(sp_star_table_get(t, 0).count, 3);
    CU_ASSERT_EQUAL(sp_star_table_postings(t), 3ull * LISTS + 2);
    sp_star_table_free(t);
}

/* Lists of seven numbers that lose four keep their place if there is none of half the size. */
TEST(a_list_shrinks_without_room)
{
    enum { CHUNK_BYTES = 1 << 20, LIST_BYTES = 32, LISTS = CHUNK_BYTES / LIST_BYTES, NUMBERS = 7 };
    struct sp_star_table *t = sp_star_table_new(FEW);
    sp_star_table_limit(t, 2 * CHUNK_BYTES);
    for (uint32_t i = 0; i < LISTS; i++)
        for (uint32_t n = 0; n < NUMBERS; n++)
            sp_star_table_add(t, i, n);
    while (!sp_star_table_is_full(t)) { /* takes the small places */
        uint32_t key = (uint32_t)sp_star_table_postings(t);
        for (uint32_t n = 0; n < 3; n++)
            sp_star_table_add(t, key, n);
    }
    for (uint32_t i = 0; i < LISTS; i++)
        for (uint32_t n = 0; n < 4; n++)
            sp_star_table_remove(t, i, n);
    for (uint32_t i = 0; i < LISTS; i++) {
        struct sp_star_list list = sp_star_table_get(t, i);
        uint32_t sum = 0;
        for (uint32_t k = 0; k < list.count; k++)
            sum += list.numbers[k];
        CU_ASSERT_EQUAL(list.count, NUMBERS - 4);
        CU_ASSERT_EQUAL(sum, 4 + 5 + 6);
    }
    sp_star_table_free(t);
}
