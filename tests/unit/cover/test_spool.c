/* Memory-mapped spool files, and external sorting. */
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "cover/spool.h"
#include "harness.h"

static const char *temp(void)
{
    const char *directory = getenv("TMPDIR");
    return directory && *directory ? directory : "/tmp";
}

TEST(the_spool_returns_what_was_written)
{
    struct sp_spool s;
    struct sp_fault fault;
    sp_spool_open(&s, temp());
    for (uint64_t i = 0; i < 400000; i++)
        sp_spool_put(&s, &i, sizeof i);
    const uint64_t *all = sp_spool_map(&s);
    CU_ASSERT_EQUAL(sp_spool_check(&s, &fault), SP_OK);
    CU_ASSERT_FATAL(all != NULL && s.len == 400000 * 8);
    for (uint64_t i = 0; i < 400000; i++)
        CU_ASSERT_FATAL(all[i] == i);
    sp_spool_close(&s);
}

TEST(a_missing_directory_is_an_error_that_names_the_option)
{
    struct sp_spool s;
    struct sp_fault fault;
    sp_spool_open(&s, "/nowhere/at/all");
    sp_spool_put(&s, "x", 1);
    CU_ASSERT(sp_spool_map(&s) == NULL);
    CU_ASSERT_EQUAL(sp_spool_check(&s, &fault), SP_IO);
    CU_ASSERT(strstr(fault.text, "--temp") != NULL);
    sp_spool_close(&s);
}

static void check_sorter(size_t count, uint64_t memory_bytes)
{
    struct sp_sorter s;
    struct sp_record4 record, last = {{0}};
    struct sp_fault fault;
    uint64_t put = 0, got = 0;
    size_t n = 0;
    sp_sorter_open(&s, temp(), memory_bytes);
    for (size_t i = 0; i < count; i++) {
        uint64_t random = sp_mix64(i + count);
        record = (struct sp_record4){
            {random % 7, (uint32_t)(random >> 8) % 100, (uint32_t)(random >> 32), (uint32_t)i}};
        put += sp_mix64(i);
        sp_sorter_put(&s, record);
    }
    CU_ASSERT_EQUAL(sp_sorter_start(&s, &fault), SP_OK);
    for (; sp_sorter_next(&s, &record); n++) {
        for (unsigned k = 0; k < 4; k++) {
            if (last.key[k] != record.key[k]) {
                CU_ASSERT_FATAL(last.key[k] < record.key[k]);
                break;
            }
        }
        last = record;
        got += sp_mix64(record.key[3]);
    }
    CU_ASSERT_EQUAL(n, count);
    CU_ASSERT_EQUAL(put, got);
    CU_ASSERT(!sp_sorter_next(&s, &record));
    sp_sorter_close(&s);
}

TEST(the_sorter_is_right_for_any_memory)
{
    check_sorter(0, 1 << 20);
    check_sorter(1, 0);
    check_sorter(1024, 0);
    check_sorter(1025, 0);
    check_sorter(100000, 0); /* about a hundred runs */
    check_sorter(100000, 1 << 18);
    check_sorter(100000, 1 << 26);
}
