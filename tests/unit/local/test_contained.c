/* The check of containment from scratch detects errors. */
#include "base/mem.h"
#include "harness.h"
#include "local/contained.h"
#include "made_up.h"

enum { PAGES = 3 };

static struct sp_signature *signature(uint32_t from, uint32_t count)
{
    return made_up_range((struct sp_id){from, count}, from, count);
}

static void note(void *arg, size_t page, const char *what)
{
    (void)what;
    *(uint64_t *)arg += 1 + 100 * page;
}

/* Page 1 has 95 of the 100 shingles of page 0, page 2 none. */
static uint64_t differences(uint64_t contained_in, float containment)
{
    const struct sp_contain_options options = {.threshold = 0.9, .boilerplate = 1};
    struct sp_contained_page pages[PAGES] = {
        {"http://a.test/", {0, 10}, {0, contained_in}, containment, signature(0, 100)},
        {"http://b.test/", {0, 11}, {0, 0}, 0, signature(5, 200)},
        {"http://c.test/", {0, 12}, {0, 0}, 0, signature(210, 300)}};
    struct sp_db *db = sp_db_open_memory();
    uint64_t n = 0;
    CU_ASSERT_EQUAL(sp_contained_check(sp_db_store(db, 1), &options, pages, PAGES, note, &n),
                    SP_OK);
    sp_db_close(db);
    for (int i = 0; i < PAGES; i++)
        sp_signature_unref((struct sp_signature *)(uintptr_t)pages[i].signature);
    return n;
}

TEST(what_is_missed_or_invented_is_a_difference)
{
    CU_ASSERT_EQUAL(differences(11, 0.95F), 0);
    CU_ASSERT_EQUAL(differences(0, 0), 1);
    CU_ASSERT_EQUAL(differences(11, 0.96F), 1);
    CU_ASSERT_EQUAL(differences(12, 0.95F), 1);
    CU_ASSERT_EQUAL(differences(13, 0.95F), 1);
}
