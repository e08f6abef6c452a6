/* A run that audits itself: no reports for correct stages, and each of three kinds of fault is
 * found in the time that its sample needs. */
#include <stdio.h>

#include "base/mem.h"
#include "crawl.h"
#include "harness.h"
#include "local/verify.h"
#include "local/watching.h"
#include "page/builder.h"
#include "winners/winners.h"

enum { ALL = 1000000 };

struct audited {
    struct crawl_run run;
    struct sp_db *db;
    struct sp_local_bus *bus;
    struct sp_watching *watching;
    struct sp_shadow_options options;
    uint64_t lost; /* by the canary, before the first alarm */
};

static void on_status(void *arg, const struct sp_status_event *event)
{
    struct audited *a = arg;
    sp_watching_status(a->watching, event);
}

static void audit_init(struct audited *a, double share, uint32_t cells)
{
    *a = (struct audited){.options = {.share = share, .most = ALL, .ranked = true}};
    crawl_run_init(&a->run, cells);
    a->options.similarity = a->run.options.group.similarity;
    a->db = sp_db_open_memory();
}

static void audit_open(struct audited *a)
{
    struct sp_local_bus_options *o = &a->run.options;
    o->group.maps = o->compare.maps = (struct sp_maps){.now = &a->run.map};
    CU_ASSERT_EQUAL_FATAL(sp_local_bus_new(o, a->db, on_status, a, &a->bus), SP_OK);
    CU_ASSERT_EQUAL_FATAL(sp_watching_new(&a->options, a->db, o->tier1, a->bus, &a->watching),
                          SP_OK);
}

static struct sp_watching_report report_of(const struct audited *a)
{
    struct sp_watching_report report;
    sp_watching_report(a->watching, &report);
    return report;
}

static bool has_alarm(const struct audited *a)
{
    struct sp_watching_report report = report_of(a);
    return report.missing + report.wrong > 0;
}

/* Feeds records until the first alarm, or up to record `to`. */
static void audit_feed(struct audited *a, struct crawl *crawl, size_t from, size_t to)
{
    for (size_t i = from; i < to && i < crawl->count && !has_alarm(a); i++) {
        sp_watching_fetch(a->watching, crawl->messages[i]);
        CU_ASSERT_EQUAL_FATAL(sp_local_bus_feed(a->bus, crawl->messages[i]), SP_OK);
        crawl->messages[i] = NULL;
        sp_watching_judge(a->watching);
    }
}

static void audit_settle(struct audited *a)
{
    CU_ASSERT_EQUAL(sp_local_bus_settle(a->bus), SP_OK);
    sp_watching_settle(a->watching);
}

static void audit_barrier(struct audited *a)
{
    CU_ASSERT_EQUAL(sp_local_bus_flush(a->bus), SP_OK);
    sp_watching_save(a->watching);
    CU_ASSERT_EQUAL(sp_db_commit(a->db), SP_OK);
}

static void audit_close(struct audited *a)
{
    sp_watching_free(a->watching);
    sp_local_bus_free(a->bus);
    a->watching = NULL;
    a->bus = NULL;
}

static void audit_done(struct audited *a)
{
    audit_close(a);
    sp_db_close(a->db);
    crawl_run_done(&a->run);
}

static void make(struct crawl *crawl, uint64_t pages)
{
    struct sp_synth_options synth;
    sp_synth_options_default(&synth);
    synth.pages = pages;
    synth.words = 60;
    synth.near_permille = 350;
    synth.recrawl_permille = 500;
    crawl_make(crawl, &synth);
}

static struct sp_message *page_of_words(struct sp_builder *b, uint32_t family, uint32_t words)
{
    char url[64];
    struct sp_message *m = sp_message_new(SP_MSG_CRAWLED);
    sp_builder_begin(b);
    for (uint32_t i = 0; i < words; i++) {
        uint64_t word = sp_mix64((uint64_t)family << 32 | i);
        sp_builder_words(b, &word, 1);
    }
    int n = snprintf(url, sizeof url, "http://a.example/%u/%u", family, words);
    m->page = sp_hash128(url, (size_t)n);
    m->crawled.version = 1000;
    m->crawled.url = sp_strdup(url);
    m->crawled.page_kind = SP_PAGE_CONTENT;
    m->crawled.signature = sp_builder_finish(b, 0);
    m->crawled.rank = sp_rank_of(sp_view(url, (size_t)n), 0);
    return m;
}

/* Pairs of a text and nine tenths of it, J = 0.9, mostly in two cells. */
static void make_halves(struct crawl *crawl, uint32_t families)
{
    struct sp_signature_options options = {.max_shingles = 1024};
    struct sp_builder *b = sp_builder_new(&options);
    crawl->count = 0;
    crawl->messages = sp_calloc(2 * families, sizeof(struct sp_message *));
    for (uint32_t i = 0; i < families; i++) {
        uint32_t words = 104 + i % 400;
        crawl->messages[crawl->count++] = page_of_words(b, i, words);
        crawl->messages[crawl->count++] = page_of_words(b, i, words - words / 10);
    }
    sp_builder_free(b);
}

static void make_skewed(struct crawl *crawl, uint64_t pages, const char *kind)
{
    struct sp_synth_options synth;
    struct sp_fault fault;
    sp_synth_options_default(&synth);
    synth.pages = pages;
    synth.words = 100;
    CU_ASSERT_EQUAL_FATAL(sp_skew_parse(kind, &synth.skew, &fault), SP_OK);
    crawl_make(crawl, &synth);
}

TEST(a_right_system_raises_nothing)
{
    struct crawl crawl;
    struct audited a;
    make(&crawl, 3000);
    audit_init(&a, 1, 5);
    audit_open(&a);
    audit_feed(&a, &crawl, 0, SIZE_MAX);
    audit_settle(&a);
    struct sp_watching_report report = report_of(&a);
    CU_ASSERT_EQUAL(report.missing, 0);
    CU_ASSERT_EQUAL(report.wrong, 0);
    CU_ASSERT(report.judged > 3000);
    audit_done(&a);
    crawl_done(&crawl);
}

/* ---- canaries: a pair is watched with a probability of at least J >= 0.8 times the share, so the
 * chance to see none of N lost ones is below exp(-0.8 N share): 12 / share for one in 15,000 */

static const double SHARE = 0.05;
enum { EXPECTED_LOST = 240 };

static void check_alarm(const struct audited *a)
{
    struct sp_watching_report report = report_of(a);
    CU_ASSERT(report.missing > 0);
    CU_ASSERT(a->lost > 0 && a->lost <= EXPECTED_LOST);
    CU_ASSERT(report.example_count > 0);
}

/* Candidates: no near duplicate in the page's own cell is found. */
static struct sp_message *lose_matches(void *arg, struct sp_message *m)
{
    struct audited *a = arg;
    if (m->kind == SP_MSG_MATCH) {
        m->link.content_version--; /* no such version */
        a->lost += m->link.edge_count;
    }
    return m;
}

TEST(lost_candidates_raise_the_alarm)
{
    struct crawl crawl;
    struct audited a;
    make(&crawl, 3000);
    audit_init(&a, SHARE, 1);
    a.run.options.wire = lose_matches;
    a.run.options.wire_arg = &a;
    audit_open(&a);
    audit_feed(&a, &crawl, 0, SIZE_MAX);
    check_alarm(&a);
    audit_done(&a);
    crawl_done(&crawl);
}

/* Routing: only the page's own cell is probed, so pairs across two cells are lost. */
static struct sp_message *lose_probes(void *arg, struct sp_message *m)
{
    (void)arg;
    if (m->kind == SP_MSG_PROBE) {
        struct sp_signature *empty = sp_signature_alloc(0, 0);
        *empty = *m->probe.signature;
        empty->refs = 1;
        empty->shingle_count = empty->shingle_total = empty->sentence_count = 0;
        memset(empty->length, 0, sizeof empty->length);
        sp_signature_unref(m->probe.signature);
        m->probe.signature = empty;
    }
    return m;
}

TEST(lost_routes_raise_the_alarm)
{
    struct crawl crawl;
    struct audited a;
    uint64_t differences = 0;
    make_halves(&crawl, 1000);
    audit_init(&a, SHARE, 40);
    a.run.options.wire = lose_probes;
    audit_open(&a);
    audit_feed(&a, &crawl, 0, SIZE_MAX);
    audit_barrier(&a);
    CU_ASSERT_EQUAL(sp_verify(a.db, &a.run.options, &differences, NULL), SP_OK);
    a.lost = differences;
    check_alarm(&a);
    audit_done(&a);
    crawl_done(&crawl);
}

/* A group rule: pages that are not told of their new winner at once are never told. Each new page
 * outranks all before it. */
TEST(a_group_rule_left_out_raises_the_alarm)
{
    struct crawl crawl;
    struct audited a;
    make_skewed(&crawl, 2000, "outrank-same");
    audit_init(&a, SHARE, 1);
    a.run.options.group.canary = SP_CANARY_NO_ROUND;
    audit_open(&a);
    audit_feed(&a, &crawl, 0, SIZE_MAX);
    audit_settle(&a);
    struct sp_watching_report report = report_of(&a);
    CU_ASSERT(report.wrong > 0);
    audit_done(&a);
    crawl_done(&crawl);
}

TEST(without_the_canary_that_crawl_raises_nothing)
{
    struct crawl crawl;
    struct audited a;
    make_skewed(&crawl, 2000, "outrank-same");
    audit_init(&a, 1, 1);
    audit_open(&a);
    audit_feed(&a, &crawl, 0, SIZE_MAX);
    audit_settle(&a);
    CU_ASSERT(!has_alarm(&a));
    CU_ASSERT(report_of(&a).late_ms > 0);
    audit_done(&a);
    crawl_done(&crawl);
}

/* ---- the state */

/* Killed at any record, the run resumes from the last barrier, watches the same pages, and reports
 * nothing. */
TEST(a_killed_run_watches_on)
{
    struct crawl whole, crawl;
    struct audited a, killed;
    make(&whole, 1500);
    audit_init(&a, 0.3, 3);
    audit_open(&a);
    audit_feed(&a, &whole, 0, SIZE_MAX);
    audit_settle(&a);
    audit_init(&killed, 0.3, 3);
    size_t count = whole.count;
    for (size_t at = 0; at < count; at += 150) {
        make(&crawl, 1500);
        audit_open(&killed);
        audit_feed(&killed, &crawl, at, at + 150);
        audit_barrier(&killed);
        audit_feed(&killed, &crawl, at + 150, at + 200); /* lost by the kill */
        audit_close(&killed);
        sp_db_discard(killed.db);
        crawl_done(&crawl);
    }
    audit_open(&killed);
    audit_settle(&killed);
    struct sp_watching_report x = report_of(&a), y = report_of(&killed);
    CU_ASSERT(x.pages > 300);
    CU_ASSERT_EQUAL(x.pages, y.pages);
    CU_ASSERT_EQUAL(x.judged, y.judged);
    CU_ASSERT_EQUAL(y.missing + y.wrong, 0);
    audit_done(&a);
    audit_done(&killed);
    crawl_done(&whole);
}

TEST(what_was_found_stays_with_the_state)
{
    struct crawl crawl;
    struct audited a;
    struct sp_watching_report before, after;
    make(&crawl, 3000);
    audit_init(&a, 0.5, 1);
    a.run.options.wire = lose_matches;
    a.run.options.wire_arg = &a;
    audit_open(&a);
    audit_feed(&a, &crawl, 0, SIZE_MAX);
    audit_barrier(&a);
    before = report_of(&a);
    CU_ASSERT(before.missing == 1);
    struct sp_buf examples = {0};
    sp_buf_put_view(&examples, sp_buf_view(&before.examples));
    audit_close(&a);
    CU_ASSERT_EQUAL_FATAL(sp_watching_load(sp_db_store(a.db, SP_BUS_STORE_META), &after), SP_OK);
    CU_ASSERT_EQUAL(after.missing, before.missing);
    CU_ASSERT_EQUAL(after.pages, before.pages);
    CU_ASSERT(sp_view_eq(sp_buf_view(&after.examples), sp_buf_view(&examples)));
    sp_watching_report_done(&after);
    audit_open(&a);
    audit_settle(&a);
    CU_ASSERT_EQUAL(report_of(&a).missing, 1); /* not reported again */
    sp_buf_done(&examples);
    audit_done(&a);
    crawl_done(&crawl);
}
