/* The winner rule: the winners of a group, and what a relation may use. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "harness.h"
#include "winners/winners.h"

/* ---- the cover: covers[i] lists the members that cover member 'a' + i ---- */

static bool covers(void *table, uint32_t loser, uint32_t winner, float *ret_similarity)
{
    const char *const *by = table;
    *ret_similarity = (float)(winner + 1) / 10;
    return strchr(by[loser], (int)('a' + winner)) != NULL;
}

/* "aac": a and c win, b loses to a. */
static void check_choice(const char *const *by, const char *expected)
{
    uint32_t winner[8], count = (uint32_t)strlen(expected);
    float similarity[8];
    char got[9] = "";
    sp_winners_choose(count, covers, (void *)by, winner, similarity);
    for (uint32_t i = 0; i < count; i++) {
        got[i] = (char)('a' + winner[i]);
        CU_ASSERT_EQUAL(similarity[i], winner[i] == i ? 0 : (float)(winner[i] + 1) / 10);
    }
    CU_ASSERT_STRING_EQUAL(got, expected);
}

TEST(the_first_by_rank_wins_where_all_cover_each_other)
{
    check_choice((const char *[]){"bcd", "acd", "abd", "abc"}, "aaaa");
    check_choice((const char *[]){"b", "ac", "b"}, "aac"); /* a chain */
    check_choice((const char *[]){"bc", "a", "a"}, "aaa");
    check_choice((const char *[]){"", "", ""}, "abc");
    check_choice((const char *[]){""}, "a");
    check_choice((const char *[]){NULL}, "");
}

TEST(a_winner_goes_where_a_later_one_covers_all_it_stood_for)
{
    /* Each is covered by all later ones, as with a.timestamp <= b.timestamp. */
    check_choice((const char *[]){"bcd", "cd", "d", ""}, "dddd");
    /* b covers a, but a stays a winner, because nothing else covers c. */
    check_choice((const char *[]){"b", "", "a"}, "aba");
    /* d becomes a winner because c loses to a; d then also covers the losers of a and b. */
    check_choice((const char *[]){"cd", "cd", "ad", "c"}, "dddd");
}

TEST(a_loser_names_the_first_winner_that_covers_it)
{
    /* c loses to b at first; a covers b, and c as well once b is gone. */
    check_choice((const char *[]){"", "a", "ab"}, "aaa");
    check_choice((const char *[]){"d", "cd", "bd", ""}, "dddd");
}

/* ---- the order of ranks ---- */

static struct sp_id page_of(uint64_t hi, uint64_t lo)
{
    return (struct sp_id){.hi = hi, .lo = lo};
}

/* Whatever decides between two pages, their heads do not say the opposite. */
TEST(heads_of_ranks_never_decrease_along_their_order)
{
    static const double popularities[] = {-INFINITY,   -2,          -1e-300, 0, 1e-310,  1,
                                          1 + 0x1p-40, 1 + 0x1p-39, 1.5,     3, INFINITY};
    static const uint32_t lengths[] = {0, 17, 4094, 4095, 65534, 65535, 65536, UINT32_MAX};
    static const uint64_t pages[] = {0, 1, 1ull << 22, UINT64_MAX / 3, UINT64_MAX};
    enum { POPULARITIES = 11, LENGTHS = 8, PAGES = 5, FLAGS = 4 };
    struct sp_rank ranks[POPULARITIES * LENGTHS * PAGES * FLAGS * FLAGS];
    struct sp_id ids[POPULARITIES * LENGTHS * PAGES * FLAGS * FLAGS];
    uint32_t count = 0, same = 0;
    for (int p = 0; p < POPULARITIES; p++)
        for (int l = 0; l < LENGTHS; l++)
            for (int i = 0; i < PAGES; i++)
                for (int f = 0; f < FLAGS * FLAGS; f++) {
                    ranks[count] = (struct sp_rank){popularities[p], lengths[l],
                                                    (uint8_t)(f / FLAGS), (uint8_t)(f % FLAGS)};
                    ids[count++] = page_of(pages[i], (uint64_t)f);
                }
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = 0; b < count; b++) {
            uint64_t x = sp_rank_head(&ranks[a], ids[a]), y = sp_rank_head(&ranks[b], ids[b]);
            int order = sp_rank_cmp(&ranks[a], ids[a], &ranks[b], ids[b]);
            if (x != y)
                CU_ASSERT_FATAL((x < y) == (order < 0));
            same += x == y && a != b;
        }
    CU_ASSERT(same > 0);
    struct sp_rank none = {0}, minus = {.popularity = -0.0};
    CU_ASSERT_EQUAL(sp_rank_head(&none, ids[0]), sp_rank_head(&minus, ids[0]));
    CU_ASSERT_NOT_EQUAL(sp_rank_head(&none, page_of(1ull << 22, 0)),
                        sp_rank_head(&none, page_of(2ull << 22, 0)));
    struct sp_rank some = {.popularity = 1999999, .url_bytes = 100};
    CU_ASSERT_NOT_EQUAL(sp_rank_head(&some, page_of(1ull << 49, 0)),
                        sp_rank_head(&some, page_of(2ull << 49, 0)));
}

/* ---- popularity classes ---- */

static bool same_class(double a, double b, double tolerance)
{
    return sp_popularity_class(a, tolerance) == sp_popularity_class(b, tolerance);
}

TEST(popularities_about_the_same_are_of_one_class)
{
    CU_ASSERT(same_class(5.0, 5.0000001, 0.01));
    CU_ASSERT(same_class(5.0, 4.9999999, 0.01));
    CU_ASSERT(same_class(1e6, 1.0001e6, 0.01));
    CU_ASSERT(same_class(-5.0, -5.0000001, 0.01));
    CU_ASSERT(!same_class(5.0, 5.2, 0.01));
    CU_ASSERT(!same_class(0, 1e-300, 1));
    CU_ASSERT(!same_class(5.0, 5.0000001, 0));
    CU_ASSERT_EQUAL(sp_popularity_class(5.0, 0.01), 5.0);
    CU_ASSERT_EQUAL(sp_popularity_class(1.7976931348623157e308, 1), 1.7976931348623157e308);
    CU_ASSERT_EQUAL(sp_popularity_class(0.1, 1e-300), 0.1);
}

/* Classes are ordered like popularities, and none is wider than the tolerance. */
TEST(classes_are_in_order_and_narrow)
{
    static const double tolerances[] = {1, 0.4, 0.3, 0.15, 0.1, 0.01, 1e-6};
    for (size_t t = 0; t < sizeof tolerances / sizeof *tolerances; t++) {
        double last = sp_popularity_class(-1000, tolerances[t]), first = -1000;
        for (int sixteenth = -16000; sixteenth < 16000; sixteenth++) {
            double p = sixteenth / 16.0;
            double class = sp_popularity_class(p, tolerances[t]);
            CU_ASSERT(class >= last);
            first = class > last ? p : first;
            last = class;
            double least = fmin(fabs(first), fabs(p));
            CU_ASSERT(p - first <= tolerances[t] * least * (1 + 1e-12));
        }
    }
}

/* ---- the relation ---- */

static void check_refused(const char *source, enum sp_method method, const char *says)
{
    struct sp_relation *r = NULL;
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL(sp_winner_relation_parse(source, method, &r, &fault), SP_INVALID);
    CU_ASSERT_PTR_NULL(r);
    CU_ASSERT(strncmp(fault.text, "winner.relation: ", 17) == 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, says));
}

TEST(a_relation_that_asks_for_what_groups_do_not_know_is_refused)
{
    check_refused("a.title = b.title", SP_METHOD_SHINGLES, "title");
    check_refused("a.host = b.host && a.language = b.language", SP_METHOD_SHINGLES, "language");
    static const char fields[] = "; the fields are url, host, timestamp, popularity, shingles\n";
    check_refused("a.title = b.title", SP_METHOD_SHINGLES, fields);
    check_refused("a.site = b.site", SP_METHOD_SHINGLES, fields);
    check_refused("a.host = ", SP_METHOD_SHINGLES, "column");
    check_refused("jaccard(a, b) > 0.9", SP_METHOD_SIMHASH, "similarity.method");
    check_refused("a.shingles > b.shingles", SP_METHOD_COSINE, "similarity.method");
}

struct page {
    const char *url;
    int64_t since_ms;
    double popularity;
    struct sp_signature *signature;
};

static struct sp_signature *made_of(uint32_t first, uint32_t count)
{
    struct sp_signature *s = sp_signature_alloc(count, 0);
    s->params = 1;
    s->shingle_total = s->shingle_count = count;
    for (uint32_t i = 0; i < count; i++)
        s->hashes[i] = first + i;
    return s;
}

static bool holds(const char *source, const struct page *a, const struct page *b)
{
    const struct page *pages[] = {a, b};
    struct sp_winner_facts facts[2];
    struct sp_relation *r = NULL;
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL_FATAL(sp_winner_relation_parse(source, SP_METHOD_SHINGLES, &r, &fault), SP_OK);
    for (int i = 0; i < 2; i++)
        sp_winner_facts_init(&facts[i], r, sp_view_str(pages[i]->url), pages[i]->since_ms,
                             pages[i]->popularity, pages[i]->signature);
    bool holds = sp_winner_relation_holds(r, &facts[0], &facts[1]);
    sp_winner_facts_done(&facts[0]);
    sp_winner_facts_done(&facts[1]);
    sp_relation_free(r);
    return holds;
}

TEST(a_relation_compares_what_groups_know)
{
    struct page old = {"HTTP://User@Site.example:80/a", 1700000000000, 1, made_of(0, 30)};
    struct page new = {"http://site.example/b?q", 1700000000000 + 86400000, 2, made_of(10, 60)};
    CU_ASSERT(holds("a.host = b.host", &old, &new));
    CU_ASSERT(holds("a.host = 'site.example' && b.url = 'http://site.example/b?q'", &old, &new));
    CU_ASSERT(holds("b.timestamp - a.timestamp = 1d", &old, &new));
    CU_ASSERT(!holds("a.timestamp >= b.timestamp", &old, &new));
    CU_ASSERT(holds("a.popularity + 1 = b.popularity && a.shingles * 2 = b.shingles", &old, &new));
    sp_signature_unref(old.signature);
    sp_signature_unref(new.signature);
}

TEST(measures_are_exact)
{
    for (uint32_t shared = 0; shared <= 30; shared++) {
        struct page a = {"http://a.example/", 0, 0, made_of(0, 30)};
        struct page b = {"http://b.example/", 0, 0, made_of(30 - shared, 47)};
        char source[128];
        snprintf(source, sizeof source,
                 "containment(a, b) = %u / 30 && containment(b, a) = %u / 47 && "
                 "jaccard(a, b) = %u / %u && dice(a, b) = %u / 77",
                 shared, shared, shared, 77 - shared, 2 * shared);
        CU_ASSERT(holds(source, &a, &b));
        sp_signature_unref(a.signature);
        sp_signature_unref(b.signature);
    }
}
