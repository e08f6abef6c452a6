/* The skewed crawl: reproducible by seed, with exact shares, and texts as similar as specified.
 * tests/integration/skew.py checks the groups against the truth. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "harness.h"
#include "synth/order.h"
#include "synth/synth.h"

static struct sp_synth_options options(const char *mix, uint64_t fetches)
{
    struct sp_synth_options o;
    struct sp_fault fault;
    sp_synth_options_default(&o);
    o.pages = fetches;
    o.words = 100;
    CU_ASSERT_EQUAL_FATAL(sp_skew_parse(mix, &o.skew, &fault), SP_OK);
    return o;
}

static uint64_t make(const struct sp_synth_options *o, struct sp_buf *lines, struct sp_buf *truth)
{
    struct sp_synth *s = sp_synth_new(o);
    uint64_t count = 0;
    while (sp_synth_next(s, lines, truth))
        count++;
    CU_ASSERT(!sp_synth_next(s, lines, truth)); /* the end */
    sp_synth_free(s);
    return count;
}

/* ---- reproducibility ---- */

TEST(the_same_seed_makes_the_same_bytes_and_another_seed_others)
{
    for (int kind = 0; kind < SP_SKEW_KINDS; kind++) {
        struct sp_synth_options o = options(sp_skew_name((enum sp_skew_kind)kind), 60);
        struct sp_buf a[2] = {{0}}, b[2] = {{0}}, other = {0};
        CU_ASSERT_EQUAL(make(&o, &a[0], &a[1]), 60);
        CU_ASSERT_EQUAL(make(&o, &b[0], &b[1]), 60);
        CU_ASSERT(sp_view_eq(sp_buf_view(&a[0]), sp_buf_view(&b[0])));
        CU_ASSERT(sp_view_eq(sp_buf_view(&a[1]), sp_buf_view(&b[1])));
        o.seed = 2;
        make(&o, &other, NULL);
        CU_ASSERT(!sp_view_eq(sp_buf_view(&a[0]), sp_buf_view(&other)));
        for (int i = 0; i < 2; i++) {
            sp_buf_done(&a[i]);
            sp_buf_done(&b[i]);
        }
        sp_buf_done(&other);
    }
}

/* A crawl is identified by its seed, on every machine and in every version. */
TEST(the_bytes_of_the_mix_are_those_that_they_always_were)
{
    struct sp_synth_options o = options("mix", 3000);
    struct sp_buf lines = {0}, truth = {0};
    make(&o, &lines, &truth);
    CU_ASSERT_EQUAL(sp_hash64(lines.data, lines.len), UINT64_C(3637567433944007215));
    CU_ASSERT_EQUAL(sp_hash64(truth.data, truth.len), UINT64_C(9731578139590307401));
    sp_buf_done(&lines);
    sp_buf_done(&truth);
}

/* ---- mixes ---- */

static uint32_t part(const char *mix, enum sp_skew_kind kind)
{
    return options(mix, 1).skew.parts[kind];
}

TEST(a_mix_is_read_as_it_is_written)
{
    CU_ASSERT_EQUAL(part("same", SP_SKEW_SAME), SP_SKEW_WHOLE);
    CU_ASSERT_EQUAL(part("same", SP_SKEW_UNLIKE), 0);
    CU_ASSERT_EQUAL(part("same=12.5", SP_SKEW_SAME), 125000);
    CU_ASSERT_EQUAL(part("same=12.5", SP_SKEW_UNLIKE), 875000);
    CU_ASSERT_EQUAL(part("same=1,chainlike=2,same=3", SP_SKEW_SAME), 40000);
    CU_ASSERT_EQUAL(part("near-url=30,near=30", SP_SKEW_NEAR_URL), 400000);
    CU_ASSERT_EQUAL(part("near-url=30,near=30", SP_SKEW_NEAR_PERCENT), 100000);
    CU_ASSERT_EQUAL(part("same=100", SP_SKEW_UNLIKE), 0);
    CU_ASSERT_EQUAL(part(NULL, SP_SKEW_SAME), part("mix", SP_SKEW_SAME));
    CU_ASSERT_EQUAL(part("mix", SP_SKEW_FUTURE), 0);
    for (const char *const *mix = (const char *const[]){"mix", "near", "same=3,die=0.001", NULL};
         *mix; mix++) {
        uint32_t sum = 0;
        for (int kind = 0; kind < SP_SKEW_KINDS; kind++)
            sum += part(*mix, (enum sp_skew_kind)kind);
        CU_ASSERT_EQUAL(sum, SP_SKEW_WHOLE);
    }
}

TEST(a_mix_that_makes_no_sense_is_refused_with_its_words)
{
    static const char *const bad[][2] = {
        {"", "\"\""},
        {"foo", "\"foo\""},
        {"ne", "\"ne\""},
        {"near-", "\"near-\""},
        {"near=", "\"near=\""},
        {"=5", "\"\""},
        {"near=-1", "\"near=-1\""},
        {"near=101", "\"near=101\""},
        {"near=nan", "\"near=nan\""},
        {"near=5x", "\"near=5x\""},
        {"near=50,same", "\"same\""},
        {"near=50,", "\"\""},
        {"near=50,same=51", "100 %"},
        {"same=1,foo=2", "\"foo\""},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct sp_skew skew = {.parts = {7}}, before = skew;
        struct sp_fault fault;
        CU_ASSERT_EQUAL(sp_skew_parse(bad[i][0], &skew, &fault), SP_INVALID);
        CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, bad[i][1]));
        CU_ASSERT_EQUAL(memcmp(&skew, &before, sizeof skew), 0);
    }
}

TEST(shares_are_exact_and_every_kind_is_spread_over_the_crawl)
{
    enum { FETCHES = 4000 };
    struct sp_synth_options o = options("same=25,chainlike=12.5,redirects=0.1", FETCHES);
    struct sp_buf lines = {0}, truth = {0};
    CU_ASSERT_EQUAL(make(&o, &lines, &truth), FETCHES);
    sp_buf_put_u8(&truth, 0);
    uint64_t same = 0, chainlike = 0, redirects = 0, n = 0, in_half[2] = {0};
    for (char *at = truth.data, *end; (end = strchr(at, '\n')); at = end + 1, n++) {
        *end = 0;
        same += strstr(at, "\"skew\":\"same\"") != NULL;
        chainlike += strstr(at, "\"skew\":\"chainlike\"") != NULL;
        redirects += strstr(at, "\"skew\":\"redirects-") != NULL;
        in_half[n >= FETCHES / 2] += strstr(at, "\"skew\":\"same\"") != NULL;
    }
    CU_ASSERT_EQUAL(same, FETCHES / 4);
    CU_ASSERT_EQUAL(chainlike, FETCHES / 8);
    CU_ASSERT_EQUAL(redirects, FETCHES / 1000);
    CU_ASSERT(in_half[0] > FETCHES / 8 - 100 && in_half[1] > FETCHES / 8 - 100);
    sp_buf_done(&lines);
    sp_buf_done(&truth);
}

/* ---- orders and sizes ---- */

TEST(a_permutation_takes_each_place_once_and_is_not_the_order_of_numbers)
{
    static const uint64_t counts[] = {1, 2, 3, 4, 5, 16, 17, 64, 1000};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        uint64_t count = counts[c], in_place = 0;
        uint8_t *seen = sp_calloc(count, 1);
        for (uint64_t i = 0; i < count; i++) {
            uint64_t place = sp_permute(9, count, i);
            CU_ASSERT_FATAL(place < count && !seen[place]);
            seen[place] = 1;
            in_place += place == i;
        }
        CU_ASSERT(count < 16 || in_place < count / 2);
        sp_free(seen);
    }
    CU_ASSERT_NOT_EQUAL(sp_permute(1, 1000000, 5), sp_permute(2, 1000000, 5));
    CU_ASSERT(sp_permute(1, UINT64_C(1) << 40, 7) < UINT64_C(1) << 40);
}

TEST(group_sizes_follow_zipf_up_to_the_largest_and_take_little_memory)
{
    static const uint64_t largest[] = {1, 2, 100, 5000, 10000};
    enum { PAGES = 10000 };
    for (size_t c = 0; c < sizeof largest / sizeof *largest; c++) {
        struct sp_zipf z;
        uint32_t *sizes = sp_calloc(PAGES, sizeof *sizes);
        uint64_t number, groups = 0;
        sp_zipf_make(&z, PAGES, largest[c]);
        for (uint64_t i = 0; i < PAGES; i++) {
            uint64_t group = sp_zipf_group(&z, i, &number);
            CU_ASSERT_FATAL(group < PAGES && number == sizes[group]);
            sizes[group]++;
            groups = group + 1;
        }
        for (uint64_t r = 0; r + 1 < groups; r++) { /* the last group gets the rest */
            uint64_t size = largest[c] / (r + 1);
            CU_ASSERT_EQUAL(sizes[r], size ? size : 1);
        }
        CU_ASSERT(z.groups <= largest[c] / 2);
        sp_free(sizes);
        sp_zipf_done(&z);
    }
}

/* ---- texts ---- */

struct page {
    json_t *line;
    const char *text;
    char **words;
    size_t count;
};

static void split(struct page *p, char *text)
{
    for (char *at, *next = text; (at = strtok_r(next, " .\n", &next));) {
        p->words = sp_realloc(p->words, (p->count + 1) * sizeof *p->words);
        p->words[p->count++] = at;
    }
}

/* The fetches of a crawl of one kind; *ret_texts is what their words point into. */
static struct page *pages_of(const struct sp_synth_options *o, char **ret_texts)
{
    struct page *pages = sp_calloc(o->pages, sizeof *pages);
    struct sp_buf lines = {0}, texts = {0};
    uint64_t count = make(o, &lines, NULL);
    const char *at = lines.data;
    texts.cap = lines.len + 1;
    texts.data = sp_alloc(texts.cap); /* large enough never to move */
    for (uint64_t i = 0; i < count; i++) {
        const char *end = memchr(at, '\n', (size_t)(lines.data + lines.len - at));
        pages[i].line = json_loadb(at, (size_t)(end - at), JSON_REJECT_DUPLICATES, NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(pages[i].line);
        const char *text = json_string_value(json_object_get(pages[i].line, "content"));
        pages[i].text = text;
        char *copy = texts.data + texts.len;
        sp_buf_put(&texts, text, strlen(text) + 1);
        split(&pages[i], copy);
        at = end + 1;
    }
    *ret_texts = texts.data;
    sp_buf_done(&lines);
    return pages;
}

static void pages_free(struct page *pages, uint64_t count, char *texts)
{
    for (uint64_t i = 0; i < count; i++) {
        json_decref(pages[i].line);
        sp_free(pages[i].words);
    }
    sp_free(pages);
    sp_free(texts);
}

static size_t words_different(const struct page *a, const struct page *b)
{
    size_t different = 0;
    CU_ASSERT_EQUAL_FATAL(a->count, b->count);
    for (size_t i = 0; i < a->count; i++)
        different += strcmp(a->words[i], b->words[i]) != 0;
    return different;
}

static bool same_shingle(const struct page *a, size_t i, const struct page *b, size_t k)
{
    for (size_t w = 0; w < 5; w++)
        if (strcmp(a->words[i + w], b->words[k + w]) != 0)
            return false;
    return true;
}

/* Jaccard similarity of texts without repeated shingles. */
static double similarity(const struct page *a, const struct page *b)
{
    size_t shared = 0, sum = a->count + b->count - 8;
    for (size_t i = 0; i + 5 <= a->count; i++)
        for (size_t k = 0; k + 5 <= b->count; k++)
            shared += same_shingle(a, i, b, k);
    return (double)shared / (double)(sum - shared);
}

TEST(every_page_has_exactly_the_words_asked_for)
{
    static const char *const kinds[] = {"same",     "near-words", "near-percent", "chainlike",
                                        "template", "zipf",       "unlike",       "outrank"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct sp_synth_options o = options(kinds[k], 40);
        o.words = 137;
        char *texts;
        struct page *pages = pages_of(&o, &texts);
        for (size_t i = 0; i < o.pages; i++)
            CU_ASSERT_EQUAL(pages[i].count, 137);
        pages_free(pages, o.pages, texts);
    }
}

TEST(near_pages_differ_in_few_words_and_all_of_them_from_one_another)
{
    struct sp_synth_options o = options("near-words", 60);
    char *texts;
    o.words = 300;
    struct page *pages = pages_of(&o, &texts);
    for (size_t i = 1; i < o.pages; i++) {
        CU_ASSERT_EQUAL(words_different(&pages[0], &pages[i]), 3);
        for (size_t k = 1; k < i; k++) {
            CU_ASSERT(words_different(&pages[i], &pages[k]) >= 3); /* the least */
            CU_ASSERT(similarity(&pages[i], &pages[k]) >= 0.8);
        }
    }
    pages_free(pages, o.pages, texts);
    o = options("near-percent", 400);
    pages = pages_of(&o, &texts);
    size_t different = 0;
    for (size_t i = 1; i < o.pages; i++)
        different += words_different(&pages[0], &pages[i]);
    CU_ASSERT(different > 300 && different < 500); /* 399 pages of 100 words */
    pages_free(pages, o.pages, texts);
}

TEST(a_page_names_itself_by_its_address_or_by_its_number)
{
    struct sp_synth_options o = options("near-url", 60);
    char *texts, number[32];
    struct page *pages = pages_of(&o, &texts);
    for (size_t i = 0; i < o.pages; i++) {
        const char *url = json_string_value(json_object_get(pages[i].line, "url"));
        snprintf(number, sizeof number, "the page %zu ", i);
        CU_ASSERT_PTR_NOT_NULL(strstr(pages[i].text, i % 2 ? number : url));
        for (size_t k = 0; k < i; k++)
            CU_ASSERT(similarity(&pages[i], &pages[k]) >= 0.8);
    }
    pages_free(pages, o.pages, texts);
}

TEST(a_chain_is_similar_from_page_to_page_and_no_further)
{
    static const uint32_t words[] = {100, 119, 300};
    for (size_t w = 0; w < 3; w++) {
        struct sp_synth_options o = options("chainlike", 50);
        char *texts;
        o.words = words[w];
        struct page *pages = pages_of(&o, &texts);
        for (size_t i = 0; i < o.pages; i++)
            for (size_t k = 0; k < i; k++)
                CU_ASSERT_EQUAL(similarity(&pages[i], &pages[k]) >= 0.8, k + 1 == i);
        pages_free(pages, o.pages, texts);
    }
}

TEST(a_template_is_30_to_79_percent_of_any_two_pages_but_of_near_copies)
{
    struct sp_synth_options o = options("template", 80);
    char *texts;
    o.words = 300;
    struct page *pages = pages_of(&o, &texts);
    double least = 1, most = 0;
    for (size_t i = 0; i < o.pages; i++)
        for (size_t k = 0; k < i; k++) {
            double j = similarity(&pages[i], &pages[k]);
            bool copy = i % 20 == 19 && k + 1 == i;
            CU_ASSERT_EQUAL(j >= 0.8, copy);
            least = j < least ? j : least;
            most = !copy && j > most ? j : most;
        }
    CU_ASSERT(least >= 0.3 && least < 0.35);
    CU_ASSERT(most > 0.7 && most < 0.79);
    pages_free(pages, o.pages, texts);
}

/* Checks which pages are similar to which earlier ones. */
static void check_similar(const char *kind, uint32_t words, size_t fetches,
                          bool (*similar)(size_t i, size_t k))
{
    struct sp_synth_options o = options(kind, fetches);
    char *texts;
    o.words = words;
    struct page *pages = pages_of(&o, &texts);
    for (size_t i = 0; i < fetches; i++)
        for (size_t k = 0; k < i; k++)
            CU_ASSERT_EQUAL(similarity(&pages[i], &pages[k]) >= 0.8, similar(i, k));
    pages_free(pages, fetches, texts);
}

enum { FIRST_HALVES = 50, PAIRS_OF_PLACES = 36 };

static bool edited_in_the_same_half(size_t i, size_t k)
{
    return i < FIRST_HALVES || (k >= FIRST_HALVES && (i - k) % PAIRS_OF_PLACES == 0);
}

TEST(pages_edited_in_the_second_half_resemble_those_with_the_same_two_places)
{
    check_similar("two-parts", 100, 2 * (size_t)FIRST_HALVES, edited_in_the_same_half);
    check_similar("two-parts", 139, 2 * (size_t)FIRST_HALVES, edited_in_the_same_half);
}

/* The earlier snapshot is a part of the later one. */
static bool grown_little(size_t i, size_t k)
{
    return 5 * (96 + 10 * k) >= 4 * (96 + 10 * i);
}

TEST(a_text_that_grows_resembles_what_it_has_just_been)
{
    check_similar("growing", 100, 60, grown_little);
    struct sp_synth_options o = options("growing", 205);
    char *texts;
    struct page *pages = pages_of(&o, &texts);
    CU_ASSERT_EQUAL(pages[200].count, 2100);
    CU_ASSERT_EQUAL(pages[204].count, 2100);
    CU_ASSERT_STRING_EQUAL(pages[204].words[0], pages[203].words[10]);
    pages_free(pages, o.pages, texts);
}

/* Four crawls of 40 pages; the first 22 of each are a chain. */
TEST(pages_that_change_resemble_a_few_others_and_never_all)
{
    enum { CHANGING = 40, CHAIN = 22 };
    struct sp_synth_options o = options("changing", 4 * (uint64_t)CHANGING);
    char *texts;
    struct page *pages = pages_of(&o, &texts);
    for (size_t i = 0; i < o.pages; i++) {
        size_t similar = 0;
        const char *url = json_string_value(json_object_get(pages[i].line, "url"));
        const char *first = json_string_value(json_object_get(pages[i % CHANGING].line, "url"));
        CU_ASSERT_STRING_EQUAL(url, first);
        for (size_t k = 0; k < o.pages; k++)
            similar += k != i && similarity(&pages[i], &pages[k]) >= 0.8;
        CU_ASSERT(similar > 0 && similar < o.pages / 3);
        bool chained = i % CHANGING > 0 && i % CHANGING < CHAIN;
        CU_ASSERT(!chained || similarity(&pages[i], &pages[i - 1]) >= 0.8);
    }
    pages_free(pages, o.pages, texts);
}

TEST(a_page_that_outranks_the_last_is_more_popular_or_has_a_shorter_url)
{
    struct sp_synth_options o = options("outrank-same", 600);
    char *texts;
    struct page *pages = pages_of(&o, &texts);
    size_t shorter = 0, more_popular = 0;
    for (size_t i = 1; i < o.pages; i++) {
        const json_t *a = pages[i - 1].line, *b = pages[i].line;
        json_int_t was = json_integer_value(json_object_get(a, "popularity"));
        json_int_t is = json_integer_value(json_object_get(b, "popularity"));
        size_t was_long = json_string_length(json_object_get(a, "url"));
        size_t is_long = json_string_length(json_object_get(b, "url"));
        CU_ASSERT(is > was || (is == was && is_long < was_long));
        shorter += is == was;
        more_popular += is > was;
    }
    CU_ASSERT(shorter > 500 && more_popular == 2);
    pages_free(pages, o.pages, texts);
}
