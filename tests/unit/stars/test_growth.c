/* The cost of a probe grows neither with the number of near duplicates nor with the shingles that
 * pages of a site share, and neither does what each row costs when its pivot leaves: counts at n
 * and at 4n. */
#include "base/mem.h"
#include "harness.h"
#include "invariants.h"
#include "stars/internal.h"

enum { SIZE = 300, SHORT = 96, BYTES_A_ROW = 400 };

/* Replaces `changes` runs of five shingles, as changing one word does. */
static struct sp_signature *variant(struct sample *s, uint32_t family, uint32_t size,
                                    uint32_t changes)
{
    uint32_t shingles[SIZE];
    for (uint32_t i = 0; i < size; i++)
        shingles[i] = (uint32_t)sp_mix64(family * 1000ull + i);
    for (uint32_t i = 0; i < changes; i++) {
        uint32_t at = (uint32_t)sample_random(s, size - 5), word = (uint32_t)sample_random(s, 2000);
        for (uint32_t k = 0; k < 5; k++)
            shingles[at + k] = (uint32_t)sp_mix64((uint64_t)word << 40 | (at + k) << 8 | k);
    }
    return signature_of_set(s, shingles, size, s->random);
}

static uint32_t three_words(struct sample *s)
{
    (void)s;
    return 3;
}

static uint32_t one_in_a_hundred(struct sample *s)
{
    uint32_t changes = 0;
    for (uint32_t i = 0; i < SIZE; i++)
        changes += sample_random(s, 100) == 0;
    return changes;
}

/* Changes of a text of 96 shingles; two are as many as leave a row similar to the original, which
 * is the first row. */
static uint32_t around_one(struct sample *s)
{
    uint32_t changes = 0;
    for (uint32_t i = 0; i < SHORT && s->rows; i++)
        changes += sample_random(s, 100) == 0;
    return changes;
}

static struct sp_stars_stats cost(uint32_t rows, uint32_t (*changes)(struct sample *s))
{
    struct sample s;
    struct sp_similarity_options o;
    struct sp_stars_stats stats;
    sp_similarity_options_default(&o);
    sample_init(&s, &o, 1024, false);
    for (uint32_t i = 0; i < rows; i++)
        sample_add(&s, variant(&s, 1, SIZE, changes(&s)));
    sp_stars_stats(s.stars, &stats);
    sample_done(&s);
    return stats;
}

static void check_flat(uint32_t rows, uint32_t (*changes)(struct sample *s), double verified)
{
    struct sp_stars_stats once = cost(rows, changes), more = cost(4 * rows, changes);
    printf(
        "verified a probe: %.2f at %u rows, %.2f at %u; scanned %.1f, %.1f; touches %.2f, %.2f\n",
        (double)once.verified / rows, rows, (double)more.verified / rows / 4, 4 * rows,
        (double)once.scanned / rows, (double)more.scanned / rows / 4, (double)once.touches / rows,
        (double)more.touches / rows / 4);
    CU_ASSERT((double)more.verified / (4 * rows) <= verified);
    CU_ASSERT((double)more.verified / 4 <= 1.5 * (double)once.verified);
    CU_ASSERT((double)more.scanned / 4 <= 1.5 * (double)once.scanned);
    CU_ASSERT(once.bytes <= BYTES_A_ROW * (uint64_t)rows);
    CU_ASSERT(more.bytes <= BYTES_A_ROW * 4ull * rows);
}

TEST(near_duplicates_cost_one_comparison)
{
    check_flat(2000, three_words, 2);
}

TEST(a_loose_family_costs_few_comparisons)
{
    check_flat(2000, one_in_a_hundred, 10);
}

/* A page of a site: from `least` permille to 88 % of its shingles are those of the site's template.
 * The next one is the end of the template and a word that many pages have. `copy`: of that page,
 * with one in a hundred words replaced in the rest. */
static struct sp_signature *templated(struct sample *s, uint32_t size, uint32_t least,
                                      uint32_t page, bool copy)
{
    uint32_t shingles[SIZE], edits = (size + 50) / 100;
    uint32_t shared = size * (least + (uint32_t)(sp_mix64(page) % (881 - least))) / 1000;
    for (uint32_t i = 0; i < size; i++)
        shingles[i] = (uint32_t)sp_mix64((i < shared ? 0 : page) * 1000ull + i);
    shingles[shared] = (uint32_t)sp_mix64(sp_mix64(page) / 1000 % 8 << 40 | shared);
    for (uint32_t i = 0; copy && i < edits; i++) {
        uint32_t at = shared + (size - shared) / edits * i;
        for (uint32_t k = 0; k < 5; k++)
            shingles[at + k] = (uint32_t)sample_random(s, UINT32_MAX);
    }
    return signature_of_set(s, shingles, size, s->random);
}

/* One of twenty is a copy of the page before. */
static struct sp_signature *of_template(struct sample *s, uint32_t size, uint32_t page)
{
    bool copy = page % 20 == 0;
    return templated(s, size, 470, copy ? page - 1 : page, copy);
}

/* The last quarter of the pages, which are numbered from 1. */
static struct sp_stars_stats
cost_of_late(uint32_t rows, uint32_t size,
             struct sp_signature *(*make)(struct sample *s, uint32_t size, uint32_t page))
{
    struct sample s;
    struct sp_similarity_options o;
    struct sp_stars_stats before, after;
    sp_similarity_options_default(&o);
    sample_init(&s, &o, 1024, false);
    for (uint32_t i = 1; i <= rows; i++) {
        if (i == rows - rows / 4 + 1)
            sp_stars_stats(s.stars, &before);
        sample_add(&s, make(&s, size, i));
    }
    sp_stars_stats(s.stars, &after);
    sample_done(&s);
    after.scanned -= before.scanned;
    after.verified -= before.verified;
    return after;
}

static void check_template(uint32_t size, double scanned, double growth)
{
    enum { ROWS = 20000 };
    struct sp_stars_stats once = cost_of_late(ROWS, size, of_template),
                          more = cost_of_late(4 * ROWS, size, of_template);
    printf("scanned a probe: %.0f at %u rows, %.0f at %u; verified %.2f, %.2f\n",
           (double)once.scanned / (ROWS / 4), ROWS, (double)more.scanned / ROWS, 4 * ROWS,
           (double)once.verified / (ROWS / 4), (double)more.verified / ROWS);
    CU_ASSERT((double)more.scanned <= scanned * ROWS);
    CU_ASSERT((double)more.scanned / 4 <= growth * (double)once.scanned);
    CU_ASSERT((double)more.verified / 4 <= 1.5 * (double)once.verified);
}

TEST(pages_of_a_template_with_copies_here_and_there_read_few_postings)
{
    check_template(SIZE, 1200, 1.5);
    /* Ends of the template take longer to become common; then no star posts them. */
    check_template(SHORT, 800, 2);
}

/* A page with 98 shingles of its site's template, and 13 of its own, of which the first is that of
 * some other pages as well. Two pages are similar if they share it: then they share 99. */
static struct sp_signature *at_the_threshold(struct sample *s, uint32_t size, uint32_t page)
{
    enum { COMMON = 98, OWN = 13, FIRST_WORDS = 600 };
    uint32_t shingles[COMMON + OWN];
    (void)size;
    for (uint32_t i = 0; i < COMMON + OWN; i++)
        shingles[i] = (uint32_t)sp_mix64((i < COMMON ? 0 : page) * 1000ull + i);
    shingles[COMMON] = (uint32_t)sp_mix64(sp_mix64(page) % FIRST_WORDS << 40 | COMMON);
    return signature_of_set(s, shingles, COMMON + OWN, s->random);
}

/* Few similar pages make no star, which would post shingles of the template. */
TEST(pages_that_a_shingle_makes_similar_are_compared_with_few)
{
    enum { ROWS = 1000 };
    struct sp_stars_stats once = cost_of_late(ROWS, 0, at_the_threshold),
                          more = cost_of_late(4 * ROWS, 0, at_the_threshold);
    printf("verified a probe: %.1f at %d rows, %.1f at %d; scanned %.0f, %.0f\n",
           (double)once.verified / (ROWS / 4), ROWS, (double)more.verified / ROWS, 4 * ROWS,
           (double)once.scanned / (ROWS / 4), (double)more.scanned / ROWS);
    CU_ASSERT((double)more.verified <= 160.0 * ROWS);
    CU_ASSERT((double)more.scanned <= 500.0 * ROWS);
    CU_ASSERT((double)more.scanned / 4 <= 1.5 * (double)once.scanned);
}

/* One page comes at each step, and after the first ones another leaves at every `leaving` steps. */
static void check_exact(uint32_t first, uint32_t steps, uint32_t leaving,
                        struct sp_signature *(*make)(struct sample *s, uint32_t size,
                                                     uint32_t step))
{
    struct sample s;
    struct sp_similarity_options o;
    sp_similarity_options_default(&o);
    sample_init(&s, &o, 1024, false);
    for (uint32_t step = 0; step < steps; step++) {
        uint32_t row = s.rows ? (uint32_t)sample_random(&s, s.rows) : 0;
        if (step > first && step % leaving == 0 && s.live[row])
            sample_remove(&s, row);
        sample_add(&s, make(&s, SIZE, step));
        sample_work(&s, (uint32_t)sample_random(&s, 3));
        if (step % 97 == 0)
            sample_restore(&s);
        if (step % 100 == 99) {
            const char *broken = broken_invariant(&s);
            if (broken)
                printf("%s\n", broken);
            CU_ASSERT_PTR_NULL(broken);
            sample_settle(&s);
            CU_ASSERT(sample_is_exact(&s));
        }
    }
    sample_done(&s);
}

enum { PAGES = 400 };

static struct sp_signature *any_of_template(struct sample *s, uint32_t size, uint32_t step)
{
    uint32_t page = (uint32_t)sample_random(s, PAGES);
    return templated(s, size, 720, 1 + page, step % 2);
}

TEST(pages_of_a_template_are_exact_whatever_comes_and_goes)
{
    check_exact(PAGES, 1200, 2, any_of_template);
}

TEST(pages_that_a_shingle_makes_similar_are_exact_whatever_comes_and_goes)
{
    check_exact(PAGES, 2000, 3, at_the_threshold);
}

/* A page made of the same blocks as all others of its site: 54 of 60, at random. A block of six
 * words has two shingles, and four more with the block that follows. Two pages share about three
 * quarters of their shingles, some a little more than enough, and no shingle is rare. */
static struct sp_signature *of_blocks(struct sample *s, uint32_t size, uint32_t page)
{
    enum { BLOCKS = 60, LEFT_OUT = 6, OF_BLOCK = 2, OF_TWO = 4 };
    (void)size, (void)page;
    bool out[BLOCKS] = {0};
    uint32_t shingles[BLOCKS * (OF_BLOCK + OF_TWO)], count = 0, before = BLOCKS;
    for (uint32_t left = 0; left < LEFT_OUT;) {
        uint32_t block = (uint32_t)sample_random(s, BLOCKS);
        left += !out[block];
        out[block] = true;
    }
    for (uint32_t block = 0; block < BLOCKS; block++) {
        for (uint32_t k = 0; k < OF_TWO && !out[block]; k++)
            shingles[count++] = (uint32_t)sp_mix64(before << 16 | block << 8 | k);
        for (uint32_t k = 0; k < OF_BLOCK && !out[block]; k++)
            shingles[count++] = (uint32_t)sp_mix64(1u << 30 | block << 8 | k);
        before = out[block] ? before : block;
    }
    return signature_of_set(s, shingles, count, s->random);
}

/* A probe meets most stars of the site, whose number grows, but it is compared with few of their
 * rows. */
TEST(pages_made_of_the_same_blocks_are_compared_with_few_rows)
{
    enum { ROWS = 1500 };
    struct sp_stars_stats once = cost_of_late(ROWS, 0, of_blocks),
                          more = cost_of_late(4 * ROWS, 0, of_blocks);
    printf("verified a probe: %.1f at %u rows, %.1f at %u\n", (double)once.verified / (ROWS / 4),
           ROWS, (double)more.verified / ROWS, 4 * ROWS);
    CU_ASSERT((double)more.verified <= 200.0 * ROWS);
    CU_ASSERT((double)more.verified / 4 <= 3 * (double)once.verified);
}

TEST(pages_made_of_the_same_blocks_are_exact_whatever_comes_and_goes)
{
    check_exact(300, 700, 1, of_blocks);
}

/* What it takes until all is settled after the pivot of the largest star has left. */
static struct sp_stars_stats cost_of_leaving(uint32_t rows, uint32_t size,
                                             uint32_t (*changes)(struct sample *s))
{
    struct sample s;
    struct sp_similarity_options o;
    struct sp_stars_stats before, after;
    sp_similarity_options_default(&o);
    sample_init(&s, &o, 1024, false);
    for (uint32_t i = 0; i < rows; i++)
        sample_add(&s, variant(&s, 1, size, changes(&s)));
    uint32_t largest = 0;
    for (uint32_t i = 1; i < rows; i++)
        if (sp_stars_members(s.stars, i) > sp_stars_members(s.stars, largest))
            largest = i;
    uint32_t pivot = sp_stars_pivot(s.stars, largest);
    CU_ASSERT_FATAL(sp_stars_members(s.stars, pivot) > rows / 4);
    sp_stars_stats(s.stars, &before);
    sample_remove(&s, pivot);
    sample_settle(&s);
    sp_stars_stats(s.stars, &after);
    sample_done(&s);
    after.probes -= before.probes;
    after.verified -= before.verified;
    return after;
}

static void check_leaving(uint32_t rows, uint32_t size, uint32_t (*changes)(struct sample *s),
                          double probes, double verified)
{
    struct sp_stars_stats once = cost_of_leaving(rows, size, changes),
                          more = cost_of_leaving(4 * rows, size, changes);
    printf("a row: %.2f probes and %.2f verified at %u rows, %.2f and %.2f at %u\n",
           (double)once.probes / rows, (double)once.verified / rows, rows,
           (double)more.probes / rows / 4, (double)more.verified / rows / 4, 4 * rows);
    CU_ASSERT((double)once.probes / rows <= probes);
    CU_ASSERT((double)more.probes / (4 * rows) <= probes);
    CU_ASSERT((double)once.verified / rows <= verified);
    CU_ASSERT((double)more.verified / (4 * rows) <= verified);
}

TEST(when_a_pivot_leaves_each_row_costs_the_same_however_many_there_are)
{
    check_leaving(2000, SIZE, three_words, 1.2, 10);
    check_leaving(2000, SHORT, around_one, 1.2, 10);
}

/* A list of 30 products, each of which has a price of its own in one page of ten: a page resembles
 * those with few such prices, and not the others. */
static struct sp_signature *of_prices(struct sample *s)
{
    enum { PRODUCTS = 30, EACH = 5 };
    uint32_t shingles[PRODUCTS * EACH];
    for (uint32_t i = 0; i < PRODUCTS * EACH; i += EACH) {
        uint64_t price = sample_random(s, 10) ? 0 : 1 + sample_random(s, 100);
        for (uint32_t k = i; k < i + EACH; k++)
            shingles[k] = (uint32_t)sp_mix64(price << 32 | (k + 1));
    }
    return signature_of_set(s, shingles, PRODUCTS * EACH, s->random);
}

/* A run of six shingles of its own in one text of 96: a page resembles those whose run begins up to
 * four places before or after its own. */
static struct sp_signature *of_a_run(struct sample *s)
{
    enum { ALL = 96, RUN = 6 };
    uint32_t shingles[ALL], from = (uint32_t)sample_random(s, ALL - RUN);
    for (uint32_t i = 0; i < ALL; i++)
        shingles[i] = (uint32_t)(i - from < RUN ? sample_random(s, UINT32_MAX) : sp_mix64(i + 1));
    return signature_of_set(s, shingles, ALL, s->random);
}

/* All pages change three times, the oldest first. */
static struct sp_stars_stats cost_of_changes(uint32_t pages,
                                             struct sp_signature *(*page)(struct sample *s))
{
    struct sample s;
    struct sp_similarity_options o;
    struct sp_stars_stats before, after;
    sp_similarity_options_default(&o);
    sample_init(&s, &o, 1024, false);
    for (uint32_t i = 0; i < pages; i++)
        sample_add(&s, page(&s));
    sp_stars_stats(s.stars, &before);
    for (uint32_t i = 0; i < 3 * pages; i++) {
        sample_remove(&s, i);
        sample_add(&s, page(&s));
        sample_work(&s, 16);
    }
    sp_stars_stats(s.stars, &after);
    sample_settle(&s);
    CU_ASSERT(sample_is_exact(&s));
    sample_done(&s);
    after.probes -= before.probes;
    after.touches -= before.touches;
    after.verified -= before.verified;
    return after;
}

TEST(pages_that_change_again_and_again_touch_few_stars)
{
    enum { CHANGING = 500 };
    struct sp_stars_stats once = cost_of_changes(CHANGING, of_prices),
                          more = cost_of_changes(4 * CHANGING, of_prices);
    printf("a probe: %.2f touches and %.2f verified at %d pages, %.2f and %.2f at %d; a change: "
           "%.2f probes, %.2f\n",
           (double)once.touches / once.probes, (double)once.verified / once.probes, CHANGING,
           (double)more.touches / more.probes, (double)more.verified / more.probes, 4 * CHANGING,
           (double)once.probes / (3 * CHANGING), (double)more.probes / (12 * CHANGING));
    CU_ASSERT((double)once.touches <= 4.0 * once.probes);
    CU_ASSERT((double)more.touches <= 4.0 * more.probes);
    CU_ASSERT((double)more.verified <= 15.0 * more.probes);
    CU_ASSERT((double)more.probes <= 12.0 * 10 * CHANGING);
}

/* By their sizes, a probe could resemble the rows of each of about forty stars. Small stars are
 * tried row by row. */
TEST(few_rows_are_compared_with_pages_that_have_words_of_their_own_at_other_places)
{
    enum { MANY = 1000 };
    struct sp_stars_stats once = cost_of_changes(MANY, of_a_run),
                          more = cost_of_changes(4 * MANY, of_a_run);
    printf("a probe: %.2f verified at %d pages, %.2f at %d\n", (double)once.verified / once.probes,
           MANY, (double)more.verified / more.probes, 4 * MANY);
    CU_ASSERT((double)once.verified <= 200.0 * once.probes);
    CU_ASSERT((double)more.verified <= 200.0 * more.probes);
}

static uint64_t look_ups_of_unlike(uint32_t rows)
{
    struct sample s;
    struct sp_similarity_options o;
    struct sp_stars_stats stats;
    sp_similarity_options_default(&o);
    sample_init(&s, &o, 1024, false);
    for (uint32_t i = 0; i < rows; i++)
        sample_add(&s, variant(&s, i + 1, SIZE, 0));
    sp_stars_stats(s.stars, &stats);
    sample_done(&s);
    return stats.looked_up;
}

TEST(a_probe_among_unlike_rows_looks_up_a_third_of_its_shingles)
{
    enum { ROWS = 2000 };
    CU_ASSERT(look_ups_of_unlike(ROWS) < ROWS * SIZE * 2ull / 5);
    CU_ASSERT(look_ups_of_unlike(4 * ROWS) < 4 * ROWS * SIZE * 2ull / 5);
}

/* A signature of shingles that many others have. */
static struct sp_signature *of_few_shingles(struct sample *s)
{
    enum { COUNT = 30, SHINGLES = 200 };
    uint32_t shingles[COUNT];
    for (uint32_t i = 0; i < COUNT; i++)
        shingles[i] = (uint32_t)sp_mix64(sample_random(s, SHINGLES));
    return signature_of_set(s, shingles, COUNT, s->random);
}

TEST(an_index_without_room_for_a_list_is_full)
{
    enum { ROWS = 4000 };
    struct sample s;
    struct sp_similarity_options o;
    struct sp_touches touches;
    enum sp_err err = SP_OK;
    sp_similarity_options_default(&o);
    sample_init(&s, &o, 1024, false);
    sp_star_table_limit(s.stars->posted, 0);
    while (err == SP_OK && s.rows < ROWS) {
        uint32_t row = s.rows++;
        s.signatures[row] = of_few_shingles(&s);
        s.live[row] = true;
        err = sp_stars_insert(s.domain, row, s.signatures[row], &touches);
    }
    CU_ASSERT_EQUAL(err, SP_FULL);
    CU_ASSERT(s.rows > 1);
    CU_ASSERT_EQUAL(sp_stars_probe(s.domain, s.signatures[0], 0, &touches), SP_FULL);
    sample_done(&s);
}
