/* The parser of flat lines makes of a line what simdjson makes of it, or leaves it to simdjson. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "harness.h"
#include "input/flat.h"
#include "input_helper.h"

enum { LINES = 60000, LINES_IN_SPITE = 20000 };

struct parsers {
    struct sp_input_fields fields;
    const struct sp_json_ops *json;
    void *reader;
    struct sp_flat *flat;
    struct sp_buf line;
};

/* Returns false if the processor lacks these vector instructions. */
static bool parsers_init(struct parsers *p, const char *vectors)
{
    *p = (struct parsers){.json = &sp_json_ops_portable};
    sp_input_fields_default(&p->fields);
    p->flat = sp_flat_new(&p->fields, p->json, vectors);
    if (!p->flat)
        return false;
    p->reader = p->json->make(&p->fields);
    return true;
}

static void parsers_done(struct parsers *p)
{
    sp_buf_done(&p->line);
    sp_flat_free(p->flat);
    p->json->free(p->reader);
}

static bool same(struct sp_view a, struct sp_view b)
{
    return sp_view_eq(a, b) && !a.data == !b.data;
}

/* Whether p->line is accepted as a flat one; checks that simdjson reads the same then. */
static bool check(struct parsers *p)
{
    struct sp_page_record flat, page;
    const char *why;
    memset(sp_buf_reserve(&p->line, SP_JSON_PADDING), '"', SP_JSON_PADDING); /* not to be read */
    struct sp_view line = sp_buf_view(&p->line);
    if (!sp_flat_parse(p->flat, line, &flat))
        return false;
    CU_ASSERT_EQUAL_FATAL(p->json->parse(p->reader, line, &page, &why), SP_OK);
    CU_ASSERT_FATAL(same(flat.url, page.url) && same(flat.redirect_url, page.redirect_url));
    CU_ASSERT_FATAL(same(flat.content_type, page.content_type));
    CU_ASSERT_FATAL(same(flat.content, page.content));
    CU_ASSERT_FATAL(flat.content.data || flat.content_like == page.content_like);
    CU_ASSERT_EQUAL_FATAL(flat.fetch_time_ms, page.fetch_time_ms);
    CU_ASSERT_EQUAL_FATAL(flat.http_status, page.http_status);
    CU_ASSERT_EQUAL_FATAL(flat.popularity, page.popularity);
    CU_ASSERT_EQUAL_FATAL(flat.content_is_utf8, page.content_is_utf8);
    return true;
}

static uint32_t below(uint64_t *state, uint32_t end)
{
    *state += 0x9e3779b97f4a7c15ull;
    return (uint32_t)((sp_mix64(*state) >> 32) * end >> 32);
}

/* Appends a string of pieces. With `bad`, some are not JSON, or not UTF-8. */
static void put_string(struct sp_buf *out, uint64_t *state, bool bad)
{
    static const char *const pieces[] = {
        "\\n", "\\\"", "\\\\", "\\/", "\\t", "\\b", "\\f", "\\r", "a", "<p>", "text of words",
        "\xc3\xa9", "\\u00e9", "\\u4E2d", "\\u0041", "\\uD83d\\uDE00", "\xe4\xb8\xad",
        "\xf0\x9f\x98\x80",
        /* from here on they are bad */
        "\\ud83d", "\\ude00", "\\u12", "\\u12x4", "\\x", "\\", "\x01", "\n", "\xff", "\xc3",
        "\xed\xa0\x80", "\"", "\\ud83d\\u0041"};
    enum { PIECES = sizeof pieces / sizeof *pieces, GOOD = 18 };
    sp_buf_put_u8(out, '"');
    for (uint32_t n = below(state, 4) ? below(state, 8) : below(state, 80); n > 0; n--) {
        uint32_t piece = below(state, bad ? PIECES : GOOD);
        for (uint32_t times = below(state, 6) ? 1 : below(state, 140); times > 0; times--)
            sp_buf_put_str(out, pieces[piece]);
    }
    sp_buf_put_u8(out, '"');
}

static void put_value(struct sp_buf *out, uint64_t *state, bool bad)
{
    static const char *const values[] = {
        "null", "0", "7", "200", "999", "1700000000123", "0.25", "3.5", "123456789.123456", "1000",
        /* from here on they are rare or bad */
        "-1", "01", "1e3", "1.", ".5", "1.5e-7", "nul", "true", "12345678901234567890",
        "0.1234567890123456789", "1 2", "[]", "{\"a\":[1]}", "nullx", "\"2024-05-01\"", ""};
    enum { VALUES = sizeof values / sizeof *values, GOOD = 10 };
    if (below(state, 3))
        put_string(out, state, bad);
    else
        sp_buf_put_str(out, values[below(state, bad ? VALUES : GOOD)]);
}

static void put_space(struct sp_buf *out, uint64_t *state)
{
    static const char *const spaces[] = {"", "", "", " ", "\t", " \r", "  "};
    sp_buf_put_str(out, spaces[below(state, sizeof spaces / sizeof *spaces)]);
}

/* A line whose fields fit their names, or, with `bad`, need not. */
static void make_line(struct sp_buf *out, uint64_t *state, bool bad)
{
    static const char *const names[] = {"url",          "content",    "fetch_time_ms",
                                        "http_status",  "popularity", "redirect_url",
                                        "content_type", "other",      "text"};
    static const char *const good[] = {NULL, NULL, "1700000000123", "200", "0.25", NULL, NULL,
                                       NULL, NULL};
    enum { NAMES = sizeof names / sizeof *names };
    sp_buf_reset(out);
    put_space(out, state);
    sp_buf_put_str(out, "{");
    uint32_t fields = 1 + below(state, NAMES);
    for (uint32_t i = 0; i < fields; i++) {
        uint32_t name = i == 0 ? 0 : bad ? below(state, NAMES) : 1 + below(state, NAMES - 1);
        sp_buf_put_str(out, i ? "," : "");
        put_space(out, state);
        sp_buf_put_u8(out, '"');
        sp_buf_put_str(out, names[name]);
        sp_buf_put_u8(out, '"');
        put_space(out, state);
        sp_buf_put_u8(out, ':');
        put_space(out, state);
        if (i == 0)
            sp_buf_put_str(out, "\"http://a.example/\\u00e9\"");
        else if (bad)
            put_value(out, state, true);
        else if (good[name])
            sp_buf_put_str(out, below(state, 4) ? good[name] : "null");
        else
            put_string(out, state, false);
        put_space(out, state);
    }
    sp_buf_put_str(out, "}");
    put_space(out, state);
    if (bad && below(state, 4) == 0)
        out->data[below(state, (uint32_t)out->len)] = (char)below(state, 256);
    if (bad && below(state, 4) == 0)
        out->len = below(state, (uint32_t)out->len + 1);
}

/* Runs a test with each kind of vectors that the processor has. */
static void with_all_vectors(void (*test)(struct parsers *))
{
    static const char *const vectors[] = {"avx2", "avx512vbmi2"};
    struct parsers p;
    int kinds = 0;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        if (!parsers_init(&p, vectors[i]))
            continue;
        test(&p);
        parsers_done(&p);
        kinds++;
    }
    if (kinds == 0)
        SKIP("the processor has neither AVX2 nor AVX-512 VBMI2");
}

static void read_odd_lines(struct parsers *p)
{
    uint64_t state = 1, accepted = 0;
    for (int i = 0; i < LINES; i++) {
        make_line(&p->line, &state, true);
        accepted += check(p);
    }
    CU_ASSERT(accepted > LINES / 100);
}

TEST(a_flat_line_is_read_as_simdjson_reads_it)
{
    with_all_vectors(read_odd_lines);
}

/* Lines without content are left to simdjson if another field may be meant for it. */
static void read_good_lines(struct parsers *p)
{
    uint64_t state = 2;
    for (int i = 0; i < LINES_IN_SPITE; i++) {
        make_line(&p->line, &state, false);
        struct sp_page_record page;
        const char *why;
        bool flat = check(p);
        CU_ASSERT_EQUAL_FATAL(p->json->parse(p->reader, sp_buf_view(&p->line), &page, &why), SP_OK);
        CU_ASSERT_FATAL(flat || !page.content.data);
    }
}

TEST(a_good_flat_line_needs_no_simdjson)
{
    with_all_vectors(read_good_lines);
}

/* An escape, a quote and the end of the line at every place of a vector. */
static void read_escapes_everywhere(struct parsers *p)
{
    static const char *const escapes[] = {"\\n", "\\\\", "\\\\\\\"", "\\u00e9", "\\uD83D\\uDE00"};
    for (size_t e = 0; e < sizeof escapes / sizeof *escapes; e++) {
        for (int before = 0; before < 200; before++) {
            for (int behind = 0; behind < 70; behind++) {
                sp_buf_reset(&p->line);
                sp_buf_put_str(&p->line, "{\"url\":\"u\",\"content\":\"");
                for (int i = 0; i < before; i++)
                    sp_buf_put_u8(&p->line, 'x');
                sp_buf_put_str(&p->line, escapes[e]);
                for (int i = 0; i < behind; i++)
                    sp_buf_put_u8(&p->line, '\'');
                sp_buf_put_str(&p->line, "\"}");
                CU_ASSERT_FATAL(check(p));
                p->line.len -= 2; /* the string has no end, although a quote lies behind the line */
                CU_ASSERT_FALSE_FATAL(check(p));
            }
        }
    }
}

TEST(the_place_of_an_escape_does_not_matter)
{
    with_all_vectors(read_escapes_everywhere);
}
