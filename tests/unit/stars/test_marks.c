/* A mark finds the members of its star, whatever has become of the star. */
#include "harness.h"
#include "stars_helper.h"

enum { SHINGLES = 300, OWN = 30, CHILDREN = 64 };

/* A text with `own` shingles of its own, in random places; the others are common to all. */
static struct sp_signature *page(struct sample *s, uint32_t own)
{
    uint32_t shingles[SHINGLES];
    for (uint32_t i = 0; i < SHINGLES; i++)
        shingles[i] = (uint32_t)sp_mix64(i);
    for (uint32_t i = 0; i < own; i++)
        shingles[sample_random(s, SHINGLES)] = (uint32_t)sample_random(s, UINT32_MAX);
    return signature_of_set(s, shingles, SHINGLES, s->random);
}

/* If it found nothing, each row that had relied on a member would be compared with its whole
 * cell. */
TEST(a_mark_finds_the_members_of_a_star_that_has_another_pivot)
{
    struct sample s;
    struct sp_similarity_options o;
    struct sp_touches touches;
    bool known;
    sp_similarity_options_default(&o);
    sample_init(&s, &o, SHINGLES, false);
    uint32_t first = sample_add(&s, page(&s, OWN)), row = sample_add(&s, page(&s, 0));
    uint32_t mark = sp_stars_mark(s.stars, row);
    for (uint32_t i = 1; i < CHILDREN; i++)
        sample_add(&s, page(&s, 2));
    CU_ASSERT_NOT_EQUAL_FATAL(sp_stars_pivot(s.stars, row), first);
    CU_ASSERT_EQUAL(sp_stars_members(s.stars, row), CHILDREN + 1);
    CU_ASSERT_EQUAL(sp_stars_probe_marked(s.domain, mark, row, s.signatures[row], &touches, &known),
                    SP_OK);
    CU_ASSERT(known);
    CU_ASSERT_EQUAL(touches.count, 1);
    sample_done(&s);
}
