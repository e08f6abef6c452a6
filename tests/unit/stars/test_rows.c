/* Stored rows of the index: every impossible row is reported as damage. */
#include "base/mem.h"
#include "harness.h"
#include "stars/stars.h"

enum { KEPT = 16, POSTED = 3, PARITY_WORDS_MOST = 8 };

static const uint8_t bits[] = {0x05, 0x80}; /* bits of shingles 0, 2 and 15 */
static const uint64_t parity[PARITY_WORDS_MOST];
static const uint32_t hashes[] = {10, 20, 30};

static enum sp_err no_signature(void *arg, uint32_t row, const struct sp_signature **ret)
{
    (void)arg, (void)row, (void)ret;
    CU_FAIL("a row is restored without its signature");
    return SP_STORE;
}

static uint64_t number_of(void *arg, uint32_t row)
{
    (void)arg;
    return row + 1;
}

static struct sp_star_row pivot(void)
{
    return (struct sp_star_row){.role = SP_STAR_PIVOT,
                                .other = SP_STARS_NONE,
                                .adopter = SP_STARS_NONE,
                                .kept = KEPT,
                                .total = KEPT,
                                .posted = bits,
                                .parity = parity,
                                .hashes = hashes,
                                .hash_count = POSTED};
}

static struct sp_star_row child(uint32_t of)
{
    return (struct sp_star_row){.role = SP_STAR_CHILD,
                                .other = of,
                                .adopter = SP_STARS_NONE,
                                .kept = KEPT,
                                .total = KEPT,
                                .overlap = KEPT - 1};
}

/* Stores a row beside a pivot in row 0 and its child in row 1; returns the result of reading
 * them. */
static enum sp_err put_at(uint32_t at, const struct sp_star_row *row)
{
    struct sp_stars_options options = {.signature = no_signature, .name = number_of};
    sp_similarity_options_default(&options.similarity);
    struct sp_stars *s = sp_stars_new(&options);
    struct sp_stars_domain *d = sp_stars_domain_new(s, 77, false);
    struct sp_star_row first = pivot(), second = child(0);
    CU_ASSERT_TRUE(sp_stars_domain_posted(d));
    CU_ASSERT(sp_stars_parity_words(KEPT) <= PARITY_WORDS_MOST);
    CU_ASSERT_EQUAL_FATAL(sp_stars_row_put(d, 0, &first), SP_OK);
    CU_ASSERT_EQUAL_FATAL(sp_stars_row_put(d, 1, &second), SP_OK);
    enum sp_err err = sp_stars_row_put(d, at, row);
    sp_stars_free(s);
    sp_stars_domain_free(d);
    return err;
}

static enum sp_err put(struct sp_star_row row)
{
    return put_at(2, &row);
}

TEST(a_pivot_has_its_bits_and_its_parities_and_what_is_posted)
{
    struct sp_star_row row = pivot();
    CU_ASSERT_EQUAL(put(row), SP_OK);
    row.posted = NULL;
    CU_ASSERT_EQUAL(put(row), SP_CORRUPT);
    row.parity = NULL;
    CU_ASSERT_EQUAL(put(row), SP_CORRUPT);
    row.posted = bits;
    CU_ASSERT_EQUAL(put(row), SP_CORRUPT);
    row = pivot();
    row.hash_count = POSTED - 1;
    CU_ASSERT_EQUAL(put(row), SP_CORRUPT);
    row = pivot();
    row.hashes = (const uint32_t[]){10, 30, 20};
    CU_ASSERT_EQUAL(put(row), SP_CORRUPT);
    row.hashes = (const uint32_t[]){10, 20, 20}; /* a repeated shingle is valid */
    CU_ASSERT_EQUAL(put(row), SP_OK);
}

TEST(a_child_hangs_on_a_pivot_and_has_no_bits)
{
    struct sp_star_row row = child(0);
    CU_ASSERT_EQUAL(put(row), SP_OK);
    CU_ASSERT_EQUAL(put(child(1)), SP_CORRUPT);   /* its pivot is itself a child */
    CU_ASSERT_EQUAL(put(child(3)), SP_CORRUPT);   /* its pivot does not exist */
    CU_ASSERT_EQUAL(put(child(900)), SP_CORRUPT); /* the number of its pivot is out of range */
    row.overlap = KEPT;
    CU_ASSERT_EQUAL(put(row), SP_OK);
    row.overlap = KEPT + 1;
    CU_ASSERT_EQUAL(put(row), SP_CORRUPT);
    row = child(0);
    row.posted = bits;
    CU_ASSERT_EQUAL(put(row), SP_CORRUPT);
    row = child(0);
    row.parity = parity;
    CU_ASSERT_EQUAL(put(row), SP_CORRUPT);
}

TEST(a_row_has_a_place_of_its_own_and_sizes_that_can_be)
{
    struct sp_star_row row = child(0);
    row.kept = row.total = SP_MAX_SHINGLES_LIMIT + 1;
    CU_ASSERT_EQUAL(put(row), SP_CORRUPT);
    row.kept = SP_MAX_SHINGLES_LIMIT;
    CU_ASSERT_EQUAL(put(row), SP_OK);
    row = child(0);
    CU_ASSERT_EQUAL(put_at(0, &row), SP_CORRUPT); /* the place is taken */
    CU_ASSERT_EQUAL(put_at(1, &row), SP_CORRUPT);
    CU_ASSERT_EQUAL(put_at(SP_STARS_ROWS, &row), SP_CORRUPT);
    row.kept = KEPT + 1; /* more than the total */
    CU_ASSERT_EQUAL(put(row), SP_CORRUPT);
}
