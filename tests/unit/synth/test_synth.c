/* The synthetic crawl: reproducible by seed, valid JSON, and the requested shares. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "harness.h"
#include "synth/synth.h"

static struct sp_synth_options options(uint64_t pages)
{
    struct sp_synth_options o;
    sp_synth_options_default(&o);
    o.pages = pages;
    o.words = 40;
    return o;
}

/* All lines of the crawl; `truth` may be NULL. */
static uint64_t make(const struct sp_synth_options *o, struct sp_buf *lines, struct sp_buf *truth)
{
    struct sp_synth *s = sp_synth_new(o);
    uint64_t count = 0;
    while (sp_synth_next(s, lines, truth))
        count++;
    size_t len = lines->len;
    CU_ASSERT(!sp_synth_next(s, lines, truth)); /* the end */
    CU_ASSERT_EQUAL(lines->len, len);
    CU_ASSERT_EQUAL(count, sp_synth_fetches(s));
    sp_synth_free(s);
    return count;
}

TEST(the_same_options_make_the_same_crawl_and_another_seed_another)
{
    struct sp_synth_options o = options(400);
    struct sp_buf a[2] = {{0}}, b[2] = {{0}}, alone = {0}, other = {0};
    uint64_t count = make(&o, &a[0], &a[1]);
    CU_ASSERT_EQUAL(make(&o, &b[0], &b[1]), count);
    CU_ASSERT(sp_view_eq(sp_buf_view(&a[0]), sp_buf_view(&b[0])));
    CU_ASSERT(sp_view_eq(sp_buf_view(&a[1]), sp_buf_view(&b[1])));
    make(&o, &alone, NULL);
    CU_ASSERT(sp_view_eq(sp_buf_view(&a[0]), sp_buf_view(&alone)));
    o.seed = 2;
    make(&o, &other, NULL);
    CU_ASSERT(!sp_view_eq(sp_buf_view(&a[0]), sp_buf_view(&other)));
    for (int i = 0; i < 2; i++) {
        sp_buf_done(&a[i]);
        sp_buf_done(&b[i]);
    }
    sp_buf_done(&alone);
    sp_buf_done(&other);
}

/* Reports identify a crawl by its seed, on every machine and in every version. */
TEST(the_bytes_of_a_crawl_without_skew_are_those_that_they_always_were)
{
    struct sp_synth_options o, late = options(900);
    struct sp_buf lines = {0}, truth = {0}, late_lines = {0};
    sp_synth_options_default(&o);
    make(&o, &lines, &truth);
    CU_ASSERT_EQUAL(sp_hash64(lines.data, lines.len), UINT64_C(16014465994928851262));
    CU_ASSERT_EQUAL(sp_hash64(truth.data, truth.len), UINT64_C(6501895146353402902));
    late.from = 500;
    late.seed = 7;
    late.recrawl_permille = 1240;
    late.near_permille = 300;
    late.redirect_permille = 100;
    make(&late, &late_lines, NULL);
    CU_ASSERT_EQUAL(sp_hash64(late_lines.data, late_lines.len), UINT64_C(7306645770131874298));
    sp_buf_done(&lines);
    sp_buf_done(&truth);
    sp_buf_done(&late_lines);
}

/* Splits a line at its time: the part before and the part after. */
static void cut_time(struct sp_view line, struct sp_view *ret_before, struct sp_view *ret_behind)
{
    const char *time = memmem(line.data, line.len, ",\"fetch_time_ms\"", 16);
    const char *behind = memmem(line.data, line.len, ",\"http_status\"", 14);
    CU_ASSERT_FATAL(time && behind && time < behind);
    *ret_before = sp_view(line.data, (size_t)(time - line.data));
    *ret_behind = sp_view(behind, (size_t)(line.data + line.len - behind));
}

TEST(the_later_part_of_a_crawl_is_that_of_the_whole)
{
    struct sp_synth_options whole = options(300), late = whole, nothing = whole;
    struct sp_buf a = {0}, b = {0};
    late.from = 200;
    nothing.from = nothing.pages;
    CU_ASSERT_EQUAL(make(&nothing, &a, NULL), 0);
    struct sp_synth *s = sp_synth_new(&whole), *t = sp_synth_new(&late);
    struct sp_view before[2], behind[2];
    bool reached = false;
    uint64_t same = 0;
    CU_ASSERT_FATAL(sp_synth_next(t, &b, NULL));
    while (sp_synth_next(s, &a, NULL)) {
        cut_time(sp_buf_view(&a), &before[0], &behind[0]);
        cut_time(sp_buf_view(&b), &before[1], &behind[1]);
        bool equal = sp_view_eq(before[0], before[1]) && sp_view_eq(behind[0], behind[1]);
        CU_ASSERT(equal || !reached);
        reached |= equal;
        same += equal;
        sp_buf_reset(&a);
        if (!equal)
            continue;
        sp_buf_reset(&b);
        if (!sp_synth_next(t, &b, NULL))
            break;
    }
    CU_ASSERT(same >= 100);
    CU_ASSERT(!sp_synth_next(s, &a, NULL)); /* both have ended */
    sp_synth_free(s);
    sp_synth_free(t);
    sp_buf_done(&a);
    sp_buf_done(&b);
}

/* Counts over the lines and the truth. */
struct counts {
    uint64_t lines;
    uint64_t original, near, exact, redirect, gone, again;
    uint64_t plain;
    uint64_t with_text;
};

static const char *text_of(const json_t *object, const char *field)
{
    const char *text = json_string_value(json_object_get(object, field));
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    return text;
}

static void check_pair(json_t *line, json_t *truth, uint64_t pages, struct counts *c)
{
    const char *kind = text_of(truth, "kind");
    json_int_t status = json_integer_value(json_object_get(line, "http_status"));
    CU_ASSERT_STRING_EQUAL(text_of(line, "url"), text_of(truth, "url"));
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(line, "fetch_time_ms")),
                    json_integer_value(json_object_get(truth, "version_ms")));
    CU_ASSERT_EQUAL(strncmp(text_of(line, "url"), "https://", 8), 0);
    size_t content = strlen(text_of(line, "content"));
    CU_ASSERT_EQUAL(content > 0, status == 200);
    c->with_text += status == 200;
    c->plain += strcmp(text_of(line, "content_type"), "text/plain") == 0;
    c->original += strcmp(kind, "original") == 0;
    c->near += strcmp(kind, "near") == 0;
    c->exact += strcmp(kind, "exact") == 0;
    c->redirect += strcmp(kind, "redirect") == 0;
    c->gone += strcmp(kind, "gone") == 0;
    c->again += strcmp(kind, "again") == 0;
    if (status == 200) {
        CU_ASSERT(json_integer_value(json_object_get(truth, "document")) < (json_int_t)(2 * pages));
        CU_ASSERT_PTR_NULL(json_object_get(line, "redirect_url"));
        json_int_t edits = json_integer_value(json_object_get(truth, "edit_permille"));
        CU_ASSERT(edits >= 0 && edits <= 100);
        if (strcmp(kind, "original") == 0 || strcmp(kind, "exact") == 0)
            CU_ASSERT_EQUAL(edits, 0);
        if (strcmp(kind, "near") == 0)
            CU_ASSERT(edits > 0);
    } else if (status == 301 || status == 302) {
        CU_ASSERT_STRING_EQUAL(text_of(line, "redirect_url"), text_of(truth, "target"));
    } else {
        CU_ASSERT(status == 404 || status == 410);
        CU_ASSERT_STRING_EQUAL(kind, "gone");
    }
}

static json_t *next_object(const char **at)
{
    const char *end = strchr(*at, '\n');
    CU_ASSERT_PTR_NOT_NULL_FATAL(end);
    json_error_t error;
    json_t *object = json_loadb(*at, (size_t)(end - *at), JSON_REJECT_DUPLICATES, &error);
    if (!object)
        printf("%s: %.200s\n", error.text, *at);
    CU_ASSERT_FATAL(json_is_object(object));
    *at = end + 1;
    return object;
}

static struct counts count(const struct sp_synth_options *o)
{
    struct counts c = {0};
    struct sp_buf lines = {0}, truths = {0};
    c.lines = make(o, &lines, &truths);
    sp_buf_put_u8(&lines, 0);
    sp_buf_put_u8(&truths, 0);
    const char *line = lines.data, *truth = truths.data;
    json_int_t last = 0;
    for (uint64_t i = 0; i < c.lines; i++) {
        json_t *a = next_object(&line), *b = next_object(&truth);
        json_int_t time = json_integer_value(json_object_get(a, "fetch_time_ms"));
        CU_ASSERT(time > last);
        last = time;
        check_pair(a, b, o->pages, &c);
        json_decref(a);
        json_decref(b);
    }
    CU_ASSERT(*line == 0 && *truth == 0);
    sp_buf_done(&lines);
    sp_buf_done(&truths);
    return c;
}

static bool about(uint64_t count, double expected)
{
    bool fits = (double)count > expected * 0.85 - 1 && (double)count < expected * 1.15 + 1;
    if (!fits)
        printf("%g expected, %g there\n", expected, (double)count);
    return fits;
}

TEST(every_line_is_valid_json_and_the_shares_are_those_asked_for)
{
    enum { PAGES = 8000 };
    struct sp_synth_options o = options(PAGES);
    struct counts c = count(&o);
    CU_ASSERT(about(c.near, PAGES * 0.2));
    CU_ASSERT(about(c.exact, PAGES * 0.1));
    CU_ASSERT(about(c.original, PAGES * 0.67));
    CU_ASSERT(about(c.lines - PAGES, PAGES * 0.15));
    CU_ASSERT(about(c.redirect + 0, PAGES * (0.03 + 0.15 * 0.03)));
    CU_ASSERT(about(c.plain, (double)c.lines * 0.1));
    CU_ASSERT(c.gone > 0 && c.again > c.gone);
    CU_ASSERT_EQUAL(c.original + c.near + c.exact + c.redirect + c.gone + c.again, c.lines);
}

TEST(shares_of_nothing_and_of_all_are_exact)
{
    struct sp_synth_options o = options(500);
    o.near_permille = o.exact_permille = o.redirect_permille = o.recrawl_permille = 0;
    o.plain_permille = 1000;
    struct counts c = count(&o);
    CU_ASSERT_EQUAL(c.lines, 500);
    CU_ASSERT_EQUAL(c.original, 500);
    CU_ASSERT_EQUAL(c.plain, 500);
    o.exact_permille = 1000;
    o.recrawl_permille = 1000;
    o.plain_permille = 0;
    c = count(&o);
    CU_ASSERT_EQUAL(c.lines, 1000);
    CU_ASSERT_EQUAL(c.original, 1); /* the first page has no original to copy */
    CU_ASSERT_EQUAL(c.exact, 499);
    CU_ASSERT_EQUAL(c.plain, 0);
    o = options(300);
    o.redirect_permille = 1000;
    o.recrawl_permille = 0;
    c = count(&o);
    CU_ASSERT_EQUAL(c.redirect, 299);
}

TEST(crawls_of_no_page_and_of_one)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct sp_synth_options o = options(0);
        o.seed = seed;
        CU_ASSERT_EQUAL(count(&o).lines, 0);
        o.pages = 1;
        struct counts c = count(&o);
        CU_ASSERT(c.lines == 1 || c.lines == 2);
        CU_ASSERT_EQUAL(c.original, 1);
        o.recrawl_permille = 1000;
        o.words = 0; /* treated as 1 */
        CU_ASSERT_EQUAL(count(&o).lines, 2);
        o.pages = 2;
        o.redirect_permille = 1000;
        CU_ASSERT_EQUAL(count(&o).lines, 4);
    }
}

TEST(plain_pages_have_about_the_words_asked_for)
{
    struct sp_synth_options o = options(600);
    o.near_permille = o.exact_permille = o.redirect_permille = o.recrawl_permille = 0;
    o.plain_permille = 1000;
    o.words = 200;
    struct sp_buf lines = {0};
    uint64_t n = make(&o, &lines, NULL);
    sp_buf_put_u8(&lines, 0);
    const char *at = lines.data;
    double words = 0;
    for (uint64_t i = 0; i < n; i++) {
        json_t *line = next_object(&at);
        bool in_word = false;
        for (const char *c = text_of(line, "content"); *c; c++) {
            bool space = *c == ' ' || *c == '\n';
            words += !space && !in_word;
            in_word = !space;
        }
        json_decref(line);
    }
    /* Han is written without spaces. */
    CU_ASSERT(words / (double)n > 200 * 0.7);
    CU_ASSERT(words / (double)n < 200 * 1.3);
    sp_buf_done(&lines);
}

/* Pages of one document have equal text without edits, and different text with edits. */
TEST(exact_copies_have_the_text_of_their_document)
{
    struct sp_synth_options o = options(3000);
    o.plain_permille = 1000;
    o.recrawl_permille = 0;
    struct sp_buf lines = {0}, truths = {0};
    uint64_t n = make(&o, &lines, &truths);
    sp_buf_put_u8(&lines, 0);
    sp_buf_put_u8(&truths, 0);
    const char *line = lines.data, *truth = truths.data;
    char **texts = sp_calloc(o.pages, sizeof *texts);
    size_t equal = 0, edited = 0;
    for (uint64_t i = 0; i < n; i++) {
        json_t *a = next_object(&line), *b = next_object(&truth);
        const char *content = text_of(a, "content"), *kind = text_of(b, "kind");
        size_t document = (size_t)json_integer_value(json_object_get(b, "document"));
        if (strcmp(kind, "original") == 0) {
            CU_ASSERT_EQUAL(document, i);
            texts[i] = sp_memdup(content, strlen(content) + 1);
        } else if (strcmp(kind, "exact") == 0) {
            CU_ASSERT_FATAL(document < i && texts[document]);
            CU_ASSERT_STRING_EQUAL(content, texts[document]);
            equal++;
        } else if (strcmp(kind, "near") == 0) {
            CU_ASSERT_FATAL(document < i && texts[document]);
            edited += strcmp(content, texts[document]) != 0;
        }
        json_decref(a);
        json_decref(b);
    }
    CU_ASSERT(equal > 200);
    CU_ASSERT(edited > 200);
    for (uint64_t i = 0; i < o.pages; i++)
        sp_free(texts[i]);
    sp_free(texts);
    sp_buf_done(&lines);
    sp_buf_done(&truths);
}
