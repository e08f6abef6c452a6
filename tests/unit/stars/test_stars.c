/* The star index against components computed from scratch. */
#include <stdlib.h>

#include "base/mem.h"
#include "harness.h"
#include "invariants.h"
#include "stars/internal.h"

static struct sp_similarity_options shingles_at(double threshold)
{
    struct sp_similarity_options o;
    sp_similarity_options_default(&o);
    o.threshold = threshold;
    return o;
}

/* A crawl of families: a member is its family's base with up to `most` of `size` shingles replaced,
 * often by ones that other members use; families share a part of their base. */
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

/* Removing all rows leaves nothing in the index. */
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

/* Kids of one pivot, so many that their shingles are counted, not listed. Every third has five
 * shingles that the pivot lacks: too few such kids for one of them to become the pivot. */
TEST(what_many_kids_share_is_counted_and_forgotten_with_them)
{
    enum { KIDS = 300, SIZE = 100, SHARED = 5 };
    struct sample s;
    struct sp_similarity_options o = shingles_at(0.8);
    sample_init(&s, &o, 1024, false);
    for (uint32_t row = 0; row <= KIDS; row++) {
        uint32_t shingles[SIZE];
        for (uint32_t i = 0; i < SIZE; i++)
            shingles[i] = (row % 3 == 1 && i < SHARED ? 5000 + i : i) * 1000;
        if (row > 0)
            shingles[SIZE - 1] = 1000000 + row;
        sample_add(&s, signature_of_set(&s, shingles, SIZE, row));
    }
    check_invariants(&s);
    CU_ASSERT_EQUAL(counted_shingles(&s), SHARED);
    check_ends_empty(&s);
    CU_ASSERT_EQUAL(counted_shingles(&s), 0);
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

/* Every shingle of a page may have the same hash. */
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

TEST(the_candidates_of_a_probe_are_announced_together)
{
    enum { EACH = 40 };
    struct sample s;
    struct sp_similarity_options o = shingles_at(0.5);
    uint32_t shingles[2 * EACH];
    sample_init(&s, &o, 1024, false);
    for (uint32_t i = 0; i < 2 * EACH; i++)
        shingles[i] = 1 + i;
    sample_add(&s, signature_of_set(&s, shingles, EACH, 1));
    sample_add(&s, signature_of_set(&s, shingles + EACH, EACH, 2));
    CU_ASSERT_EQUAL(s.announced, 0); /* there is nothing to read, or a single row */
    sample_add(&s, signature_of_set(&s, shingles, 2 * EACH, 3));
    CU_ASSERT_EQUAL(s.announced, 2);
    CU_ASSERT(sample_is_exact(&s));
    sample_done(&s);
}

/* Large stars: their index, common shingles, and members that do not resemble the pivot. */
TEST(large_stars_are_exact)
{
    check_churn(&(struct churn){0.8, 1024, false, 1, 100, 16, 400, 300});
    check_churn(&(struct churn){0.8, 1024, false, 2, 60, 9, 500, 200});
}

/* Of two long pages, one has a sketch of a smaller range; the posted shingles must be in it. */
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
        /* The first keeps everything that the second keeps, and the lists make its highest shingles
         * the rarest. */
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

static int by_salt(const void *a, const void *b)
{
    uint32_t x = (uint32_t)sp_mix64(*(const uint64_t *)a);
    uint32_t y = (uint32_t)sp_mix64(*(const uint64_t *)b);
    return x < y ? -1 : x > y;
}

/* Two names whose domains combine shingles with the same salt. */
static void names_of_one_salt(uint64_t ret_names[2])
{
    enum { NAMES = 1 << 18 }; /* some eight pairs are expected */
    uint64_t *names = sp_calloc(NAMES, sizeof *names);
    for (uint64_t i = 0; i < NAMES; i++)
        names[i] = i;
    qsort(names, NAMES, sizeof *names, by_salt);
    for (uint32_t i = 0; i + 1 < NAMES; i++)
        if (by_salt(&names[i], &names[i + 1]) == 0)
            memcpy(ret_names, &names[i], 2 * sizeof *names);
    sp_free(names);
}

/* Their posting lists are the same. */
TEST(domains_of_one_salt_do_not_meet)
{
    enum { SHINGLES = 50 };
    struct sample s;
    struct sp_similarity_options o = shingles_at(0.8);
    struct sp_touches touches;
    uint64_t names[2] = {0, 0};
    names_of_one_salt(names);
    CU_ASSERT_NOT_EQUAL_FATAL(names[0], names[1]);
    sample_init(&s, &o, 1024, false);
    struct sp_stars_domain *first = s.domain;
    struct sp_stars_domain *one = sp_stars_domain_new(s.stars, names[0], false);
    struct sp_stars_domain *other = sp_stars_domain_new(s.stars, names[1], false);
    uint32_t low[SHINGLES], high[SHINGLES];
    for (uint32_t i = 0; i < SHINGLES; i++) {
        low[i] = 1 + i;
        high[i] = UINT32_MAX - i; /* so that a probe of `low` looks up all of it */
    }
    s.domain = one;
    uint32_t row = sample_add(&s, signature_of_set(&s, low, SHINGLES, 1));
    s.domain = other;
    sample_add(&s, signature_of_set(&s, high, SHINGLES, 2));
    CU_ASSERT_EQUAL(sp_stars_probe(one, s.signatures[row], SP_STARS_NONE, &touches), SP_OK);
    CU_ASSERT_EQUAL(touches.count, 1);
    CU_ASSERT_EQUAL(sp_stars_probe(other, s.signatures[row], SP_STARS_NONE, &touches), SP_OK);
    CU_ASSERT_EQUAL(touches.count, 0);
    s.domain = first;
    sp_stars_domain_free(one);
    sp_stars_domain_free(other);
    sample_done(&s);
}

enum { RELATIVE = 300, OWN = 20, OTHERS = 30 };

static uint32_t own_shingle(uint64_t serial, uint32_t place)
{
    return (uint32_t)sp_mix64(serial * 1000 + place);
}

/* A page of a family: shingles of its own in the first places, then those that all share. */
static struct sp_signature *relative(struct sample *s, uint64_t serial)
{
    uint32_t shingles[RELATIVE];
    for (uint32_t i = 0; i < RELATIVE; i++)
        shingles[i] = own_shingle(i < OWN ? serial : 0, i);
    return signature_of_set(s, shingles, RELATIVE, serial);
}

/* Similar to that page only: with its own shingles, and with some of the common ones replaced. */
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

/* The first serial from there whose row is among the first in name order. */
static uint64_t early_serial(uint64_t serial)
{
    while (sp_hash128(&serial, sizeof serial).lo >> 56)
        serial++;
    return serial;
}

/* Otherwise every page that resembles only the rival would search the whole star. */
TEST(a_star_drains_into_that_of_a_child_that_resembles_what_its_pivot_does_not)
{
    enum { CHILDREN = 128, FRIENDS = 40 };
    struct sample s;
    struct sp_similarity_options o = shingles_at(0.8);
    struct sp_stars_stats before, after;
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
    CU_ASSERT_EQUAL(count, CHILDREN); /* as many children as the rival has */
    CU_ASSERT_EQUAL(s.risen, rival);
    sp_stars_stats(s.stars, &before);
    sample_work(&s, 100); /* inserts the friends again; the rest of the hundred moves children */
    sp_stars_stats(s.stars, &after);
    CU_ASSERT_EQUAL(after.moved, before.moved + 100 - FRIENDS);
    CU_ASSERT_TRUE(sp_stars_owes(s.domain));
    sample_settle(&s);
    uint32_t moved = 0;
    for (uint32_t i = 0; i < count; i++)
        moved += sp_stars_pivot(s.stars, rows[i]) == rival;
    CU_ASSERT_EQUAL(moved, count);
    check_invariants(&s);
    CU_ASSERT_TRUE(sample_is_exact(&s));
    sample_done(&s);
}

/* A row with the shingles from `from` on. */
static uint32_t add_range(struct sample *s, uint32_t from)
{
    enum { LENGTH = 100 };
    uint32_t shingles[LENGTH];
    for (uint32_t i = 0; i < LENGTH; i++)
        shingles[i] = (from + i) * 1000;
    return sample_add(s, signature_of_set(s, shingles, LENGTH, from));
}

/* The row shares 85 of 100 shingles with the pivot: not similar, but found through its star. A
 * child that resembles both makes it a member. */
TEST(a_row_on_the_fringe_is_connected_with_a_star_while_a_child_adopts_it)
{
    struct sample s;
    struct sp_similarity_options o = shingles_at(0.8);
    sample_init(&s, &o, 1024, false);
    uint32_t pivot = add_range(&s, 100), row = add_range(&s, 85);
    CU_ASSERT_EQUAL(sp_stars_members(s.stars, pivot), 1);
    CU_ASSERT_EQUAL(sp_stars_members(s.stars, row), 1);
    CU_ASSERT_EQUAL(sp_stars_anchor(s.stars, row), row);
    CU_ASSERT_FALSE(sp_stars_together(s.stars, row, pivot));
    uint32_t child = add_range(&s, 93);
    CU_ASSERT_EQUAL(sp_stars_anchor(s.stars, child), pivot);
    CU_ASSERT_EQUAL(sp_stars_anchor(s.stars, row), child);
    CU_ASSERT_TRUE(sp_stars_together(s.stars, row, pivot));
    sample_remove(&s, child);
    CU_ASSERT_EQUAL(sp_stars_anchor(s.stars, row), SP_STARS_NONE);
    CU_ASSERT_FALSE(sp_stars_together(s.stars, row, pivot));
    sample_settle(&s);
    CU_ASSERT_EQUAL(sp_stars_anchor(s.stars, row), row);
    CU_ASSERT_EQUAL(sp_stars_members(s.stars, pivot), 1);
    CU_ASSERT_EQUAL(sp_stars_members(s.stars, row), 1);
    CU_ASSERT_EQUAL(sp_stars_anchor(s.stars, pivot), pivot);
    sample_done(&s);
}

/* Else it would be connected only with the row that came, and nobody would hear of it. */
TEST(an_orphan_stays_one_until_it_is_inserted_again)
{
    for (uint32_t others = 0; others < 2; others++) {
        struct sample s;
        struct sp_similarity_options o = shingles_at(0.8);
        sample_init(&s, &o, 1024, false);
        add_range(&s, 100);
        uint32_t row = add_range(&s, 85), child = add_range(&s, 93);
        CU_ASSERT_EQUAL(sp_stars_anchor(s.stars, row), child);
        if (others)
            add_range(&s,
                      74); /* similar to the next row only, which would unite it with the orphan */
        sample_remove(&s, child);
        add_range(&s, 80);
        CU_ASSERT_EQUAL(sp_stars_anchor(s.stars, row), SP_STARS_NONE);
        check_invariants(&s);
        sample_settle(&s);
        CU_ASSERT_NOT_EQUAL(sp_stars_anchor(s.stars, row), SP_STARS_NONE);
        CU_ASSERT_TRUE(sample_is_exact(&s));
        sample_done(&s);
    }
}

/* A page of a site with a long template: 85 shingles of the site, 15 of the document, three of
 * which the version has changed. */
static struct sp_signature *templated(struct sample *s, uint32_t document, uint32_t version)
{
    enum { LENGTH = 100, TEMPLATE = 85, CHANGED = 3 };
    uint32_t shingles[LENGTH];
    for (uint32_t i = 0; i < LENGTH; i++)
        shingles[i] = own_shingle(i < TEMPLATE           ? 0
                                  : i < LENGTH - CHANGED ? document
                                                         : document * 100 + version,
                                  i);
    return signature_of_set(s, shingles, LENGTH, document * 100 + version);
}

/* Such a star would have to post shingles of the template, and every page of the site would find
 * it. */
TEST(two_similar_rows_on_a_fringe_make_no_star_and_a_third_makes_one)
{
    enum { DOCUMENTS = 50 };
    struct sample s;
    struct sp_similarity_options o = shingles_at(0.8);
    struct sp_stars_stats stats;
    sample_init(&s, &o, 1024, false);
    for (uint32_t version = 1; version <= 2; version++)
        for (uint32_t document = 1; document <= DOCUMENTS; document++)
            sample_add(&s, templated(&s, document, version));
    sp_stars_stats(s.stars, &stats);
    CU_ASSERT_EQUAL(stats.stars, 1);
    CU_ASSERT_TRUE(sample_is_exact(&s));
    sample_add(&s, templated(&s, DOCUMENTS, 3));
    sp_stars_stats(s.stars, &stats);
    CU_ASSERT_EQUAL(stats.stars, 2);
    check_invariants(&s);
    CU_ASSERT_TRUE(sample_is_exact(&s));
    check_ends_empty(&s);
    sample_done(&s);
}

/* The stage stores only rows that are reported. */
static void check_reported(struct sample *s)
{
    uint32_t row = sample_unreported(s);
    if (row != SP_STARS_NONE)
        printf("row %u is stored in another form, and was not reported\n", row);
    CU_ASSERT_EQUAL(row, SP_STARS_NONE);
}

TEST(every_row_whose_stored_form_changes_is_reported)
{
    static const bool small[] = {false, true};
    for (size_t i = 0; i < 2; i++) {
        struct sample s;
        struct sp_similarity_options o = shingles_at(0.8);
        sample_init(&s, &o, 1024, small[i]);
        for (uint32_t step = 0; step < 300; step++) {
            uint32_t row = s.rows ? (uint32_t)sample_random(&s, s.rows) : 0;
            if (step > 100 && s.live[row])
                sample_remove(&s, row);
            if (sample_random(&s, 2))
                sample_work(&s, (uint32_t)sample_random(&s, 4));
            sample_add(&s, member(&s, 4, 60, 12));
            check_reported(&s);
        }
        sample_done(&s);
    }
}

/* The callback of an index whose signatures are no longer readable. */
static enum sp_err lost_signature(void *arg, uint32_t row, const struct sp_signature **ret)
{
    (void)row, (void)ret;
    return *(bool *)arg ? SP_STORE : SP_OK;
}

static uint64_t no_name(void *arg, uint32_t row)
{
    (void)arg, (void)row;
    return 0;
}

TEST(a_probe_that_cannot_read_a_signature_fails_and_reports_nothing)
{
    bool lost = true;
    struct sp_stars_options options = {
        .similarity = shingles_at(0.8), .signature = lost_signature, .name = no_name, .arg = &lost};
    struct sp_stars *stars = sp_stars_new(&options);
    struct sp_stars_domain *domain = sp_stars_domain_new(stars, 1, false);
    struct sample s = {.random = 1};
    struct sp_signature *x = member(&s, 1, 50, 0);
    struct sp_touches touches, none = {.count = 12345};
    CU_ASSERT_EQUAL_FATAL(sp_stars_insert(domain, 0, x, &touches), SP_OK);
    touches = none;
    CU_ASSERT_EQUAL(sp_stars_probe(domain, x, SP_STARS_NONE, &touches), SP_STORE);
    CU_ASSERT_EQUAL(touches.count, none.count);
    CU_ASSERT_EQUAL(sp_stars_insert(domain, 1, x, &touches), SP_STORE);
    CU_ASSERT_EQUAL(touches.count, none.count);
    CU_ASSERT_EQUAL(sp_stars_domain_rows(domain), 1);
    sp_signature_unref(x);
    sp_stars_free(stars);
    sp_stars_domain_free(domain);
}
