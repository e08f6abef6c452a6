/* Which stars a probe compares, and which of them can be its foster star (foster.c). */
#include "harness.h"
#include "stars/internal.h"
#include "stars_helper.h"

enum { SIZE = 400, MOST = 440, PROBES = 50 };

static void init(struct sample *s)
{
    struct sp_similarity_options o;
    sp_similarity_options_default(&o);
    sample_init(s, &o, 1024, false);
}

/* The first `shared` shingles of a text, and so many others. */
static struct sp_signature *page(struct sample *s, uint32_t shared, uint32_t others)
{
    uint32_t shingles[MOST];
    for (uint32_t i = 0; i < shared + others; i++)
        shingles[i] =
            i < shared ? (uint32_t)sp_mix64(i + 1) : (uint32_t)sample_random(s, UINT32_MAX);
    return signature_of_set(s, shingles, shared + others, s->random);
}

static uint64_t verified_by_probes(struct sample *s, uint32_t shared)
{
    struct sp_stars_stats before, after;
    struct sp_touches touches;
    sp_stars_stats(s->stars, &before);
    for (uint32_t i = 0; i < PROBES; i++) {
        struct sp_signature *x = page(s, shared, SIZE - shared);
        CU_ASSERT_EQUAL(sp_stars_probe(s->domain, x, SP_STARS_NONE, &touches), SP_OK);
        sp_signature_unref(x);
    }
    sp_stars_stats(s->stars, &after);
    return after.verified - before.verified;
}

/* One kid is smaller than the pivot and lies within it, one has shingles of its own. A kid that is
 * small and has some would resemble pages that share less with the pivot than those of either. */
TEST(each_kid_is_ruled_out_by_its_own_sizes)
{
    struct sample s;
    init(&s);
    sample_add(&s, page(&s, SIZE, 0));
    sample_add(&s, page(&s, SIZE - 76, 0));
    sample_add(&s, page(&s, SIZE, 40));
    CU_ASSERT_EQUAL(sp_stars_members(s.stars, 0), 3);
    uint64_t half = verified_by_probes(&s, SIZE / 2), most = verified_by_probes(&s, SIZE - 70);
    printf("pages that share half of the pivot: %ju compared, nearly all: %ju\n", (uintmax_t)half,
           (uintmax_t)most);
    CU_ASSERT(half < PROBES / 4);
    CU_ASSERT(most >= PROBES); /* they are found */
    sample_done(&s);
}

/* Pages that share more and more with x. */
TEST(the_nearest_star_is_the_foster_star_and_few_are_compared)
{
    enum { STARS = 20, LEAST = SIZE - 80 + STARS };
    struct sample s;
    struct sp_stars_stats before, after;
    uint32_t numbers[STARS];
    init(&s);
    struct sp_signature *x = page(&s, SIZE, 0);
    for (uint32_t i = 0; i < STARS; i++) {
        uint32_t shingles[SIZE], shared = LEAST + i;
        for (uint32_t k = 0; k < SIZE; k++)
            shingles[k] = k < shared ? (uint32_t)sp_mix64((k + 20 * i) % SIZE + 1)
                                     : (uint32_t)sample_random(&s, UINT32_MAX);
        numbers[i] = sample_add(&s, signature_of_set(&s, shingles, SIZE, s.random));
    }
    sp_star_foster_begin(s.stars);
    CU_ASSERT_FALSE(sp_star_foster_may_be(s.stars));
    uint32_t pivots = 0;
    for (uint32_t i = 0; i < STARS; i++) {
        uint32_t star = s.stars->rows[numbers[i]].star;
        if (s.stars->stars[star].pivot != numbers[i])
            continue;
        sp_star_foster_later(s.stars, star, x, 2 * (SIZE - LEAST - i));
        pivots++;
    }
    uint32_t later = s.stars->later_count;
    CU_ASSERT(pivots > LATER_MOST);
    CU_ASSERT_EQUAL(later, LATER_MOST);
    for (uint32_t i = 1; i < later; i++)
        CU_ASSERT(s.stars->later[i - 1].shared >= s.stars->later[i].shared);
    uint32_t nearest = s.stars->later[0].star, shared = s.stars->later[0].shared / 2;
    sp_stars_stats(s.stars, &before);
    CU_ASSERT(sp_star_foster_find(s.stars, x));
    sp_stars_stats(s.stars, &after);
    CU_ASSERT_EQUAL(s.stars->foster, nearest);
    CU_ASSERT_EQUAL(s.stars->foster_overlap, shared);
    CU_ASSERT_EQUAL(after.verified - before.verified, 1); /* the others cannot be nearer */
    sp_signature_unref(x);
    sample_done(&s);
}
