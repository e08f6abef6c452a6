/* The relation language: what it accepts, what it refuses and at which position, and how it
 * evaluates. */
#include <stdio.h>

#include "harness.h"
#include "relation/relation.h"

static bool parses(const char *source, enum sp_relation_kind kind, char *ret_printed, size_t room)
{
    struct sp_relation *r = NULL;
    struct sp_fault fault = {""};
    enum sp_err err = sp_relation_parse(source, kind, &r, &fault);
    if (err != SP_OK) {
        snprintf(ret_printed, room, "%s", fault.text);
        return false;
    }
    struct sp_buf out = {0};
    sp_relation_put(r->root, kind, &out);
    snprintf(ret_printed, room, "%.*s", (int)out.len, out.data);
    sp_buf_done(&out);
    sp_relation_free(r);
    return true;
}

static void check_printed(const char *source, const char *expected)
{
    char printed[1500], again[1500];
    CU_ASSERT_FATAL(parses(source, SP_RELATION, printed, sizeof printed));
    CU_ASSERT_STRING_EQUAL(printed, expected);
    CU_ASSERT(parses(printed, SP_RELATION, again, sizeof again));
    CU_ASSERT_STRING_EQUAL(again, expected);
}

static void check_refused(enum sp_relation_kind kind, const char *source, const char *column,
                          const char *word)
{
    char message[1500];
    CU_ASSERT_FATAL(!parses(source, kind, message, sizeof message));
    CU_ASSERT(strncmp(message, column, strlen(column)) == 0);
    CU_ASSERT(strstr(message, word) != NULL);
    if (strncmp(message, column, strlen(column)) != 0 || !strstr(message, word))
        fprintf(stderr, "%s\n", message);
}

TEST(a_relation_is_printed_as_it_was_understood)
{
    check_printed("containment(a,b)>=0.7 and a.timestamp<=b.timestamp && a.host==b.host",
                  "containment(a, b) >= 0.7 && a.timestamp <= b.timestamp && a.host = b.host");
    check_printed("a.host = b.host || a.mime = b.mime && jaccard(b, a) > .5",
                  "a.host = b.host || a.mime = b.mime && jaccard(b, a) > 0.5");
    check_printed("(a.host = b.host or a.mime = b.mime) and not dice(a,b) < 1",
                  "(a.host = b.host || a.mime = b.mime) && !dice(a, b) < 1");
    check_printed("a.timestamp - b.timestamp < 168h", "a.timestamp - b.timestamp < 7d");
    check_printed("a.timestamp - (b.timestamp - 90m) < 0s",
                  "a.timestamp - (b.timestamp - 90m) < 0ms");
    check_printed("((a.length)) / 2 / b.length * 3 - -1 != (1 + 2) * 3",
                  "a.length / 2 / b.length * 3 - -1 != (1 + 2) * 3");
    check_printed("a.timestamp >= 2024-02-29 && b.timestamp < 2024-05-01T12:30:59Z",
                  "a.timestamp >= 2024-02-29 && b.timestamp < 2024-05-01T12:30:59Z");
    check_printed("a.title = 'say \"hi\" \\\\ o' && a.url != \"it's\"",
                  "a.title = \"say \\\"hi\\\" \\\\ o\" && a.url != \"it's\"");
    check_printed("!(a.host = b.host && a.url = b.url)", "!(a.host = b.host && a.url = b.url)");
    check_printed("abs(a.popularity - b.popularity) <= 0.000001",
                  "abs(a.popularity - b.popularity) <= 0.000001");
}

static void check_symmetry(const char *source, bool expected)
{
    struct sp_relation *r = NULL;
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL_FATAL(sp_relation_parse(source, SP_RELATION, &r, &fault), SP_OK);
    CU_ASSERT_EQUAL(r->symmetric, expected);
    if (r->symmetric != expected)
        fprintf(stderr, "%s\n", source);
    sp_relation_free(r);
}

TEST(a_relation_is_symmetric_if_a_and_b_can_change_places)
{
    static const char *const symmetric[] = {
        "a.host = b.host",
        "b.host = a.host",
        "!(a.host = b.host)",
        "a.url != b.url",
        "jaccard(a, b) > 0.9",
        "dice(b, a) > 0.9 && a.mime = b.mime",
        "a.host = b.host || b.title = a.title && 3 > 2",
        "a.length + b.length < 7",
        "abs(a.length * b.length) < 7",
        "a.mime = 'x' && b.mime = 'x'",
        "containment(a, b) > 0.9 && containment(b, a) > 0.9",
        "a.host ends_with '.uk' and b.host ends_with '.uk' or a.host = b.host",
        "!(a.host = 'x' or a.host = 'y' or b.host = 'x' or b.host = 'y')",
        "a.host in ('x', 'y') or (b.host = 'y' or b.host = 'x')",
        "a.length = 1 and (b.length = 2 and b.length = 1) and a.length = 2"};
    static const char *const others[] = {
        "a.timestamp <= b.timestamp",
        "containment(a, b) > 0.9",
        "a.host = 'x'",
        "a.host = b.title",
        "a.length - b.length < 7",
        "a.mime = 'x' && b.mime = 'y'",
        "a.mime = 'x' && b.mime = 'xy'",
        "a.length = 1 && b.length = 2",
        "b.host ends_with '.uk' or !(a.host ends_with '.uk')",
        "contains(a.title, b.title)",
        "abs(a.length) < b.length",
        "-a.length = b.length",
        "a.host = 'x' or a.host = 'y' or b.host = 'x' or b.host = 'z'",
        "a.host = 'x' or b.host = 'x' or b.host = 'x'",
        "a.host = 'x' or b.host = 'x' and 1 = 1"};
    for (size_t i = 0; i < sizeof symmetric / sizeof *symmetric; i++)
        check_symmetry(symmetric[i], true);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        check_symmetry(others[i], false);
}

TEST(tests_of_texts_are_printed_as_they_were_understood)
{
    check_printed("b.host ends_with \".uk\" and not a.url starts_with 'http:'",
                  "b.host ends_with \".uk\" && !a.url starts_with \"http:\"");
    check_printed("a.url matches \"*/news/?.html\" || contains( a.text,'expense')",
                  "a.url matches \"*/news/?.html\" || contains(a.text, \"expense\")");
    check_printed("a.host in (\"x\", 'y') && a.versions in (2)",
                  "(a.host = \"x\" || a.host = \"y\") && a.versions = 2");
    check_printed("!(a.length in (1, 2 + 1))", "!(a.length = 1 || a.length = 2 + 1)");
}

TEST(mistakes_are_shown_where_they_are)
{
    check_refused(SP_RELATION, "containment(a, b) >= 0.7 && a.hots = b.host", "column 31:",
                  "\n  containment(a, b) >= 0.7 && a.hots = b.host\n"
                  "                                ^~~~");
    check_refused(SP_RELATION, "", "column 1:", "missing");
    check_refused(SP_RELATION, "a.host = b.host &&", "column 19:", "missing");
    check_refused(SP_RELATION, "a.host = 3", "column 1:", "a text on its left and a number");
    check_refused(SP_RELATION, "a.host", "column 1:", "a condition is needed");
    check_refused(SP_RELATION, "a.length < b.length < 3", "column 21:", "chained");
    check_refused(SP_RELATION, "(a.host = b.host", "column 1:", "never closed");
    check_refused(SP_RELATION, "a.host = b.host)", "column 16:", "operator");
    check_refused(SP_RELATION, "a.host = \"x", "column 10:", "no closing");
    check_refused(SP_RELATION, "a.timestamp > 2023-02-29", "column 15:", "not a date");
    check_refused(SP_RELATION, "a.timestamp - b.timestamp < 7", "column 1:", "7d");
    check_refused(SP_RELATION, "a.timestamp > \"2023-02-28\"", "column 1:", "without quotes");
    check_refused(SP_RELATION, "a.timestamp - b.timestamp < 7x", "column 29:", "duration");
    check_refused(SP_RELATION, "jaccard(a, a) > 1", "column 12:", "(a, b) or (b, a)");
    check_refused(SP_RELATION, "c.host = b.host", "column 1:", "a.FIELD");
    check_refused(SP_RELATION, "\xc3\xa4 = 1 # ", "column 1:", "no meaning");
    check_refused(SP_RELATION, "a.host = \"\xc3\xa4\xc3\xb6\" && ?", "column 18:", "no meaning");
    check_refused(SP_RELATION, "a.host && b.host", "column 1:", "conditions");
    check_refused(SP_RELATION, "1.2.3 = 1", "column 1:", "not a number");
    check_refused(SP_FILTER, "a.host = \"x\"", "column 1:", "no such field");
    check_refused(SP_FILTER, "jaccard(a, b) > 1", "column 1:", "one document");
    check_refused(SP_FILTER, "length ends_with \"3\"", "column 1:", "compares texts");
    check_refused(SP_FILTER, "contains(text)", "column 14:", "comma");
    check_refused(SP_FILTER, "contains text", "column 10:", "should be the (");
    check_refused(SP_FILTER, "contains(text, 3)", "column 1:", "compares texts");
    check_refused(SP_FILTER, "host in \"x\"", "column 9:", "needs a list");
    check_refused(SP_FILTER, "host in (\"x\", 3)", "column 1:", "a text on its left and a number");
    check_refused(SP_FILTER, "host in (\"x\"", "column 13:", "comma or the )");
    check_refused(SP_FILTER, "host in ()", "column 10:", "a value");
    check_refused(SP_FILTER, "host = url matches \"x\"", "column 12:", "chained");
}

TEST(deep_and_long_input_is_refused_not_fatal)
{
    static char deep[20001], message[1500];
    memset(deep, '(', 20000);
    CU_ASSERT(!parses(deep, SP_RELATION, message, sizeof message));
    CU_ASSERT(strstr(message, "too deep") != NULL);
    memset(deep, '-', 20000);
    CU_ASSERT(!parses(deep, SP_RELATION, message, sizeof message));
    memset(deep, '!', 20000);
    CU_ASSERT(!parses(deep, SP_RELATION, message, sizeof message));
    for (size_t i = 0; i + 3 < 20000; i += 4)
        memcpy(deep + i, "1 + ", 4);
    CU_ASSERT(!parses(deep, SP_RELATION, message, sizeof message));
    CU_ASSERT(strstr(message, "too long") != NULL);
}

/* ---- evaluation ---- */

struct example {
    union sp_cell cells[2][SP_FIELD_COUNT];
    struct sp_view texts[2][SP_FIELD_COUNT];
    struct sp_relation_pair pair;
};

static void make_example(struct example *e)
{
    static const char *const hosts[] = {"one.example", "two.example"};
    memset(e, 0, sizeof *e);
    for (size_t d = 0; d < 2; d++) {
        for (size_t f = 0; f < SP_FIELD_COUNT; f++)
            e->texts[d][f] = sp_view_str("same");
        e->texts[d][SP_FIELD_host] = sp_view_str(hosts[d]);
        for (size_t f = 0; f < SP_FIELD_COUNT; f++)
            e->cells[d][f].text = &e->texts[d][f];
        e->cells[d][SP_FIELD_timestamp].number = 1714521600000.0 + (double)d * 86400e3;
        e->cells[d][SP_FIELD_popularity].number = 3 + (double)d;
        e->cells[d][SP_FIELD_length].number = d ? 0 : 500;
        e->cells[d][SP_FIELD_shingles].number = d ? 80 : 40;
        e->cells[d][SP_FIELD_bytes].number = 9;
        e->pair.document[d] = e->cells[d];
    }
    e->pair.size[0] = 40;
    e->pair.size[1] = 80;
    e->pair.overlap = 30;
}

static bool holds(const char *source, const struct sp_relation_pair *pair)
{
    struct sp_relation *r = NULL;
    struct sp_fault fault = {""};
    CU_ASSERT_FATAL(sp_relation_parse(source, SP_RELATION, &r, &fault) == SP_OK);
    bool result = sp_relation_holds(r->root, pair);
    sp_relation_free(r);
    return result;
}

static bool says(const char *text, const char *test, const char *what)
{
    char source[400];
    struct example e;
    make_example(&e);
    e.texts[0][SP_FIELD_title] = sp_view_str(text);
    snprintf(source, sizeof source,
             strcmp(test, "contains") == 0 ? "contains(a.title, \"%s\")" : "a.title %s \"%s\"",
             strcmp(test, "contains") == 0 ? what : test, what);
    return holds(source, &e.pair);
}

TEST(texts_are_tested)
{
    CU_ASSERT(says("www.parliament.uk", "ends_with", ".uk"));
    CU_ASSERT(!says("www.uk.example", "ends_with", ".uk"));
    CU_ASSERT(!says("uk", "ends_with", ".uk"));
    CU_ASSERT(says("any", "ends_with", ""));
    CU_ASSERT(says("https://a", "starts_with", "https:"));
    CU_ASSERT(!says("http://a", "starts_with", "https:"));
    CU_ASSERT(says("http://a/news/1.html", "matches", "*/news/?.html"));
    CU_ASSERT(!says("http://a/news/12.html", "matches", "*/news/?.html"));
    CU_ASSERT(says("\xc3\xa4x", "matches", "?x"));
    CU_ASSERT(says("abcabd", "matches", "*abd"));
    CU_ASSERT(says("abcabd", "matches", "a*b*d*"));
    CU_ASSERT(!says("abcabd", "matches", "a*c"));
    CU_ASSERT(says("", "matches", "**"));
    CU_ASSERT(!says("", "matches", "?"));
}

TEST(whole_words_are_contained_in_either_case)
{
    CU_ASSERT(says("Claims: Expense, and more", "contains", "expense"));
    CU_ASSERT(!says("expenses", "contains", "expense"));
    CU_ASSERT(!says("an_expensive day", "contains", "expense"));
    CU_ASSERT(says("the International  Monetary-Fund", "contains", "international monetary fund"));
    CU_ASSERT(!says("international fund monetary", "contains", "international monetary fund"));
    CU_ASSERT(says("a a a b", "contains", "a a b"));
    CU_ASSERT(!says("a a a", "contains", "a a b"));
    CU_ASSERT(says("caf\xc3\xa9", "contains", "CAF\xc3\xa9"));
    CU_ASSERT(!says("caf\xc3\xa9", "contains", "caf"));
    CU_ASSERT(!says("", "contains", "x"));
    CU_ASSERT(says("", "contains", "- !"));
}

TEST(measures_and_fields_have_their_values)
{
    static const char *const true_ones[] = {
        "containment(a, b) = 0.75 && containment(b, a) = 0.375",
        "jaccard(a, b) = 30 / 90 && jaccard(b, a) = jaccard(a, b)",
        "dice(a, b) = 0.5",
        "b.timestamp - a.timestamp = 1d && a.timestamp = 2024-05-01",
        "a.timestamp + 24h = b.timestamp && a.timestamp < 2024-05-01T00:00:01",
        "a.host < b.host && a.host != b.host && a.title = b.title && a.url <= \"samf\"",
        "!(a.host = b.host) && (1 = 2 || a.popularity = 3)",
        "2 + 3 * 4 = 14 && (2 + 3) * 4 = 20 && 7 - 2 - 1 = 4 && 12 / 2 / 3 = 2",
        "abs(a.popularity - b.popularity) = 1 && -abs(a.popularity) = -3",
        "(b.timestamp - a.timestamp) / 12h = 2 && 2 * 12h = 1d",
        "1 = 1 || 1 = 2 && 1 = 3",
        "not 1 = 2 and not not 1 = 1",
        "a.length / b.length > 1000000 && 0 / b.length != 0 && !(0 / b.length <= 0)",
    };
    struct example e;
    make_example(&e);
    for (size_t i = 0; i < sizeof true_ones / sizeof *true_ones; i++) {
        char denied[300];
        CU_ASSERT(holds(true_ones[i], &e.pair));
        if (!holds(true_ones[i], &e.pair))
            fprintf(stderr, "does not hold: %s\n", true_ones[i]);
        snprintf(denied, sizeof denied, "!(%s)", true_ones[i]);
        CU_ASSERT(!holds(denied, &e.pair));
    }
}

TEST(pages_without_words_resemble_nothing)
{
    struct example e;
    make_example(&e);
    e.pair.size[0] = e.pair.size[1] = e.pair.overlap = 0;
    CU_ASSERT(holds("containment(a, b) = 0 && jaccard(a, b) = 0 && dice(a, b) = 0", &e.pair));
}
