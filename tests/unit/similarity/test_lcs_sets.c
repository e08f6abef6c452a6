/* The partition of Huang, Wang and Li, stage by stage. */
#include "base/hash.h"
#include "base/mem.h"
#include "harness.h"
#include "similarity/lcs_sets.h"

enum { PAGES = 60, SENTENCES = 40 };

static struct sp_signature *page_of(const uint32_t *sentences, uint32_t count)
{
    struct sp_signature *s = sp_signature_alloc(0, count);
    s->shingle_total = s->shingle_count = 0;
    s->sentence_count = count;
    memcpy(s->hashes, sentences, count * sizeof *sentences);
    return s;
}

/* Sentences `from` to `from + count - 1` of a text. */
static struct sp_signature *part_of(uint32_t text, uint32_t from, uint32_t count)
{
    uint32_t sentences[SENTENCES * 4];
    for (uint32_t i = 0; i < count; i++)
        sentences[i] = (uint32_t)sp_mix64(((uint64_t)text << 32) + from + i);
    return page_of(sentences, count);
}

static void drop(struct sp_signature **pages, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        sp_signature_unref(pages[i]);
}

static struct sp_lcs_sets defaults(void)
{
    struct sp_lcs_sets o;
    sp_lcs_sets_default(&o);
    return o;
}

TEST(a_common_fingerprint_puts_pages_together)
{
    struct sp_lcs_sets o = defaults();
    uint32_t set[5];
    struct sp_signature *pages[] = {part_of(1, 0, 40), part_of(2, 0, 40), part_of(1, 0, 38),
                                    part_of(3, 0, 0), part_of(3, 0, 0)};
    sp_lcs_perhaps(&o, pages, 5, set);
    CU_ASSERT_EQUAL(set[0], 0);
    CU_ASSERT_EQUAL(set[1], 1);
    CU_ASSERT_EQUAL(set[2], 0);
    CU_ASSERT_EQUAL(set[3], 3); /* pages without sentences have nothing in common */
    CU_ASSERT_EQUAL(set[4], 4);
    drop(pages, 5);
}

/* A fingerprint consists of three minima of a bucket; fewer make none. */
TEST(three_minima_make_a_fingerprint)
{
    struct sp_lcs_sets o = defaults();
    uint32_t all[SENTENCES], other[SENTENCES], set[2], least = 0;
    o.buckets = 1;
    for (uint32_t i = 0; i < SENTENCES; i++)
        all[i] = other[i] = i + 1;
    for (uint32_t i = 1; i < SENTENCES; i++)
        least = sp_mix64((uint64_t)all[i] + 1) < sp_mix64((uint64_t)all[least] + 1) ? i : least;
    for (uint32_t i = 0; i < SENTENCES; i++) /* others, none of which is a minimum */
        while (i != least && (other[i] == all[i] || sp_mix64((uint64_t)other[i] + 1) <
                                                        sp_mix64((uint64_t)all[least] + 1)))
            other[i] += 1000;
    struct sp_signature *pages[] = {page_of(all, SENTENCES), page_of(other, SENTENCES)};
    sp_lcs_perhaps(&o, pages, 2, set);
    CU_ASSERT_EQUAL(set[1], 1);
    o.minima = 1;
    sp_lcs_perhaps(&o, pages, 2, set);
    CU_ASSERT_EQUAL(set[1], 0);
    drop(pages, 2);
}

TEST(no_set_grows_above_its_bound)
{
    struct sp_lcs_sets o = defaults();
    struct sp_signature *pages[PAGES];
    uint32_t set[PAGES], sizes[PAGES] = {0};
    o.most = 7;
    for (uint32_t i = 0; i < PAGES; i++)
        pages[i] = part_of(1, i / 20, 40);
    sp_lcs_perhaps(&o, pages, PAGES, set);
    for (uint32_t i = 0; i < PAGES; i++) {
        CU_ASSERT(set[i] <= i && set[set[i]] == set[i]);
        CU_ASSERT(++sizes[set[i]] <= o.most);
    }
    drop(pages, PAGES);
}

/* A and B are unlike, C resembles both: it joins the first in order and is not compared with the
 * second. */
TEST(a_page_with_a_set_is_compared_no_more)
{
    struct sp_lcs_sets o = defaults();
    const uint32_t perhaps[3] = {0, 0, 0};
    uint32_t set[3];
    struct sp_lcs_counts counts;
    struct sp_signature *pages[] = {part_of(1, 0, 40), part_of(1, 27, 40), part_of(1, 13, 41)};
    o.trusted = false;
    sp_lcs_refine(&o, pages, 3, perhaps, set, &counts);
    CU_ASSERT_EQUAL(set[0], 0);
    CU_ASSERT_EQUAL(set[1], 1);
    CU_ASSERT_EQUAL(set[2], 0);
    CU_ASSERT_EQUAL(counts.compared, 2);
    CU_ASSERT_EQUAL(sp_lcs_parted(&o, pages, perhaps, set, 1, 2), SP_LCS_ASSIGNED);
    CU_ASSERT_EQUAL(sp_lcs_parted(&o, pages, perhaps, set, 0, 1), SP_LCS_RATIO);
    CU_ASSERT_EQUAL(sp_lcs_parted(&o, pages, perhaps, set, 0, 2), SP_LCS_TOGETHER);
    CU_ASSERT_EQUAL(sp_lcs_parted(&o, pages, (uint32_t[]){0, 1, 0}, set, 0, 1),
                    SP_LCS_NO_FINGERPRINT);
    drop(pages, 3);
}

/* Two pages of one long template: 25 sentences at the head and 25 at the tail, of 70. */
TEST(a_template_at_both_ends_is_not_trusted)
{
    enum { HEAD = 25, MIDDLE = 20, WHOLE = HEAD + MIDDLE + HEAD };
    struct sp_lcs_sets o = defaults();
    const uint32_t perhaps[3] = {0, 0, 0};
    uint32_t sentences[3][WHOLE], set[3];
    struct sp_lcs_counts counts;
    for (uint32_t p = 0; p < 3; p++)
        for (uint32_t i = 0; i < WHOLE; i++)
            sentences[p][i] = i < HEAD || i >= HEAD + MIDDLE ? i + 1 : 1000 * (p + 1) + i;
    /* every fourth sentence of the first page's middle: in order, but not coherent */
    for (uint32_t i = HEAD; i < HEAD + MIDDLE; i += 4)
        sentences[2][i] = sentences[0][i];
    struct sp_signature *pages[3];
    for (uint32_t p = 0; p < 3; p++)
        pages[p] = page_of(sentences[p], WHOLE);
    o.trusted = false;
    sp_lcs_refine(&o, pages, 3, perhaps, set, &counts);
    CU_ASSERT(set[1] == 0 && set[2] == 0);
    o.trusted = true;
    o.threshold = 0.55;
    sp_lcs_refine(&o, pages, 3, perhaps, set, &counts);
    CU_ASSERT(set[1] == 1 && set[2] == 2);
    CU_ASSERT_EQUAL(sp_lcs_parted(&o, pages, perhaps, set, 0, 2), SP_LCS_INCOHERENT);
    drop(pages, 3);
}

/* The filter drops only what is in no LCS. */
TEST(filtered_sketches_change_no_set)
{
    struct sp_lcs_sets o = defaults();
    uint32_t perhaps[PAGES] = {0}, filtered[PAGES], whole[PAGES];
    struct sp_lcs_counts a, b;
    struct sp_signature *pages[PAGES];
    uint64_t state = 5;
    for (int round = 0; round < 40; round++) {
        for (uint32_t p = 0; p < PAGES; p++) {
            uint32_t sentences[SENTENCES], count = 0;
            uint32_t text = (uint32_t)(sp_mix64(++state) % 6);
            for (uint32_t i = 0; i < SENTENCES; i++) {
                uint64_t drawn = sp_mix64(++state);
                if (drawn % 10 < 7)
                    sentences[count++] = drawn % 3 ? 100 * text + i : (uint32_t)(drawn >> 32);
            }
            pages[p] = page_of(sentences, count);
        }
        o.trusted = round % 2;
        o.filtered = true;
        sp_lcs_refine(&o, pages, PAGES, perhaps, filtered, &a);
        o.filtered = false;
        sp_lcs_refine(&o, pages, PAGES, perhaps, whole, &b);
        CU_ASSERT(memcmp(filtered, whole, sizeof whole) == 0);
        CU_ASSERT_EQUAL(a.compared, b.compared);
        CU_ASSERT(a.sentences_left < a.sentences && b.sentences_left == b.sentences);
        drop(pages, PAGES);
    }
}
