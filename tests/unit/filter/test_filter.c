/* The filter against a plain comparison of all pairs. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "harness.h"
#include "samepage/filter.h"

enum { MOST = 2048, DOCUMENTS = 60 };

static uint64_t state = 1;

static uint32_t chance(uint32_t below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 33) % below;
}

static uint32_t hash(void)
{
    return (uint32_t)sp_mix64(state = state * 6364136223846793005ull + 1442695040888963407ull);
}

static struct samepage_document *of(const uint32_t *hashes, size_t count, size_t keep)
{
    struct samepage_document *d = samepage_document_from_hashes(hashes, count, count, keep);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    return d;
}

static void free_all(struct samepage_document **documents, size_t count)
{
    for (size_t i = 0; i < count; i++)
        samepage_document_free(documents[i]);
}

/* Documents each derived from the one before, with `changed` of a hundred hashes replaced. */
static void family(struct samepage_document **ret, size_t count, size_t hashes, uint32_t changed,
                   size_t keep)
{
    uint32_t set[MOST];
    for (size_t i = 0; i < count; i++) {
        for (size_t h = 0; h < hashes; h++)
            if (i % 10 == 0 || chance(100) < changed)
                set[h] = hash();
        ret[i] = of(set, hashes, keep);
    }
}

/* Keeps a document unless it resembles one kept before; compares every pair in full. */
static void check_list(struct samepage_document **documents, size_t count, double threshold)
{
    struct samepage_filter *filter = samepage_filter_new(threshold, 4);
    struct samepage_verdict verdicts[SAMEPAGE_FILTER_DOCUMENTS], again[SAMEPAGE_FILTER_DOCUMENTS];
    const struct samepage_document *const *ranked = (const void *)documents;
    int kept = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(filter);
    int said = samepage_filter_run(filter, ranked, count, verdicts);
    for (size_t i = 0; i < count; i++) {
        int32_t repeats = SAMEPAGE_KEPT;
        double similarity = 0;
        for (size_t k = 0; k < i && repeats == SAMEPAGE_KEPT; k++) {
            if (verdicts[k].repeats != SAMEPAGE_KEPT)
                continue;
            similarity = samepage_document_similarity(documents[k], documents[i]);
            if (similarity + 1e-9 >= threshold)
                repeats = (int32_t)k;
        }
        CU_ASSERT_EQUAL(verdicts[i].repeats, repeats);
        if (repeats != SAMEPAGE_KEPT)
            CU_ASSERT_EQUAL(verdicts[i].similarity, (float)similarity);
        kept += repeats == SAMEPAGE_KEPT;
    }
    CU_ASSERT_EQUAL(said, kept);
    CU_ASSERT_EQUAL(samepage_filter_run(filter, ranked, count, again), kept);
    CU_ASSERT_EQUAL(memcmp(verdicts, again, count * sizeof *verdicts), 0);
    samepage_filter_free(filter);
}

TEST(the_filter_drops_what_a_comparison_of_all_with_all_drops)
{
    static const size_t sizes[] = {1, 2, 5, 15, 16, 17, 40, 64, 100, 300, 1200};
    static const double thresholds[] = {0.05, 0.3, 0.5, 0.7, 0.8, 0.9, 0.99, 1};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t t = 0; t < sizeof thresholds / sizeof *thresholds; t++)
            for (uint32_t changed = 0; changed <= 20; changed += 5) {
                struct samepage_document *documents[DOCUMENTS];
                size_t keep = changed == 10 ? 64 : SAMEPAGE_DOCUMENT_HASHES;
                family(documents, DOCUMENTS, sizes[s], changed, keep);
                check_list(documents, DOCUMENTS, thresholds[t]);
                free_all(documents, DOCUMENTS);
            }
}

TEST(documents_of_all_sizes_meet_in_one_list)
{
    struct samepage_document *documents[SAMEPAGE_FILTER_DOCUMENTS];
    uint32_t set[MOST];
    size_t count = 0;
    for (; count < SAMEPAGE_FILTER_DOCUMENTS; count++) {
        if (count % 8 == 0)
            for (size_t h = 0; h < MOST; h++)
                set[h] = hash();
        size_t size = count % 8 ? 1 + chance(60) + (count % 16 > 8 ? 1000 : 0) : 0;
        documents[count] = of(set, size, count % 3 ? SAMEPAGE_DOCUMENT_HASHES : 128);
    }
    check_list(documents, count, 0.8);
    check_list(documents, count, 0.4);
    free_all(documents, count);
}

TEST(similarity_is_shared_by_united_and_estimated_where_trimmed)
{
    uint32_t a[100], b[100], many_a[20000], many_b[20000];
    for (uint32_t i = 0; i < 100; i++) {
        a[i] = 7 * i;
        b[i] = 7 * (i + 20);
    }
    struct samepage_document *x = of(a, 100, 1000), *y = of(b, 100, 1000);
    CU_ASSERT_DOUBLE_EQUAL(samepage_document_similarity(x, y), 80.0 / 120, 1e-12);
    CU_ASSERT_EQUAL(samepage_document_similarity(x, x), 1);
    samepage_document_free(x);
    samepage_document_free(y);
    for (size_t i = 0; i < 20000; i++)
        many_a[i] = many_b[i] = hash();
    for (size_t i = 0; i < 20000; i += 10)
        many_b[i] = hash(); /* J = 18000 / 22000 */
    x = of(many_a, 20000, 1024);
    y = of(many_b, 20000, 1024);
    CU_ASSERT_EQUAL(samepage_document_hashes(x), 1024);
    CU_ASSERT_DOUBLE_EQUAL(samepage_document_similarity(x, y), 18000.0 / 22000, 0.05);
    samepage_document_free(x);
    samepage_document_free(y);
}

TEST(nothing_is_similar_to_what_is_unknown_or_empty)
{
    struct samepage_document *empty = of(NULL, 0, 64);
    const struct samepage_document *ranked[] = {NULL, empty, NULL, empty};
    struct samepage_verdict verdicts[4];
    struct samepage_filter *filter = samepage_filter_new(0.8, 8);
    CU_ASSERT_EQUAL(samepage_filter_run(filter, ranked, 4, verdicts), 4);
    CU_ASSERT_EQUAL(samepage_filter_run(filter, ranked, 0, verdicts), 0);
    CU_ASSERT_EQUAL(samepage_document_similarity(empty, empty), 0);
    samepage_filter_free(filter);
    samepage_document_free(empty);
}

TEST(recent_sets_are_remembered_by_what_is_in_them)
{
    struct samepage_document *documents[20];
    struct samepage_verdict verdicts[20];
    const struct samepage_document *const *ranked = (const void *)documents;
    uint64_t recent = 0;
    family(documents, 20, 50, 3, 64);
    struct samepage_filter *filter = samepage_filter_new(0.8, 64);
    samepage_filter_run(filter, ranked, 20, verdicts);
    samepage_filter_run(filter, ranked, 19, verdicts);
    CU_ASSERT_EQUAL(samepage_filter_runs(filter, &recent), 2);
    CU_ASSERT_EQUAL(recent, 0);
    samepage_filter_run(filter, ranked, 20, verdicts);
    CU_ASSERT_EQUAL(samepage_filter_runs(filter, &recent), 3);
    CU_ASSERT_EQUAL(recent, 1);
    samepage_filter_free(filter);
    free_all(documents, 20);
}

TEST(a_document_survives_as_bytes_and_damaged_bytes_are_refused)
{
    uint32_t set[200];
    char bytes[1024];
    for (size_t i = 0; i < 200; i++)
        set[i] = hash();
    struct samepage_document *d = of(set, 200, 100);
    size_t size = samepage_document_pack(d, NULL, 0);
    CU_ASSERT_EQUAL_FATAL(samepage_document_pack(d, bytes, sizeof bytes), size);
    struct samepage_document *back = samepage_document_unpack(bytes, size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(back);
    CU_ASSERT_EQUAL(samepage_document_similarity(d, back), 1);
    CU_ASSERT_EQUAL(samepage_document_hashes(back), 100);
    for (size_t n = 0; n < size; n++)
        CU_ASSERT_PTR_NULL(samepage_document_unpack(bytes, n));
    for (size_t i = 0; i < 12; i++) {
        bytes[i] ^= 0x55;
        struct samepage_document *damaged = samepage_document_unpack(bytes, size);
        CU_ASSERT(!damaged || (i >= 4 && i < 8)); /* a changed total can still be valid */
        samepage_document_free(damaged);
        bytes[i] ^= 0x55;
    }
    memset(bytes + 12, 0xff, 4); /* no longer ascending */
    CU_ASSERT_PTR_NULL(samepage_document_unpack(bytes, size));
    samepage_document_free(back);
    samepage_document_free(d);
}

static struct samepage_document *text_of(struct samepage_filter *f, const char *text)
{
    struct samepage_document *d =
        samepage_document_from_text(f, text, strlen(text), "text/plain", 64);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    return d;
}

TEST(sentences_are_the_same_in_other_case_order_and_ending)
{
    static const char a[] =
        "The quick brown foxes were jumping over the lazy dogs near the river bank. A witness "
        "reported the incident to the local newspaper yesterday evening. Nobody was injured during "
        "the whole event, officials confirmed. The river had flooded twice this year already.";
    static const char b[] =
        "A witness reports the incident to the local newspaper, yesterday evening. THE QUICK BROWN "
        "FOX was jumping over the lazy dog near the river bank. Nobody was injured during the whole "
        "event, officials confirmed! The river had flooded twice this year already.";
    static const char c[] = "Quite another text about gardening and the pruning of apple trees in "
                            "winter. It shares no sentence with the others.";
    struct samepage_filter *f = samepage_filter_new(0.6, 0);
    struct samepage_document *x = text_of(f, a), *y = text_of(f, b), *z = text_of(f, c);
    struct samepage_document *none = text_of(f, "");
    CU_ASSERT_EQUAL(samepage_document_hashes(x), 4);
    CU_ASSERT(samepage_document_similarity(x, y) >= 0.6);
    CU_ASSERT_EQUAL(samepage_document_similarity(x, z), 0);
    CU_ASSERT_EQUAL(samepage_document_hashes(none), 0);
    const struct samepage_document *ranked[] = {x, z, y, none};
    struct samepage_verdict verdicts[4];
    CU_ASSERT_EQUAL(samepage_filter_run(f, ranked, 4, verdicts), 3);
    CU_ASSERT_EQUAL(verdicts[2].repeats, 0);
    CU_ASSERT_PTR_NULL(samepage_document_from_text(f, a, sizeof a - 1, NULL, 0));
    samepage_document_free(x);
    samepage_document_free(y);
    samepage_document_free(z);
    samepage_document_free(none);
    samepage_filter_free(f);
}

TEST(arguments_that_make_no_sense_are_refused)
{
    uint32_t one = 1;
    const struct samepage_document *ranked[1] = {NULL};
    struct samepage_verdict verdict;
    CU_ASSERT_PTR_NULL(samepage_filter_new(0, 0));
    CU_ASSERT_PTR_NULL(samepage_filter_new(1.01, 0));
    CU_ASSERT_PTR_NULL(samepage_filter_new(-1, 0));
    CU_ASSERT_PTR_NULL(samepage_document_from_hashes(&one, 1, 0, 10));
    CU_ASSERT_PTR_NULL(samepage_document_from_hashes(&one, 1, 1, 0));
    CU_ASSERT_PTR_NULL(samepage_document_from_hashes(&one, 0, 5, 10));
    struct samepage_filter *filter = samepage_filter_new(1, 0);
    CU_ASSERT_EQUAL(samepage_filter_run(filter, ranked, SAMEPAGE_FILTER_DOCUMENTS + 1, &verdict),
                    -1);
    samepage_filter_free(filter);
    samepage_filter_free(NULL);
    samepage_document_free(NULL);
}
