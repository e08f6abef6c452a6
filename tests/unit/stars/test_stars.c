/* The star index against components computed from scratch. */
#include <stdio.h>

#include "base/mem.h"
#include "harness.h"
#include "invariants.h"

static struct sp_similarity_options shingles_at(double threshold)
{
    struct sp_similarity_options o;
    sp_similarity_options_default(&o);
    o.threshold = threshold;
    return o;
}

/* A crawl of families: a member is its family's base with up to `most` of `size` shingles replaced,
 * often by ones that other members use, too; families share a part of their base. */
static struct sp_signature *member(struct sample *s, uint32_t families, uint32_t size,
                                   uint32_t most)
{
    uint32_t shingles[4096], family = (uint32_t)sample_random(s, families);
    for (uint32_t i = 0; i < size; i++) {
        bool shared = i < size * (30 + family * 7 % 50) / 100;
        shingles[i] = (uint32_t)sp_mix64((shared ? 0 : family + 1) * 100000ull + i);
    }
    uint32_t changes = (uint32_t)sample_random(s, most + 1);
    for (uint32_t i = 0; i < changes; i++) {
        uint64_t to = sample_random(s, 3) ? sample_random(s, 40) : s->random;
        shingles[sample_random(s, size)] = (uint32_t)sp_mix64(to + 1000000007);
    }
    uint32_t count = size - (uint32_t)sample_random(s, size / 10 + 1);
    return signature_of_set(s, shingles, count, s->random);
}

static void check_invariants(struct sample *s)
{
    const char *broken = broken_invariant(s);
    if (broken)
        printf("%s\n", broken);
    CU_ASSERT_PTR_NULL(broken);
}

/* Nothing is left behind by rows that leave. */
static void check_ends_empty(struct sample *s)
{
    struct sp_stars_stats stats;
    for (uint32_t row = 0; row < s->rows; row++)
        if (s->live[row])
            sample_remove(s, row);
    sample_settle(s);
    sp_stars_stats(s->stars, &stats);
    CU_ASSERT_EQUAL(stats.rows, 0);
    CU_ASSERT_EQUAL(stats.stars, 0);
    CU_ASSERT_EQUAL(stats.postings, 0);
}

struct churn {
    double threshold;
    uint32_t max_shingles;
    bool small;
    uint32_t families;
    uint32_t size;
    uint32_t most;
    uint32_t rows;
    uint32_t steps;
};

static void check_churn(const struct churn *c)
{
    struct sample s;
    struct sp_similarity_options o = shingles_at(c->threshold);
    sample_init(&s, &o, c->max_shingles, c->small);
    for (uint32_t i = 0; i < c->rows; i++)
        sample_add(&s, member(&s, c->families, c->size, c->most));
    CU_ASSERT(sample_is_exact(&s));
    for (uint32_t step = 0; step < c->steps; step++) {
        uint32_t row = (uint32_t)sample_random(&s, s.rows);
        if (s.live[row])
            sample_remove(&s, row);
        if (sample_random(&s, 2))
            sample_work(&s, (uint32_t)sample_random(&s, 4));
        sample_add(&s, member(&s, c->families, c->size, c->most));
        if (step % 97 == 0)
            sample_restore(&s);
        check_invariants(&s);
        if (step % 50 == 0) {
            sample_settle(&s);
            CU_ASSERT(sample_is_exact(&s));
        }
    }
    sample_settle(&s);
    CU_ASSERT(sample_is_exact(&s));
    check_ends_empty(&s);
    sample_done(&s);
}

TEST(components_are_exact_whatever_comes_and_goes)
{
    for (uint32_t most = 2; most <= 40; most += 6)
        check_churn(&(struct churn){0.8, 1024, false, 5, 100, most, 120, 150});
}

TEST(a_small_domain_is_exact_before_and_after_it_is_posted)
{
    for (uint32_t rows = 2; rows < 30; rows += 5)
        check_churn(&(struct churn){0.8, 1024, true, 2, 60, 9, rows, 60});
}

TEST(capped_signatures_are_found)
{
    check_churn(&(struct churn){0.8, 50, false, 4, 70, 10, 100, 100});
    check_churn(&(struct churn){0.8, 64, false, 4, 70, 16, 100, 100});
}

TEST(every_threshold_is_lossless)
{
    static const double thresholds[] = {0.3, 0.5, 0.55, 0.7, 0.9, 1};
    for (size_t i = 0; i < sizeof thresholds / sizeof *thresholds; i++)
        check_churn(&(struct churn){thresholds[i], 1024, false, 5, 40, 25, 80, 100});
}

TEST(short_pages_are_found)
{
    for (uint32_t size = 1; size < 12; size++)
        check_churn(&(struct churn){0.8, 1024, false, 6, size, 2, 60, 40});
}

/* All of a page's shingles may hash alike. */
TEST(repeated_shingles_lose_nothing)
{
    struct sample s;
    struct sp_similarity_options o = shingles_at(0.8);
    sample_init(&s, &o, 1024, false);
    for (uint32_t i = 0; i < 300; i++) {
        uint32_t shingles[40], count = 5 + (uint32_t)sample_random(&s, 30);
        for (uint32_t k = 0; k < count; k++)
            shingles[k] = 1 + (uint32_t)sample_random(&s, 1 + sample_random(&s, 12));
        sample_add(&s, signature_of_set(&s, shingles, count, i));
    }
    CU_ASSERT(sample_is_exact(&s));
    for (uint32_t i = 0; i < 300; i += 2)
        sample_remove(&s, i);
    sample_settle(&s);
    CU_ASSERT(sample_is_exact(&s));
    sample_done(&s);
}

/* Large stars: their index, common shingles, members that the pivot does not resemble. */
TEST(large_stars_are_exact)
{
    check_churn(&(struct churn){0.8, 1024, false, 1, 100, 16, 400, 300});
    check_churn(&(struct churn){0.8, 1024, false, 2, 60, 9, 500, 200});
}

/* Of two long pages one knows a smaller range: what is posted must lie in it. */
TEST(a_capped_signature_is_found_by_its_lowest_shingles)
{
    for (uint32_t trial = 0; trial < 200; trial++) {
        struct sample s;
        struct sp_similarity_options o = shingles_at(0.8);
        struct sp_touches touches;
        uint32_t shingles[130];
        sample_init(&s, &o, 100, false);
        for (uint32_t i = 0; i < 130; i++)
            shingles[i] = (uint32_t)sp_mix64(trial * 1000 + i);
        /* The first has what the second keeps, and lists make its highest ones the rarest. */
        struct sp_signature *first = signature_of_set(&s, shingles, 100 + trial % 2 * 25, trial);
        for (uint32_t i = 0; i < 76 + trial % 5; i++)
            sample_add(&s, signature_of_set(&s, (uint32_t[]){first->hashes[i]}, 1, 5000 + i));
        sample_add(&s, first);
        struct sp_signature *second = signature_of_set(&s, shingles, 125, trial + 500);
        CU_ASSERT_EQUAL(sp_stars_probe(s.domain, second, SP_STARS_NONE, &touches), SP_OK);
        CU_ASSERT_EQUAL(touches.count, sp_similar(&o, first, second, NULL));
        sp_signature_unref(second);
        sample_done(&s);
    }
}

TEST(domains_do_not_meet)
{
    struct sample s;
    struct sp_similarity_options o = shingles_at(0.8);
    struct sp_touches touches;
    sample_init(&s, &o, 1024, false);
    struct sp_stars_domain *other = sp_stars_domain_new(s.stars, 78, false);
    uint32_t row = sample_add(&s, member(&s, 1, 50, 0));
    CU_ASSERT_EQUAL(sp_stars_probe(other, s.signatures[row], SP_STARS_NONE, &touches), SP_OK);
    CU_ASSERT_EQUAL(touches.count, 0);
    CU_ASSERT_EQUAL(sp_stars_probe(s.domain, s.signatures[row], SP_STARS_NONE, &touches), SP_OK);
    CU_ASSERT_EQUAL(touches.count, 1);
    CU_ASSERT_EQUAL(sp_stars_probe(s.domain, s.signatures[row], row, &touches), SP_OK);
    CU_ASSERT_EQUAL(touches.count, 0);
    sp_stars_domain_free(other);
    sample_done(&s);
}

enum { RELATIVE = 300, OWN = 20, OTHERS = 30 };

static uint32_t own_shingle(uint64_t serial, uint32_t place)
{
    return (uint32_t)sp_mix64(serial * 1000 + place);
}

/* A page of a family: what all have in common, and shingles of its own in the first places. */
static struct sp_signature *relative(struct sample *s, uint64_t serial)
{
    uint32_t shingles[RELATIVE];
    for (uint32_t i = 0; i < RELATIVE; i++)
        shingles[i] = own_shingle(i < OWN ? serial : 0, i);
    return signature_of_set(s, shingles, RELATIVE, serial);
}

/* Similar to that one only: with its own shingles, and others instead of some of the common ones.
 */
static struct sp_signature *friend_of(struct sample *s, uint64_t other, uint64_t serial)
{
    uint32_t shingles[RELATIVE];
    for (uint32_t i = 0; i < RELATIVE; i++)
        shingles[i] = own_shingle(i < OWN ? other : 0, i);
    for (uint32_t i = 0; i < OTHERS; i++) {
        uint32_t at = OWN + (uint32_t)(sp_mix64(serial * 100 + i) % (RELATIVE - OWN));
        shingles[at] = own_shingle(serial, at);
    }
    return signature_of_set(s, shingles, RELATIVE, serial);
}

/* The first serial from there whose row is among the first in the order of names. */
static uint64_t early_serial(uint64_t serial)
{
    while (sp_hash128(&serial, sizeof serial).lo >> 56)
        serial++;
    return serial;
}

/* Without that, every page that resembles only the rival costs a look at all of the star. */
TEST(a_star_drains_into_that_of_a_child_that_resembles_what_its_pivot_does_not)
{
    enum { CHILDREN = 128, FRIENDS = 40 };
    struct sample s;
    struct sp_similarity_options o = shingles_at(0.8);
    sample_init(&s, &o, 1024, false);
    uint32_t count, rows[CHILDREN];
    for (count = 0; count < 70; count++)
        rows[count] = sample_add(&s, relative(&s, 1000 + count));
    uint64_t serial = early_serial(5000);
    uint32_t rival = sample_add(&s, relative(&s, serial));
    for (uint32_t i = 0; i < FRIENDS; i++)
        sample_add(&s, friend_of(&s, serial, 9000 + i));
    CU_ASSERT_FALSE(sp_stars_owes(s.domain));
    for (; count < CHILDREN && !sp_stars_owes(s.domain); count++)
        rows[count] = sample_add(&s, relative(&s, 1000 + count));
    CU_ASSERT_EQUAL(count, CHILDREN); /* with the rival, and without the pivot: as many children */
    sample_settle(&s);
    uint32_t moved = 0;
    for (uint32_t i = 0; i < count; i++)
        moved += sp_stars_pivot(s.stars, rows[i]) == rival;
    CU_ASSERT_EQUAL(moved, count);
    check_invariants(&s);
    CU_ASSERT_TRUE(sample_is_exact(&s));
    sample_done(&s);
}
