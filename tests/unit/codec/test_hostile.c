/* Untrusted bytes: truncated, flipped, random. Decoders refuse them or decode them completely:
 * accepted bytes encode to themselves. Under the address sanitizer these tests also find reads out
 * of bounds. */
#include "base/mem.h"
#include "harness.h"
#include "samples.h"

static const struct sp_wire_format registry = {SP_FRAMING_REGISTRY, 9};

/* Copies to an allocation of the exact size, so that the sanitizer sees a read past the end. */
static bool message_holds(const char *data, size_t len)
{
    char *copy = sp_memdup(data, len);
    struct sp_message *m = NULL;
    struct sp_buf again = {0};
    bool ok = true;
    if (sp_message_decode(sp_view(copy, len), &m) == SP_OK) {
        sp_message_encode(m, &again);
        ok = again.len == len && memcmp(again.data, copy, len) == 0;
    } else {
        ok = m == NULL;
    }
    sp_message_free(m);
    sp_buf_done(&again);
    sp_free(copy);
    return ok;
}

static bool status_holds(const char *data, size_t len)
{
    char *copy = sp_memdup(data, len);
    struct sp_status_event event;
    struct sp_buf again = {0}, text = {0};
    bool ok = true;
    if (sp_status_decode(sp_view(copy, len), &registry, &text, &event) == SP_OK) {
        sp_status_encode(&event, &registry, &again);
        ok = again.len == len && memcmp(again.data, copy, len) == 0;
    }
    sp_buf_done(&again);
    sp_buf_done(&text);
    sp_free(copy);
    return ok;
}

/* A page has more than one encoding, so the decoded values are compared instead of bytes. */
static bool page_holds(const char *data, size_t len)
{
    char *copy = sp_memdup(data, len);
    struct sp_page_record page, back;
    struct sp_buf again = {0};
    bool ok = true;
    if (sp_page_decode(sp_view(copy, len), &registry, &page) == SP_OK) {
        sp_page_encode(&page, &registry, &again);
        ok = sp_page_decode(sp_buf_view(&again), &registry, &back) == SP_OK &&
             sample_same_page(&page, &back);
    }
    sp_buf_done(&again);
    sp_free(copy);
    return ok;
}

/* Feeds the bytes to all three decoders. */
static void hold(const char *data, size_t len)
{
    CU_ASSERT(message_holds(data, len));
    CU_ASSERT(status_holds(data, len));
    CU_ASSERT(page_holds(data, len));
}

static void write_sample(struct sample *s, unsigned which, struct sp_buf *out)
{
    sp_buf_reset(out);
    if (which == 0) {
        struct sp_page_record page = sample_page(s);
        sp_page_encode(&page, &registry, out);
    } else if (which == SP_MSG_KINDS) {
        struct sp_status_event event = sample_status(s);
        sp_status_encode(&event, &registry, out);
    } else {
        struct sp_message *m = sample_message(s, (enum sp_message_kind)which);
        sp_message_encode(m, out);
        sp_message_free(m);
    }
}

TEST(nothing_cut_short_is_accepted)
{
    struct sp_buf out = {0};
    for (unsigned which = 0; which <= SP_MSG_KINDS; which++)
        for (uint64_t seed = 0; seed < 6; seed++) {
            struct sample s = {seed << 8 | which};
            write_sample(&s, which, &out);
            for (size_t len = 0; len < out.len; len++) {
                char *copy = sp_memdup(out.data, len);
                struct sp_message *m = NULL;
                struct sp_page_record page;
                struct sp_status_event event;
                struct sp_buf text = {0};
                struct sp_view cut = sp_view(copy, len);
                CU_ASSERT(sp_message_decode(cut, &m) != SP_OK);
                CU_ASSERT(sp_page_decode(cut, NULL, &page) != SP_OK);
                /* Older forms end before as_of_ms. */
                CU_ASSERT(sp_page_decode(cut, &registry, &page) != SP_OK || page.as_of_ms == 0);
                /* Older forms end before the rule or before the container. */
                CU_ASSERT(sp_status_decode(cut, &registry, &text, &event) != SP_OK ||
                          !event.contained_in);
                CU_ASSERT(sp_status_decode(cut, NULL, &text, &event) != SP_OK);
                sp_buf_done(&text);
                sp_free(copy);
            }
        }
    sp_buf_done(&out);
}

TEST(flipped_bytes_are_refused_or_understood)
{
    struct sp_buf out = {0};
    for (unsigned which = 0; which <= SP_MSG_KINDS; which++)
        for (uint64_t seed = 0; seed < 2000; seed++) {
            struct sample s = {seed << 8 | which};
            write_sample(&s, which, &out);
            /* half of the flips hit the first 48 bytes, which hold the structure */
            size_t span = sample_below(&s, 2) && out.len > 48 ? 48 : out.len;
            for (uint64_t flips = 1 + sample_below(&s, 3); flips > 0; flips--) {
                size_t at = sample_below(&s, 16) ? 5 + sample_below(&s, span - 5)
                                                 : sample_below(&s, out.len);
                out.data[at] ^= (char)(1u << sample_below(&s, 8));
            }
            hold(out.data, out.len);
        }
    sp_buf_done(&out);
}

TEST(spliced_bytes_are_refused_or_understood)
{
    struct sp_buf a = {0}, b = {0};
    for (uint64_t seed = 0; seed < 10000; seed++) {
        struct sample s = {seed};
        write_sample(&s, (unsigned)sample_below(&s, SP_MSG_KINDS + 1), &a);
        write_sample(&s, (unsigned)sample_below(&s, SP_MSG_KINDS + 1), &b);
        a.len = 11 + sample_below(&s, a.len - 11);
        size_t from = sample_below(&s, b.len);
        sp_buf_put(&a, b.data + from, b.len - from);
        hold(a.data, a.len);
    }
    sp_buf_done(&a);
    sp_buf_done(&b);
}

/* Claims four billion edges in a message of thirty bytes. */
TEST(counts_are_bounded_by_the_bytes_there_are)
{
    struct sample s = {1};
    struct sp_message *m = sample_message(&s, SP_MSG_MATCH), *back = NULL;
    struct sp_buf out = {0};
    m->link.edge_count = 1;
    m->link.content_version = 0;
    m->clock = 0;
    sp_message_encode(m, &out);
    size_t count_at = 10 + 1 + 1 + 16 + 1;
    CU_ASSERT_EQUAL(out.data[count_at], 2);
    out.len = count_at;
    sp_buf_put_zigzag(&out, UINT32_MAX);
    sp_buf_put(&out, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
    CU_ASSERT(sp_message_decode(sp_buf_view(&out), &back) == SP_TRUNCATED);
    out.len = count_at;
    sp_buf_put_zigzag(&out, -1);
    CU_ASSERT(sp_message_decode(sp_buf_view(&out), &back) == SP_MALFORMED);
    sp_message_free(m);
    sp_buf_done(&out);
}

/* The stages go on from the highest clock that they have seen. */
TEST(a_clock_that_no_crawl_reaches_is_refused)
{
    struct sample s = {1};
    struct sp_message *m = sample_message(&s, SP_MSG_APPLIED), *back = NULL;
    struct sp_buf out = {0};
    static const uint64_t clocks[] = {(1ull << 60) + 1, INT64_MAX, UINT64_MAX};
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        m->clock = clocks[i];
        sp_buf_reset(&out);
        sp_message_encode(m, &out);
        CU_ASSERT(sp_message_decode(sp_buf_view(&out), &back) == SP_MALFORMED);
    }
    sp_message_free(m);
    sp_buf_done(&out);
}

TEST(urls_are_bounded_and_have_no_nul)
{
    struct sp_message *m = sp_message_new(SP_MSG_CRAWLED), *back = NULL;
    struct sp_buf out = {0};
    m->crawled.page_kind = SP_PAGE_DEAD;
    m->crawled.url = sp_calloc(1, 8194);
    memset(m->crawled.url, 'u', 8192);
    sp_message_encode(m, &out);
    CU_ASSERT(sp_message_decode(sp_buf_view(&out), &back) == SP_OK);
    sp_message_free(back);
    back = NULL;
    out.data[out.len - 5] = 0;
    CU_ASSERT(sp_message_decode(sp_buf_view(&out), &back) == SP_MALFORMED);
    m->crawled.url[8192] = 'u';
    sp_buf_reset(&out);
    sp_message_encode(m, &out);
    CU_ASSERT(sp_message_decode(sp_buf_view(&out), &back) == SP_MALFORMED);
    CU_ASSERT_PTR_NULL(back);
    sp_message_free(m);
    sp_buf_done(&out);
}

TEST(other_schemas_are_unknown)
{
    struct sample s = {5};
    struct sp_message *m = sample_message(&s, SP_MSG_PROBE), *back = NULL;
    struct sp_buf out = {0};
    sp_message_encode(m, &out);
    out.data[2] ^= 1;
    CU_ASSERT(sp_message_decode(sp_buf_view(&out), &back) == SP_UNKNOWN_SCHEMA);
    out.data[0] ^= 1;
    CU_ASSERT(sp_message_decode(sp_buf_view(&out), &back) == SP_MALFORMED);
    CU_ASSERT(sp_message_decode(sp_view(NULL, 0), &back) == SP_TRUNCATED);
    sp_message_free(m);
    sp_buf_done(&out);
}
