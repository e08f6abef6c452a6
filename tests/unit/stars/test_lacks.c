/* Kids that lack other shingles of the pivot than the probe are not tried one after another, and
 * the index that finds the others changes no result. */
#include "harness.h"
#include "invariants.h"
#include "stars/internal.h"

enum { SIZE = 96, RUN = 5, ENDS = 36, FROM = 40, TO = 80 };

/* Replaces a run of shingles, as changing one word does. */
static void change(struct sample *s, uint32_t *shingles, uint32_t at)
{
    for (uint32_t i = at; i < at + RUN; i++)
        shingles[i] = (uint32_t)sample_random(s, UINT32_MAX);
}

enum kind {
    FIRST,  /* one change in the first part */
    SECOND, /* one in the second part and one at the end: similar to a page with one in the same
             * place, if there were any */
    BOTH,   /* one in the first part and one at the end: similar to pages of FIRST with one in the
             * same place */
    NONE_CHANGED,
    THREE_CHANGED /* after the first part: similar to none, but would be to a page of FIRST that had
                   * one of these changes as well */
};

static struct sp_signature *page(struct sample *s, enum kind kind)
{
    uint32_t shingles[SIZE];
    for (uint32_t i = 0; i < SIZE; i++)
        shingles[i] = (uint32_t)sp_mix64(i + 1);
    if (kind < NONE_CHANGED)
        change(s, shingles,
               (uint32_t)(kind == SECOND ? FROM + sample_random(s, TO - FROM)
                                         : sample_random(s, ENDS)));
    if (kind == SECOND || kind == BOTH)
        change(s, shingles, SIZE - RUN);
    for (uint32_t i = 0; kind == THREE_CHANGED && i < 3; i++)
        change(s, shingles, FROM + i * RUN);
    return signature_of_set(s, shingles, SIZE, s->random);
}

static void init(struct sample *s)
{
    struct sp_similarity_options o;
    sp_similarity_options_default(&o);
    sample_init(s, &o, 1024, false);
}

static void probe(struct sample *s, enum kind kind)
{
    struct sp_signature *x = page(s, kind);
    struct sp_touches touches;
    CU_ASSERT_EQUAL(sp_stars_probe(s->domain, x, SP_STARS_NONE, &touches), SP_OK);
    CU_ASSERT_EQUAL(touches.count, 0);
    sp_signature_unref(x);
}

enum { PROBES = 100 };

/* Rows that are compared with PROBES pages of the second kind. *ret_first: with one before. */
static uint64_t compared(uint32_t rows, uint64_t *ret_first)
{
    struct sample s;
    struct sp_stars_stats before, first, after;
    init(&s);
    for (uint32_t i = 0; i < rows; i++)
        sample_add(&s, page(&s, FIRST));
    sp_stars_stats(s.stars, &before);
    probe(&s, SECOND);
    sp_stars_stats(s.stars, &first);
    for (uint32_t i = 0; i < PROBES; i++)
        probe(&s, SECOND);
    sp_stars_stats(s.stars, &after);
    sample_done(&s);
    *ret_first = first.verified - before.verified;
    return after.verified - first.verified;
}

TEST(kids_that_lack_other_shingles_are_compared_once)
{
    enum { ROWS = 2000 };
    uint64_t first_once, first_more, once = compared(ROWS, &first_once),
                                     more = compared(4 * ROWS, &first_more);
    printf("compared with %d probes: %ju at %d rows, %ju at %d; with the one before, %ju and %ju\n",
           PROBES, (uintmax_t)once, ROWS, (uintmax_t)more, 4 * ROWS, (uintmax_t)first_once,
           (uintmax_t)first_more);
    CU_ASSERT(first_once > ROWS / 2); /* the case is what it is meant to be */
    CU_ASSERT(first_more <= 4 * ROWS + 64);
    CU_ASSERT(once <= PROBES);
    CU_ASSERT(more <= PROBES);
}

/* Each probe that tries kids in vain puts an eighth of them into the index, and until it is whole,
 * kids that come are put in as well. */
static void check_parts(uint32_t kids)
{
    enum { PARTS = 8 };
    struct sample s;
    struct sp_stars_stats before, after;
    init(&s);
    for (uint32_t i = 0; i < 1 + kids; i++)
        sample_add(&s, page(&s, FIRST));
    s.stars->lacks_at_once = 1;
    for (uint32_t part = 1; part <= PARTS; part++) {
        sp_stars_stats(s.stars, &before);
        probe(&s, SECOND);
        sp_stars_stats(s.stars, &after);
        CU_ASSERT(after.verified - before.verified > kids / 2);
        uint32_t in_parts = part * (kids / PARTS + 1);
        CU_ASSERT_EQUAL(s.stars->lacks.used, part < PARTS ? in_parts + part - 1 : kids + part - 1);
        CU_ASSERT_PTR_NULL(broken_invariant(&s));
        sample_add(&s, page(&s, FIRST));
    }
    sp_stars_stats(s.stars, &before);
    probe(&s, SECOND);
    sp_stars_stats(s.stars, &after);
    CU_ASSERT(after.verified - before.verified <= 1);
    sample_done(&s);
}

TEST(the_index_of_many_kids_is_made_in_parts)
{
    enum { KIDS = 800 };
    check_parts(KIDS);
    check_parts(4 * KIDS);
}

/* The star is too small to be indexed before that. */
TEST(kids_of_a_small_star_are_tried_in_vain_a_few_times)
{
    enum { KIDS = 40, EACH = 5 };
    struct sample s;
    struct sp_stars_stats before, first, after, more;
    init(&s);
    sample_add(&s, page(&s, NONE_CHANGED));
    for (uint32_t i = 0; i < KIDS; i++)
        sample_add(&s, page(&s, FIRST));
    sp_stars_stats(s.stars, &before);
    probe(&s, THREE_CHANGED);
    sp_stars_stats(s.stars, &first);
    for (uint32_t i = 0; i < PROBES; i++)
        probe(&s, THREE_CHANGED);
    sp_stars_stats(s.stars, &after);
    for (uint32_t i = 0; i < 4 * PROBES; i++)
        probe(&s, THREE_CHANGED);
    sp_stars_stats(s.stars, &more);
    printf("compared: %ju by one probe, %ju by %d more, %ju by %d more\n",
           (uintmax_t)(first.verified - before.verified),
           (uintmax_t)(after.verified - first.verified), PROBES,
           (uintmax_t)(more.verified - after.verified), 4 * PROBES);
    CU_ASSERT(first.verified - before.verified > KIDS / 2); /* as the case is meant to be */
    CU_ASSERT(after.verified - first.verified <= EACH * KIDS + PROBES);
    CU_ASSERT(more.verified - after.verified <= 4 * PROBES); /* with the pivot */
    sample_done(&s);
}

/* What PROBES pages of the first kind read, which resemble the pivot, if one row is on the fringe.
 */
static uint64_t scanned(uint32_t rows)
{
    struct sample s;
    struct sp_stars_stats before, after;
    struct sp_touches touches;
    init(&s);
    for (uint32_t i = 0; i < rows; i++)
        sample_add(&s, page(&s, FIRST));
    uint32_t row = sample_add(&s, page(&s, SECOND)); /* makes the index */
    CU_ASSERT(s.stars->lacks.used > rows / 2);
    CU_ASSERT_EQUAL(s.stars->rows[row].kind, FRINGE);
    sp_stars_stats(s.stars, &before);
    for (uint32_t i = 0; i < PROBES; i++) {
        struct sp_signature *x = page(&s, FIRST);
        CU_ASSERT_EQUAL(sp_stars_probe(s.domain, x, SP_STARS_NONE, &touches), SP_OK);
        CU_ASSERT_EQUAL(touches.count, 1);
        sp_signature_unref(x);
    }
    sp_stars_stats(s.stars, &after);
    sample_done(&s);
    return after.scanned - before.scanned;
}

TEST(a_page_that_resembles_the_pivot_does_not_look_for_kids_that_lack_the_same)
{
    enum { ROWS = 2000 };
    uint64_t once = scanned(ROWS), more = scanned(4 * ROWS);
    printf("scanned by %d probes: %ju at %d rows, %ju at %d\n", PROBES, (uintmax_t)once, ROWS,
           (uintmax_t)more, 4 * ROWS);
    CU_ASSERT(more <= 1.5 * (double)once);
}

static bool are_equal(const struct edges *x, const struct edges *y)
{
    for (uint32_t i = 0; i < x->count && i < y->count; i++)
        if (x->to[i] != y->to[i])
            return false;
    return x->count == y->count;
}

/* Pages of all kinds come and go, in two indexes, one of which is opened again and again: its
 * index of lacking kids is lost each time. */
TEST(the_index_of_lacking_kids_changes_no_result)
{
    enum { STEPS = 1500, KEPT = 300 };
    struct sample s, restored;
    uint32_t used = 0, lost = 0;
    init(&s);
    init(&restored);
    s.stars->lacks_at_once = 1;
    for (uint32_t step = 0; step < STEPS; step++) {
        enum kind kind = step > KEPT ? (enum kind)sample_random(&s, 3) : FIRST;
        uint32_t row = s.rows ? (uint32_t)sample_random(&s, s.rows) : 0;
        if (step > KEPT && s.live[row]) {
            sample_remove(&s, row);
            sample_remove(&restored, row);
        }
        restored.random = s.random;
        uint32_t added = sample_add(&s, page(&s, kind));
        sample_add(&restored, page(&restored, kind));
        CU_ASSERT_FATAL(are_equal(&s.edges[added], &restored.edges[added]));
        sample_work(&s, 3);
        sample_work(&restored, 3);
        used += s.stars->lacks.used > 0;
        lost += s.stars->lacks.used > 0 && restored.stars->lacks.used == 0;
        if (step % 7 == 0)
            sample_restore(&restored);
        const char *broken = step % 50 ? NULL : broken_invariant(&s);
        if (broken)
            printf("%s\n", broken);
        CU_ASSERT_PTR_NULL(broken);
    }
    CU_ASSERT(used > STEPS / 4);
    CU_ASSERT(lost > STEPS / 20);
    sample_settle(&s);
    CU_ASSERT(sample_is_exact(&s));
    sample_done(&s);
    sample_done(&restored);
}

/* The index reads the signatures of all kids. */
TEST(a_signature_that_cannot_be_read_ends_the_probe)
{
    enum { ROWS = 400 };
    for (uint32_t after = 1; after < 2 * ROWS + ROWS / 2; after += 7) {
        struct sample s;
        struct sp_touches touches;
        init(&s);
        for (uint32_t i = 0; i < ROWS; i++)
            sample_add(&s, page(&s, FIRST));
        struct sp_signature *x = page(&s, SECOND);
        s.fails_after = after;
        CU_ASSERT_EQUAL(sp_stars_probe(s.domain, x, SP_STARS_NONE, &touches), SP_STORE);
        sp_signature_unref(x);
        sample_done(&s);
    }
}
