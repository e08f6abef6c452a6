/* Stars that owe: what a unit of the work costs does not depend on how many stars owe, and an
 * adopter that leaves makes orphans of all that it adopted. */
#include "base/mem.h"
#include "harness.h"
#include "invariants.h"
#include "stars/internal.h"

enum { OWN = 50, SHARED = 250 };

/* The family's 250 shingles, of which `changed` are others, and then `own` shingles of its own. */
static struct sp_signature *member(struct sample *s, uint64_t family, uint32_t changed,
                                   uint32_t own)
{
    uint32_t shingles[SHARED + OWN];
    for (uint32_t i = 0; i < SHARED + own; i++)
        shingles[i] = i >= changed && i < SHARED ? (uint32_t)sp_mix64(family * 1000 + i)
                                                 : (uint32_t)sample_random(s, UINT32_MAX);
    return signature_of_set(s, shingles, SHARED + own, s->random);
}

static void init(struct sample *s)
{
    struct sp_similarity_options o;
    sp_similarity_options_default(&o);
    sample_init(s, &o, 1024, false);
}

/* Names that are looked up while twenty kids move, when so many stars have lost their pivots. */
static uint64_t named_while_kids_move(uint32_t stars)
{
    enum { KIDS = 3, UNITS = 20 };
    struct sample s;
    init(&s);
    for (uint32_t family = 0; family < stars; family++)
        for (uint32_t kid = 0; kid <= KIDS; kid++)
            sample_add(&s, member(&s, family, 10 * (kid > 0), 0));
    for (uint32_t family = 0; family < stars; family++)
        sample_remove(&s, (KIDS + 1) * family);
    CU_ASSERT_EQUAL(sp_stars_owed(s.domain), KIDS * stars);
    uint64_t before = s.named;
    for (uint32_t unit = 0; unit < UNITS; unit++)
        sample_work(&s, 1);
    uint64_t named = s.named - before;
    CU_ASSERT_PTR_NULL(broken_invariant(&s));
    sample_settle(&s);
    CU_ASSERT(sample_is_exact(&s));
    sample_done(&s);
    return named;
}

TEST(to_move_a_kid_costs_the_same_however_many_stars_owe)
{
    enum { STARS = 50 };
    uint64_t once = named_while_kids_move(STARS), more = named_while_kids_move(4 * STARS);
    printf("names: %ju with %d stars, %ju with %d\n", (uintmax_t)once, STARS, (uintmax_t)more,
           4 * STARS);
    CU_ASSERT(more <= once + once / 4);
}

/* The first two rows are a pivot and the child that adopts all others: these have too much of their
 * own to resemble the pivot. Returns the names that are looked up when the child leaves. */
static uint64_t check_orphans(uint32_t adopted)
{
    struct sample s;
    init(&s);
    sample_add(&s, member(&s, 1, 0, OWN));
    sample_add(&s, member(&s, 1, 0, 0));
    for (uint32_t i = 0; i < adopted; i++)
        sample_add(&s, member(&s, 1, 0, OWN));
    CU_ASSERT_EQUAL(sp_stars_anchor(s.stars, adopted), 1);
    uint64_t before = s.named;
    sample_remove(&s, 1);
    uint64_t named = s.named - before;
    CU_ASSERT_EQUAL(sp_stars_owed(s.domain), adopted);
    CU_ASSERT_PTR_NULL(broken_invariant(&s));
    sample_work(&s, adopted / 2);
    CU_ASSERT_EQUAL(sp_stars_owed(s.domain), adopted - adopted / 2);
    sample_restore(&s);
    CU_ASSERT_EQUAL(sp_stars_owed(s.domain), adopted - adopted / 2);
    sample_settle(&s);
    CU_ASSERT(sample_is_exact(&s));
    sample_done(&s);
    return named;
}

TEST(an_adopter_that_leaves_makes_orphans_of_all_that_it_adopted)
{
    enum { FEW = 250 };
    uint64_t once = check_orphans(FEW), more = check_orphans(4 * FEW);
    printf("names: %ju for %d orphans, %ju for %d\n", (uintmax_t)once, FEW, (uintmax_t)more,
           4 * FEW);
    CU_ASSERT(more <= 6 * once);
}

/* Rows that are verified while a child of a star of so many leaves and comes back. The pivot has
 * shingles of its own, so that rows with more of these resemble children only. */
static uint64_t verified_for_a_child_that_flaps(uint32_t children)
{
    enum { FLAPS = 10, ADOPTED_ROWS = 40 };
    struct sample s;
    struct sp_stars_stats before, after;
    init(&s);
    sample_add(&s, member(&s, 1, 0, OWN / 2));
    for (uint32_t i = 0; i < children; i++)
        sample_add(&s, member(&s, 1, 10 * (i > 0), 0));
    for (uint32_t i = 0; i < ADOPTED_ROWS; i++)
        sample_add(&s, member(&s, 1, 0, OWN - 10));
    sp_stars_stats(s.stars, &before);
    for (uint32_t flap = 0; flap < FLAPS; flap++) {
        sample_remove(&s, 10 + flap);
        sample_settle(&s);
        sample_add(&s, member(&s, 1, 10, 0));
    }
    sp_stars_stats(s.stars, &after);
    sample_done(&s);
    return (after.verified - before.verified) / FLAPS;
}

TEST(the_pivot_of_a_star_is_not_chosen_again_while_a_child_comes_and_goes)
{
    for (uint32_t children = 126; children <= 130; children++) {
        uint64_t verified = verified_for_a_child_that_flaps(children);
        printf("verified with about %u children: %ju a change\n", children, (uintmax_t)verified);
        CU_ASSERT(verified <= 16);
    }
}

/* The text of family 1 with `changed` other shingles in random places, after `common` ones at the
 * end that all rows with as many share. */
static struct sp_signature *edited(struct sample *s, uint32_t common, uint32_t changed)
{
    uint32_t shingles[SHARED];
    for (uint32_t i = 0; i < SHARED; i++)
        shingles[i] = (uint32_t)sp_mix64(i < SHARED - common ? 1000 + i : 5000 + i);
    for (uint32_t i = 0; i < changed; i++)
        shingles[sample_random(s, SHARED - common)] = (uint32_t)sample_random(s, UINT32_MAX);
    return signature_of_set(s, shingles, SHARED, s->random);
}

/* Rows that have to be inserted again when their pivot leaves. All resemble the centre, and most
 * hardly each other; one in twenty is as near to the pivot as the centre, and resembles few of the
 * others. */
static uint64_t inserted_when_a_pivot_leaves(uint32_t members)
{
    enum { COMMON = 5, CHANGED = 20, NEAR_ONES = 20 };
    struct sample s;
    struct sp_stars_stats before, after;
    init(&s);
    sample_add(&s, edited(&s, COMMON, 0));
    for (uint32_t i = 1; i < members; i++)
        sample_add(&s, i % NEAR_ONES ? edited(&s, 0, CHANGED) : edited(&s, COMMON, COMMON));
    sample_add(&s, edited(&s, 0, 0));
    CU_ASSERT_EQUAL(sp_stars_members(s.stars, 0), members + 1);
    CU_ASSERT_EQUAL(sp_stars_pivot(s.stars, members), 0);
    sp_stars_stats(s.stars, &before);
    sample_remove(&s, 0);
    sample_settle(&s);
    sp_stars_stats(s.stars, &after);
    CU_ASSERT(sample_is_exact(&s));
    sample_done(&s);
    return after.probes - before.probes - members; /* which touched the pivot and probe again */
}

TEST(the_heir_of_a_star_is_the_member_that_the_others_resemble)
{
    enum { MEMBERS = 300 };
    uint64_t once = inserted_when_a_pivot_leaves(MEMBERS),
             more = inserted_when_a_pivot_leaves(4 * MEMBERS);
    printf("inserted again: %ju of %d members, %ju of %d\n", (uintmax_t)once, MEMBERS,
           (uintmax_t)more, 4 * MEMBERS);
    CU_ASSERT(once <= 2);
    CU_ASSERT(more <= 2);
}
