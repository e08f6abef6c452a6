/* Pairs of a sample: as many calls for a crawl four times as large. */
#include "base/hash.h"
#include "base/mem.h"
#include "evaluate/joined.h"
#include "harness.h"
#include "page/builder.h"

enum { WORDS = 60, MOST = 100 };

/* Contents that differ in the last word: each pair is similar. */
static void make_near_copies(size_t count, struct sp_distinct *ret_contents)
{
    struct sp_signature_options o = {.max_shingles = 1024};
    struct sp_builder *b = sp_builder_new(&o);
    struct sp_distinct d = {.count = count,
                            .signatures = sp_alloc(count * sizeof(struct sp_signature *))};
    uint64_t words[WORDS];
    for (size_t i = 0; i < WORDS; i++)
        words[i] = sp_mix64(i + 1);
    for (size_t i = 0; i < count; i++) {
        words[WORDS - 1] = sp_mix64(WORDS + i);
        sp_builder_begin(b);
        sp_builder_words(b, words, WORDS);
        d.signatures[i] = sp_builder_finish(b, 0);
    }
    sp_builder_free(b);
    *ret_contents = d;
}

struct calls {
    uint64_t count;
    size_t limit; /* of numbers */
};

static void note(void *arg, size_t i, size_t j, double similarity)
{
    struct calls *c = arg;
    CU_ASSERT(i < j && j < c->limit && similarity > 0.8);
    c->count++;
}

static uint64_t pairs_of(size_t count, struct sp_joined *ret_joined, struct sp_distinct *contents)
{
    struct sp_similarity_options o = {.threshold = 0.8};
    struct calls calls = {.limit = count};
    make_near_copies(count, contents);
    sp_joined_choose(contents, MOST, ret_joined);
    CU_ASSERT_EQUAL(sp_joined_each(ret_joined, &o, note, &calls), SP_OK);
    return calls.count;
}

static void done(struct sp_joined *joined, struct sp_distinct *contents)
{
    for (size_t i = 0; i < contents->count; i++)
        sp_signature_unref(contents->signatures[i]);
    sp_free(contents->signatures);
    sp_joined_done(joined);
}

TEST(a_crawl_four_times_as_large_has_as_many_pairs)
{
    for (size_t n = MOST; n <= 16 * MOST; n *= 4) {
        struct sp_joined joined;
        struct sp_distinct contents;
        CU_ASSERT_EQUAL(pairs_of(n, &joined, &contents), MOST * (MOST - 1) / 2);
        CU_ASSERT_EQUAL(joined.count, MOST);
        /* Not the first ones: spread over the crawl. */
        CU_ASSERT(n == MOST || joined.numbers[MOST / 2] > n / 4);
        for (size_t i = 1; i < joined.count; i++)
            CU_ASSERT(joined.numbers[i - 1] < joined.numbers[i]);
        done(&joined, &contents);
    }
}

TEST(a_small_crawl_has_all_of_its_pairs)
{
    struct sp_joined joined;
    struct sp_distinct contents;
    CU_ASSERT_EQUAL(pairs_of(30, &joined, &contents), 30 * 29 / 2);
    done(&joined, &contents);
}
