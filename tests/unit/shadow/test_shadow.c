/* The shadow audit: what it reports about statuses that are right, wrong or pending. The statuses
 * are made by hand; test_watching.c uses those of the stages. */
#include <stdio.h>

#include "base/mem.h"
#include "base/url.h"
#include "harness.h"
#include "made_up.h"
#include "shadow/shadow.h"
#include "winners/winners.h"

enum { HASHES = 100 };

/* A content of a hundred shingles, `other` of which differ from the rest of the family. */
static struct sp_signature *content(uint32_t family, uint32_t other)
{
    struct sp_signature *g = made_up((struct sp_id){0, 0}, HASHES);
    uint32_t salt = family * 7919 + other * 104729;
    for (uint32_t i = 0; i < HASHES; i++) {
        uint32_t own = i < other ? salt : family * 7919;
        g->hashes[i] = i * 40000000u + own % 30000000u;
    }
    g->content_hash = sp_hash128(g->hashes, sizeof *g->hashes * HASHES);
    return g;
}

struct test {
    struct sp_shadow *shadow;
    struct sp_shadow_options options;
    uint32_t alarms;
    char last[200];
    uint32_t watched;
};

static void on_alarm(void *arg, const struct sp_shadow_alarm *alarm)
{
    struct test *t = arg;
    t->alarms++;
    snprintf(t->last, sizeof t->last, "%s", alarm->what);
}

static void on_watched(void *arg, struct sp_id page, bool watched)
{
    struct test *t = arg;
    (void)page;
    t->watched += watched ? 1 : UINT32_MAX;
}

static void begin(struct test *t, double share)
{
    t->options.share = share;
    t->options.most = t->options.most ? t->options.most : 1000000;
    t->options.ranked = true;
    t->options.alarm = on_alarm;
    t->options.watched = on_watched;
    t->options.arg = t;
    sp_similarity_options_default(&t->options.similarity);
    t->shadow = sp_shadow_new(&t->options);
}

static struct sp_shadow_counts end(struct test *t)
{
    struct sp_shadow_counts counts;
    sp_shadow_counts(t->shadow, &counts);
    CU_ASSERT_EQUAL(counts.missing + counts.wrong, t->alarms);
    CU_ASSERT_EQUAL(counts.pages, t->watched);
    sp_shadow_free(t->shadow);
    return counts;
}

static const char *url_of(uint32_t page, char text[64])
{
    snprintf(text, 64, "http://a.example/%u", page);
    return text;
}

static struct sp_id id_of(uint32_t page)
{
    char text[64];
    url_of(page, text);
    return sp_hash128(text, strlen(text));
}

/* Takes the signature over. */
static void fetch(struct test *t, uint32_t page, int64_t version, enum sp_page_kind kind,
                  struct sp_signature *g)
{
    char text[64];
    struct sp_message *m = sp_message_new(SP_MSG_CRAWLED);
    m->page = id_of(page);
    m->crawled.url = sp_strdup(url_of(page, text));
    m->crawled.version = version;
    m->crawled.page_kind = kind;
    m->crawled.signature = g;
    m->crawled.rank = sp_rank_of(sp_view_str(text), 0);
    m->crawled.rank.popularity = -(double)page; /* the lower number ranks higher */
    sp_shadow_fetch(t->shadow, m);
    sp_message_free(m);
}

static void say(struct test *t, uint32_t page, int64_t version, enum sp_page_status status,
                uint32_t winner, float similarity, uint64_t group)
{
    char text[64], winner_text[64];
    bool loser = status == SP_STATUS_LOSER;
    struct sp_status_event e = {.page = id_of(page),
                                .url = url_of(page, text),
                                .version_ms = version,
                                .status = status,
                                .winner_url = loser ? url_of(winner, winner_text) : NULL,
                                .similarity = similarity,
                                .reason = loser ? SP_REASON_CONTENT : SP_REASON_NONE,
                                .group_size = status == SP_STATUS_UNIQUE ? 1 : 2,
                                .group = {.birth = group}};
    if (similarity == 1)
        e.reason = SP_REASON_EXACT;
    sp_shadow_status(t->shadow, &e);
}

/* Pages 1 and 2 are near duplicates: 90 of 110 shingles. */
static const float NEAR = 90.0f / 110;

static void fetch_both(struct test *t)
{
    fetch(t, 1, 1000, SP_PAGE_CONTENT, content(1, 0));
    fetch(t, 2, 1000, SP_PAGE_CONTENT, content(1, 10));
}

static void check_both(struct test *t, const char *expected)
{
    sp_shadow_judge(t->shadow, false);
    CU_ASSERT_EQUAL(t->alarms, expected ? 1 : 0);
    if (expected && t->alarms && !strstr(t->last, expected))
        CU_FAIL(expected);
}

TEST(statuses_that_are_right_raise_nothing)
{
    struct test t = {0};
    begin(&t, 1);
    fetch_both(&t);
    say(&t, 1, 1000, SP_STATUS_WINNER, 0, 0, 1);
    say(&t, 2, 1000, SP_STATUS_LOSER, 1, NEAR, 1);
    fetch(&t, 3, 1000, SP_PAGE_CONTENT, content(2, 0));
    say(&t, 3, 1000, SP_STATUS_UNIQUE, 0, 0, 3);
    fetch(&t, 4, 1000, SP_PAGE_DEAD, NULL);
    say(&t, 4, 1000, SP_STATUS_GONE, 0, 0, 4);
    check_both(&t, NULL);
    CU_ASSERT(end(&t).judged > 0);
}

TEST(a_pair_that_is_not_found_is_missing)
{
    struct test t = {0};
    begin(&t, 1);
    fetch_both(&t);
    say(&t, 1, 1000, SP_STATUS_UNIQUE, 0, 0, 1);
    say(&t, 2, 1000, SP_STATUS_UNIQUE, 0, 0, 2);
    check_both(&t, "both are kept");
    sp_shadow_judge(t.shadow, false);
    sp_shadow_settle(t.shadow);
    CU_ASSERT_EQUAL(t.alarms, 1); /* reported only once */
    struct sp_shadow_counts counts = end(&t);
    CU_ASSERT_EQUAL(counts.missing, 1);
    CU_ASSERT_EQUAL(counts.wrong, 0);
}

TEST(a_unique_page_that_resembles_a_loser_is_missing)
{
    struct test t = {0};
    begin(&t, 1);
    fetch_both(&t);
    say(&t, 1, 1000, SP_STATUS_UNIQUE, 0, 0, 1);
    say(&t, 2, 1000, SP_STATUS_LOSER, 77, 0.9f, 2); /* a page that is not watched */
    check_both(&t, "as unique");
    CU_ASSERT_EQUAL(end(&t).missing, 1);
}

TEST(near_duplicates_in_two_groups_are_missing)
{
    struct test t = {0};
    begin(&t, 1);
    fetch_both(&t);
    fetch(&t, 3, 1000, SP_PAGE_CONTENT, content(1, 20));
    say(&t, 1, 1000, SP_STATUS_WINNER, 0, 0, 1);
    say(&t, 2, 1000, SP_STATUS_LOSER, 3, NEAR, 2);
    say(&t, 3, 1000, SP_STATUS_WINNER, 0, 0, 2);
    sp_shadow_judge(t.shadow, false);
    CU_ASSERT(t.alarms > 0);
    CU_ASSERT(end(&t).missing > 0);
}

TEST(a_loser_must_resemble_its_winner)
{
    struct test t = {0};
    begin(&t, 1);
    fetch(&t, 1, 1000, SP_PAGE_CONTENT, content(1, 0));
    fetch(&t, 2, 1000, SP_PAGE_CONTENT, content(2, 0));
    say(&t, 1, 1000, SP_STATUS_WINNER, 0, 0, 1);
    say(&t, 2, 1000, SP_STATUS_LOSER, 1, 0.9f, 1);
    check_both(&t, "does not resemble");
    CU_ASSERT_EQUAL(end(&t).wrong, 1);
}

TEST(a_loser_names_a_winner)
{
    struct test t = {0};
    begin(&t, 1);
    fetch_both(&t);
    fetch(&t, 3, 1000, SP_PAGE_CONTENT, content(3, 0));
    say(&t, 1, 1000, SP_STATUS_LOSER, 77, 0.9f, 1);
    say(&t, 2, 1000, SP_STATUS_LOSER, 1, NEAR, 1);
    check_both(&t, "no winner");
    CU_ASSERT_EQUAL(end(&t).wrong, 1);
}

TEST(a_loser_says_how_similar_it_is)
{
    struct test t = {0};
    begin(&t, 1);
    fetch_both(&t);
    say(&t, 1, 1000, SP_STATUS_WINNER, 0, 0, 1);
    say(&t, 2, 1000, SP_STATUS_LOSER, 1, 0.9f, 1);
    check_both(&t, "another similarity");
    CU_ASSERT_EQUAL(end(&t).wrong, 1);
}

TEST(a_winner_is_ahead_of_its_loser)
{
    struct test t = {0};
    begin(&t, 1);
    fetch_both(&t);
    say(&t, 1, 1000, SP_STATUS_LOSER, 2, NEAR, 1);
    say(&t, 2, 1000, SP_STATUS_WINNER, 0, 0, 1);
    check_both(&t, "ranks behind");
    CU_ASSERT_EQUAL(end(&t).wrong, 1);
}

TEST(under_a_relation_rank_and_two_kept_pages_prove_nothing)
{
    struct test t = {.options = {.related = true}};
    begin(&t, 1);
    sp_shadow_free(t.shadow);
    t.options.ranked = false;
    t.shadow = sp_shadow_new(&t.options);
    fetch_both(&t);
    say(&t, 1, 1000, SP_STATUS_WINNER, 0, 0, 1);
    say(&t, 2, 1000, SP_STATUS_WINNER, 0, 0, 1);
    check_both(&t, NULL);
    say(&t, 1, 1000, SP_STATUS_LOSER, 2, NEAR, 1);
    check_both(&t, NULL);
    end(&t);
}

TEST(a_dead_page_must_be_gone)
{
    struct test t = {0};
    begin(&t, 1);
    fetch(&t, 1, 1000, SP_PAGE_DEAD, NULL);
    say(&t, 1, 1000, SP_STATUS_UNIQUE, 0, 0, 1);
    check_both(&t, "not published as gone");
    end(&t);
}

/* ---- pending statuses, and what cannot be judged */

TEST(nothing_is_said_of_a_page_whose_status_has_not_come)
{
    struct test t = {0};
    begin(&t, 1);
    fetch_both(&t);
    say(&t, 1, 1000, SP_STATUS_UNIQUE, 0, 0, 1);
    check_both(&t, NULL);
    CU_ASSERT_EQUAL(end(&t).suspects, 0);
}

TEST(a_late_fetch_changes_nothing)
{
    struct test t = {0};
    begin(&t, 1);
    fetch_both(&t);
    say(&t, 1, 1000, SP_STATUS_WINNER, 0, 0, 1);
    say(&t, 2, 1000, SP_STATUS_LOSER, 1, NEAR, 1);
    fetch(&t, 2, 500, SP_PAGE_CONTENT, content(9, 0));
    say(&t, 2, 1000, SP_STATUS_LOSER, 1, NEAR, 1);
    check_both(&t, NULL);
    fetch(&t, 2, 1000, SP_PAGE_CONTENT, content(9, 0)); /* has no status */
    check_both(&t, NULL);
    end(&t);
}

TEST(a_content_that_is_not_watched_is_not_judged)
{
    struct test t = {0};
    begin(&t, 1);
    fetch_both(&t);
    say(&t, 1, 1000, SP_STATUS_WINNER, 0, 0, 1);
    say(&t, 2, 1000, SP_STATUS_LOSER, 1, NEAR, 1);
    say(&t, 2, 2000, SP_STATUS_UNIQUE, 0, 0, 2); /* of a fetch that the shadow has not seen */
    check_both(&t, NULL);
    end(&t);
}

TEST(a_content_found_again_is_the_one_before)
{
    struct test t = {0};
    begin(&t, 1);
    fetch_both(&t);
    say(&t, 1, 1000, SP_STATUS_WINNER, 0, 0, 1);
    say(&t, 2, 1000, SP_STATUS_LOSER, 1, NEAR, 1);
    fetch(&t, 2, 2000, SP_PAGE_UNSEEN, NULL);
    say(&t, 2, 2000, SP_STATUS_UNIQUE, 0, 0, 2);
    sp_shadow_judge(t.shadow, false);
    CU_ASSERT_EQUAL(t.alarms, 1);
    end(&t);
}

TEST(what_becomes_right_in_time_was_late)
{
    struct test t = {.options = {.patience = 3}};
    begin(&t, 1);
    fetch_both(&t);
    say(&t, 1, 1000, SP_STATUS_UNIQUE, 0, 0, 1);
    say(&t, 2, 1000, SP_STATUS_LOSER, 1, NEAR, 1);
    check_both(&t, NULL);
    fetch(&t, 3, 61000, SP_PAGE_DEAD, NULL);
    say(&t, 1, 1000, SP_STATUS_WINNER, 0, 0, 1);
    check_both(&t, NULL);
    struct sp_shadow_counts counts = end(&t);
    CU_ASSERT_EQUAL(counts.late_ms, 60000);
    CU_ASSERT_EQUAL(counts.suspects, 0);
}

TEST(what_stays_wrong_is_counted_after_the_patience)
{
    struct test t = {.options = {.patience = 3}};
    begin(&t, 1);
    fetch_both(&t);
    say(&t, 1, 1000, SP_STATUS_UNIQUE, 0, 0, 1);
    say(&t, 2, 1000, SP_STATUS_UNIQUE, 0, 0, 2);
    for (uint32_t i = 0; i < 3; i++)
        check_both(&t, NULL);
    check_both(&t, "both are kept");
    end(&t);
}

/* ---- a stream with messages always in flight */

TEST(in_a_stream_a_status_may_come_many_looks_later)
{
    struct test t = {.options = {.streaming = true}};
    begin(&t, 1);
    fetch_both(&t);
    say(&t, 1, 1000, SP_STATUS_UNIQUE, 0, 0, 1);
    for (int i = 0; i < 10; i++)
        check_both(&t, NULL);
    say(&t, 2, 1000, SP_STATUS_UNIQUE, 0, 0, 2);
    check_both(&t, "both are kept");
    end(&t);
}

TEST(in_a_stream_a_fetch_that_comes_twice_is_one)
{
    struct test t = {.options = {.streaming = true}};
    begin(&t, 1);
    fetch_both(&t);
    say(&t, 1, 1000, SP_STATUS_UNIQUE, 0, 0, 1);
    say(&t, 2, 1000, SP_STATUS_UNIQUE, 0, 0, 2);
    fetch_both(&t); /* these fetches get no status */
    check_both(&t, "both are kept");
    end(&t);
}

TEST(in_a_stream_a_status_of_an_older_fetch_settles_nothing)
{
    struct test t = {.options = {.streaming = true}};
    begin(&t, 1);
    fetch_both(&t);
    say(&t, 1, 1000, SP_STATUS_UNIQUE, 0, 0, 1);
    fetch(&t, 2, 2000, SP_PAGE_CONTENT, content(5, 0));
    say(&t, 2, 1000, SP_STATUS_UNIQUE, 0, 0, 2);
    check_both(&t, NULL);
    say(&t, 2, 2000, SP_STATUS_UNIQUE, 0, 0, 2);
    check_both(&t, NULL);
    end(&t);
}

/* It is of a fetch that was not drawn, whose content is not known. */
TEST(in_a_stream_a_status_of_a_newer_fetch_settles_nothing)
{
    struct test t = {.options = {.streaming = true}};
    begin(&t, 1);
    fetch_both(&t);
    say(&t, 1, 1000, SP_STATUS_UNIQUE, 0, 0, 1);
    say(&t, 2, 2000, SP_STATUS_UNIQUE, 0, 0, 2);
    check_both(&t, NULL);
    end(&t);
}

TEST(in_a_stream_a_page_found_again_before_its_status_has_the_same_content)
{
    struct test t = {.options = {.streaming = true}};
    begin(&t, 1);
    fetch_both(&t);
    say(&t, 1, 1000, SP_STATUS_UNIQUE, 0, 0, 1);
    fetch(&t, 2, 2000, SP_PAGE_UNSEEN, NULL);
    say(&t, 2, 2000, SP_STATUS_UNIQUE, 0, 0, 2);
    check_both(&t, "both are kept");
    end(&t);
}

TEST(in_a_stream_a_fetch_without_a_time_is_not_watched)
{
    struct test t = {.options = {.streaming = true}};
    begin(&t, 1);
    fetch(&t, 1, 0, SP_PAGE_CONTENT, content(1, 0));
    say(&t, 1, 1, SP_STATUS_UNIQUE, 0, 0, 1);
    sp_shadow_judge(t.shadow, false);
    CU_ASSERT_EQUAL(end(&t).pages, 0);
}

TEST(while_large_groups_owe_nothing_is_counted)
{
    struct test t = {0};
    begin(&t, 1);
    fetch_both(&t);
    say(&t, 1, 1000, SP_STATUS_UNIQUE, 0, 0, 1);
    say(&t, 2, 1000, SP_STATUS_UNIQUE, 0, 0, 2);
    sp_shadow_judge(t.shadow, true);
    CU_ASSERT_EQUAL(t.alarms, 0);
    check_both(&t, "both are kept");
    end(&t);
}

TEST(a_page_that_leaves_takes_its_suspicions_along)
{
    struct test t = {.options = {.patience = 100}};
    begin(&t, 1);
    fetch_both(&t);
    say(&t, 1, 1000, SP_STATUS_UNIQUE, 0, 0, 1);
    say(&t, 2, 1000, SP_STATUS_UNIQUE, 0, 0, 2);
    check_both(&t, NULL);
    fetch(&t, 2, 2000, SP_PAGE_DEAD, NULL);
    say(&t, 2, 2000, SP_STATUS_GONE, 0, 0, 2);
    sp_shadow_settle(t.shadow);
    CU_ASSERT_EQUAL(t.alarms, 0);
    end(&t);
}

TEST(a_page_that_is_forgotten_is_judged_no_more)
{
    struct test t = {.options = {.patience = 100}};
    begin(&t, 1);
    fetch_both(&t);
    say(&t, 1, 1000, SP_STATUS_UNIQUE, 0, 0, 1);
    say(&t, 2, 1000, SP_STATUS_UNIQUE, 0, 0, 2);
    check_both(&t, NULL); /* suspected, but not yet reported */
    fetch(&t, 2, 2000, SP_PAGE_CONTENT, content(1, 5));
    CU_ASSERT_TRUE(sp_shadow_watches(t.shadow, id_of(2)));
    CU_ASSERT_FALSE(sp_shadow_watches(t.shadow, id_of(3)));
    sp_shadow_forget(t.shadow, id_of(2));
    CU_ASSERT_FALSE(sp_shadow_watches(t.shadow, id_of(2)));
    sp_shadow_forget(t.shadow, id_of(3)); /* an unknown page */
    CU_ASSERT_EQUAL(t.watched, 1);
    sp_shadow_settle(t.shadow);
    CU_ASSERT_EQUAL(t.alarms, 0);
    end(&t);
}

/* ---- the sample */

static void fetch_families(struct test *t, uint32_t families)
{
    for (uint32_t i = 0; i < families; i++)
        for (uint32_t k = 0; k < 2; k++) {
            fetch(t, 2 * i + k, 1000, SP_PAGE_CONTENT, content(i, 10 * k));
            say(t, 2 * i + k, 1000, SP_STATUS_UNIQUE, 0, 0, 2 * i + k + 1);
        }
    sp_shadow_judge(t->shadow, false);
}

/* At J = 9/11 a share of 0.05 watches 0.041 of 4,000 pairs by content: 164. If both pages of a pair
 * were drawn separately it would be 10, or 39 with both kinds of draws. */
TEST(near_duplicates_are_watched_together)
{
    struct test t = {0};
    begin(&t, 0.05);
    fetch_families(&t, 4000);
    CU_ASSERT(t.alarms > 100 && t.alarms < 250);
    struct sp_shadow_counts counts = end(&t);
    CU_ASSERT(counts.pages > 500 && counts.pages < 1100); /* about a tenth of 8,000 */
}

TEST(a_full_shadow_halves_its_share)
{
    struct test t = {.options = {.most = 100}};
    begin(&t, 1);
    fetch_families(&t, 1000);
    CU_ASSERT(t.alarms >
              20); /* all faults found before the shadow was full, and a share of the later ones */
    struct sp_shadow_counts counts = end(&t);
    CU_ASSERT(counts.pages <= 100 && counts.pages > 20);
    CU_ASSERT(counts.share <= 0.0625 && counts.share >= 0.01);
}

TEST(a_restored_page_is_judged_with_its_next_event)
{
    struct test t = {0};
    char text[64];
    begin(&t, 1);
    struct sp_signature *g = content(1, 0);
    struct sp_shadow_page_state page = {id_of(1),        url_of(1, text),    1000,
                                        SP_PAGE_CONTENT, {.popularity = -1}, g};
    struct sp_status_event status = {.page = id_of(1),
                                     .url = text,
                                     .version_ms = 1000,
                                     .status = SP_STATUS_UNIQUE,
                                     .group_size = 1,
                                     .group = {.birth = 1}};
    CU_ASSERT(sp_shadow_restore(t.shadow, &page, &status));
    sp_signature_unref(g);
    check_both(&t, NULL);
    fetch(&t, 2, 1000, SP_PAGE_CONTENT, content(1, 10));
    say(&t, 2, 1000, SP_STATUS_UNIQUE, 0, 0, 2);
    check_both(&t, "both are kept");
    end(&t);
}
