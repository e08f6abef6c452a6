/* Which states an instance keeps copies of: all those that it can get when others leave. */
#include <string.h>

#include "base/mem.h"
#include "harness.h"
#include "kafka/standby.h"

enum { MEMBERS_MOST = 7, PARTITIONS_MOST = 13 };

/* Kafka's range assignor: partitions in order, and the first members have one more. */
static int owner_of(int partition, int partitions, int members)
{
    int at = 0;
    for (int m = 0; m < members; m++)
        for (int n = partitions / members + (m < partitions % members); n > 0; n--)
            if (at++ == partition)
                return m;
    return -1;
}

static int bits(unsigned set)
{
    return __builtin_popcount(set);
}

/* Whether `position` gets the partition if exactly these members leave. */
static bool inherits(int partition, int partitions, int members, int position, unsigned gone)
{
    unsigned before = gone & ((1u << position) - 1);
    return owner_of(partition, partitions, members - bits(gone)) == position - bits(before);
}

static void check_all(int partitions, int members, int position, int replicas)
{
    bool chosen[PARTITIONS_MOST], wanted[PARTITIONS_MOST] = {false};
    for (unsigned gone = 1; gone < 1u << members; gone++)
        for (int p = 0; p < partitions && bits(gone) <= replicas && !(gone >> position & 1); p++)
            wanted[p] = wanted[p] || inherits(p, partitions, members, position, gone);
    sp_standby_choose(partitions, (size_t)members, (size_t)position, (size_t)replicas, chosen);
    CU_ASSERT_EQUAL(memcmp(chosen, wanted, (size_t)partitions * sizeof *wanted), 0);
}

TEST(an_instance_follows_what_it_gets_whichever_others_leave_and_no_more)
{
    for (int members = 1; members <= MEMBERS_MOST; members++)
        for (int partitions = 1; partitions <= PARTITIONS_MOST; partitions++)
            for (int position = 0; position < members; position++)
                for (int replicas = 0; replicas <= members + 1; replicas++)
                    check_all(partitions, members, position, replicas);
}

TEST(of_two_instances_each_follows_all_states_and_one_alone_follows_none)
{
    bool chosen[4];
    sp_standby_choose(4, 2, 1, 1, chosen);
    CU_ASSERT_TRUE(chosen[0] && chosen[1] && chosen[2] && chosen[3]);
    sp_standby_choose(4, 1, 0, 1, chosen);
    CU_ASSERT_FALSE(chosen[0] || chosen[1] || chosen[2] || chosen[3]);
}

TEST(the_first_partition_of_an_assignment_is_found_and_no_part_of_it_is_read_beyond)
{
    static const char bytes[] = "\0\1\0\0\0\2"
                                "\0\1x\0\0\0\1\0\0\0\0"
                                "\0\5tier1\0\0\0\2\0\0\1\2\0\0\0\7"
                                "\0\0\0\0";
    CU_ASSERT_EQUAL(sp_standby_first(sp_view(bytes, sizeof bytes - 1), "tier1"), 7);
    CU_ASSERT_EQUAL(sp_standby_first(sp_view(bytes, sizeof bytes - 1), "x"), 0);
    CU_ASSERT_EQUAL(sp_standby_first(sp_view(bytes, sizeof bytes - 1), "tier"), INT32_MAX);
    CU_ASSERT_EQUAL(sp_standby_first(sp_view(NULL, 0), "tier1"), INT32_MAX);
    for (size_t n = 1; n < sizeof bytes - 1; n++) { /* in an allocation of the exact size */
        char *cut = sp_memdup(bytes, n);
        int32_t first = sp_standby_first(sp_view(cut, n), "tier1");
        CU_ASSERT_TRUE(first == INT32_MAX || first == 258 || first == 7);
        sp_free(cut);
    }
}
