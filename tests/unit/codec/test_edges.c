/* Pages, status events and group ids: the formats that other programs read and write. */
#include "harness.h"
#include "samples.h"

static const struct sp_wire_format registry = {SP_FRAMING_REGISTRY, 0x01020304};
static const struct sp_wire_format single = {SP_FRAMING_SINGLE_OBJECT, 0};

TEST(pages_encode_and_decode_unchanged)
{
    struct sp_buf out = {0};
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct sample s = {seed};
        struct sp_page_record page = sample_page(&s), back;
        const struct sp_wire_format *format = seed & 1 ? &registry : NULL;
        sp_buf_reset(&out);
        sp_page_encode(&page, format, &out);
        CU_ASSERT(sp_page_decode(sp_buf_view(&out), format, &back) == SP_OK);
        CU_ASSERT(sample_same_page(&page, &back));
    }
    sp_buf_done(&out);
}

/* Avro encodes int and long alike. */
TEST(http_status_fits_an_avro_int)
{
    static const int statuses[] = {INT32_MIN, -1, 0, 200, INT32_MAX};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        struct sp_buf out = {0};
        struct sp_page_record page = {.url = sp_view_str("https://a.example/"),
                                      .http_status = statuses[i]},
                              read = {.http_status = 7};
        sp_page_encode(&page, NULL, &out);
        CU_ASSERT_EQUAL(sp_page_decode(sp_buf_view(&out), NULL, &read), SP_OK);
        CU_ASSERT_EQUAL(read.http_status, statuses[i]);
        sp_buf_done(&out);
    }
}

TEST(status_events_encode_and_decode_unchanged)
{
    struct sp_buf out = {0}, text = {0};
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct sample s = {seed};
        struct sp_status_event event = sample_status(&s), back;
        const struct sp_wire_format *format = seed & 1 ? &registry : &single;
        sp_buf_reset(&out);
        sp_status_encode(&event, format, &out);
        CU_ASSERT(sp_status_decode(sp_buf_view(&out), format, &text, &back) == SP_OK);
        CU_ASSERT(sample_same_status(&event, &back));
    }
    sp_buf_done(&out);
    sp_buf_done(&text);
}

/* The event as an older version wrote it: without the newer fields at its end, under the older
 * fingerprint. */
static void put_old(struct sp_buf *old, const struct sp_buf *present, uint64_t fingerprint,
                    size_t bytes)
{
    enum { FRAME = 10 };
    sp_buf_reset(old);
    sp_buf_put_u8(old, 0xc3);
    sp_buf_put_u8(old, 1);
    sp_buf_put_u64(old, fingerprint);
    sp_buf_put(old, present->data + FRAME, present->len - FRAME - bytes);
}

TEST(events_without_the_container_field_are_read)
{
    const uint64_t no_container = UINT64_C(0xcdb166bafd669f8d); /* schemas/old */
    struct sp_status_event event = {.url = "http://a.example/",
                                    .status = SP_STATUS_LOSER,
                                    .winner_url = "http://b.example/",
                                    .rule = SP_RANK_SHORT,
                                    .group = {3, {0, 7}},
                                    .group_size = 2};
    struct sp_status_event back;
    struct sp_buf out = {0}, old = {0}, text = {0};
    sp_status_encode(&event, NULL, &out);
    put_old(&old, &out, no_container, 2);
    CU_ASSERT(sp_status_decode(sp_buf_view(&old), NULL, &text, &back) == SP_OK);
    CU_ASSERT_EQUAL(back.rule, SP_RANK_SHORT);
    CU_ASSERT_STRING_EQUAL(back.winner_url, event.winner_url);
    CU_ASSERT_PTR_NULL(back.contained_in);
    put_old(&old, &out, no_container, 1);
    CU_ASSERT(sp_status_decode(sp_buf_view(&old), NULL, &text, &back) == SP_MALFORMED);
    put_old(&old, &out, no_container, 3);
    CU_ASSERT(sp_status_decode(sp_buf_view(&old), NULL, &text, &back) == SP_TRUNCATED);
    sp_buf_reset(&out);
    sp_status_encode(&event, &registry, &out);
    out.len -= 2;
    CU_ASSERT(sp_status_decode(sp_buf_view(&out), &registry, &text, &back) == SP_OK);
    CU_ASSERT_EQUAL(back.rule, SP_RANK_SHORT);
    sp_buf_done(&out);
    sp_buf_done(&old);
    sp_buf_done(&text);
}

TEST(a_share_without_a_container_is_refused)
{
    struct sp_status_event event = {.url = "u", .status = SP_STATUS_UNIQUE, .group = {3, {0, 7}}};
    struct sp_status_event back;
    struct sp_buf out = {0}, text = {0};
    sp_status_encode(&event, NULL, &out);
    out.data[out.len - 1] = 2; /* the union branch of the share */
    for (int i = 0; i < 4; i++)
        sp_buf_put_u8(&out, 0);
    CU_ASSERT(sp_status_decode(sp_buf_view(&out), NULL, &text, &back) == SP_MALFORMED);
    sp_buf_done(&out);
    sp_buf_done(&text);
}

TEST(events_without_the_rule_field_are_read)
{
    struct sp_status_event event = {.url = "http://a.example/",
                                    .status = SP_STATUS_WINNER,
                                    .group = {3, {0, 7}},
                                    .group_size = 2,
                                    .epoch = 4};
    struct sp_status_event back;
    struct sp_buf out = {0}, old = {0}, text = {0};
    sp_status_encode(&event, NULL, &out);
    put_old(&old, &out, UINT64_C(0x052aeafb6e82c021), 3); /* schemas/old */
    CU_ASSERT(sp_status_decode(sp_buf_view(&old), NULL, &text, &back) == SP_OK);
    CU_ASSERT_STRING_EQUAL(back.url, event.url);
    CU_ASSERT_EQUAL(back.epoch, 4);
    CU_ASSERT_EQUAL(back.rule, SP_RANK_NONE);
    sp_buf_put_u8(&old, 0); /* current body, old fingerprint */
    CU_ASSERT(sp_status_decode(sp_buf_view(&old), NULL, &text, &back) == SP_MALFORMED);
    out.len--; /* old body, current fingerprint */
    CU_ASSERT(sp_status_decode(sp_buf_view(&out), NULL, &text, &back) == SP_TRUNCATED);
    sp_buf_reset(&out);
    sp_status_encode(&event, &registry, &out);
    out.len -= 3;
    CU_ASSERT(sp_status_decode(sp_buf_view(&out), &registry, &text, &back) == SP_OK);
    CU_ASSERT_EQUAL(back.group_size, 2);
    sp_buf_done(&out);
    sp_buf_done(&old);
    sp_buf_done(&text);
}

TEST(frames_are_as_documented)
{
    struct sample s = {1};
    struct sp_page_record page = sample_page(&s), back;
    struct sp_buf out = {0};
    sp_page_encode(&page, &registry, &out);
    CU_ASSERT(memcmp(out.data, "\0\1\2\3\4", 5) == 0);
    struct sp_wire_format other = {SP_FRAMING_REGISTRY, 5};
    CU_ASSERT(sp_page_decode(sp_buf_view(&out), &other, &back) == SP_UNKNOWN_SCHEMA);
    CU_ASSERT(sp_page_decode(sp_buf_view(&out), &single, &back) == SP_MALFORMED);
    sp_buf_reset(&out);
    sp_page_encode(&page, &single, &out);
    CU_ASSERT(memcmp(out.data, "\xc3\x01", 2) == 0);
    CU_ASSERT(sp_page_decode(sp_buf_view(&out), &registry, &back) == SP_MALFORMED);
    out.data[5] ^= 1;
    CU_ASSERT(sp_page_decode(sp_buf_view(&out), &single, &back) == SP_UNKNOWN_SCHEMA);
    sp_buf_done(&out);
}

TEST(the_framing_is_detected)
{
    struct sample s = {2};
    struct sp_page_record page = sample_page(&s), back;
    struct sp_buf out = {0};
    for (uint32_t id = 0; id < 3; id++) {
        struct sp_wire_format format = sp_wire_format_of_id(id ? UINT32_MAX - id : 0);
        sp_buf_reset(&out);
        sp_page_encode(&page, &format, &out);
        struct sp_wire_format seen = sp_wire_format_seen(sp_buf_view(&out));
        CU_ASSERT_EQUAL(seen.framing, id ? SP_FRAMING_REGISTRY : SP_FRAMING_SINGLE_OBJECT);
        CU_ASSERT_EQUAL(seen.schema_id, format.schema_id);
        CU_ASSERT(sp_page_decode(sp_buf_view(&out), &seen, &back) == SP_OK);
    }
    for (size_t len = 0; len < 5; len++)
        CU_ASSERT_EQUAL(sp_wire_format_seen(sp_view("\0\0\0\0", len)).framing,
                        SP_FRAMING_SINGLE_OBJECT);
    sp_buf_done(&out);
}

/* Other writers may use an empty text or a zero where samepage writes null. */
TEST(pages_of_other_writers_are_read)
{
    static const uint8_t body[] = {
        0,    0,   0,   0,   0,             /* schema id 0 */
        6,    'u', 'r', 'l', 2, 1,          /* url; fetch_time_ms -1 */
        0x90, 3,                            /* http_status 200 */
        2,    0,   2,   0,                  /* two empty texts */
        2,    0,   0,   0,   0, 0, 0, 0, 0, /* popularity 0 */
        2,    4,   'h', 'i',                /* content, as a string */
    };
    struct sp_wire_format format = {SP_FRAMING_REGISTRY, 0};
    struct sp_page_record page;
    CU_ASSERT_FATAL(sp_page_decode(sp_view(body, sizeof body), &format, &page) == SP_OK);
    CU_ASSERT(sp_view_eq(page.url, sp_view_str("url")));
    CU_ASSERT_EQUAL(page.fetch_time_ms, -1);
    CU_ASSERT_EQUAL(page.http_status, 200);
    CU_ASSERT_EQUAL(page.redirect_url.len, 0);
    CU_ASSERT_EQUAL(page.content_type.len, 0);
    CU_ASSERT(page.popularity == 0);
    CU_ASSERT(page.content_is_utf8 && sp_view_eq(page.content, sp_view_str("hi")));
}

TEST(pages_without_the_field_as_of_ms_are_read)
{
    enum { FRAME = 10 };
    struct sp_page_record page = {
        .url = sp_view_str("u"), .http_status = 304, .as_of_ms = 7, .content = sp_view_str("")};
    struct sp_page_record back;
    struct sp_buf out = {0}, old = {0};
    sp_page_encode(&page, NULL, &out);
    CU_ASSERT(sp_page_decode(sp_buf_view(&out), NULL, &back) == SP_OK);
    CU_ASSERT_EQUAL(back.as_of_ms, 7);
    page.as_of_ms = 0;
    sp_buf_reset(&out);
    sp_page_encode(&page, NULL, &out);
    sp_buf_put_u8(&old, 0xc3);
    sp_buf_put_u8(&old, 1);
    sp_buf_put_u64(&old, UINT64_C(0x00a830ce6fffec2b)); /* schemas/old */
    sp_buf_put(&old, out.data + FRAME, out.len - FRAME - 1);
    CU_ASSERT(sp_page_decode(sp_buf_view(&old), NULL, &back) == SP_OK);
    CU_ASSERT_EQUAL(back.http_status, 304);
    CU_ASSERT_EQUAL(back.as_of_ms, 0);
    out.len--;
    CU_ASSERT(sp_page_decode(sp_buf_view(&out), NULL, &back) == SP_TRUNCATED);
    sp_buf_done(&out);
    sp_buf_done(&old);
}

TEST(group_ids_print_and_parse_back)
{
    char text[SP_GROUP_ID_TEXT];
    struct sp_group_id back;
    sp_group_id_format((struct sp_group_id){0x1f, {1, 0xab}}, text);
    CU_ASSERT_STRING_EQUAL(text, "1f-000000000000000100000000000000ab");
    for (uint64_t seed = 0; seed < 1000; seed++) {
        struct sample s = {seed};
        struct sp_group_id id = sample_group_id(&s);
        sp_group_id_format(id, text);
        CU_ASSERT(sp_group_id_parse(sp_view_str(text), &back) == SP_OK);
        CU_ASSERT(sp_group_id_eq(id, back));
    }
    sp_group_id_format((struct sp_group_id){UINT64_MAX, {UINT64_MAX, UINT64_MAX}}, text);
    CU_ASSERT_EQUAL(strlen(text), SP_GROUP_ID_TEXT - 1);
}

TEST(other_texts_are_no_group_ids)
{
    static const char *const cases[] = {
        "",
        "-00000000000000000000000000000000",
        "1-0000000000000000000000000000000",
        "1-000000000000000000000000000000000",
        "01-00000000000000000000000000000000",
        "1_00000000000000000000000000000000",
        "A-00000000000000000000000000000000",
        "1-0000000000000000000000000000000G",
        "1-000000000000000000000000000000 0",
        "+1-00000000000000000000000000000000",
        "10000000000000000-00000000000000000000000000000000",
    };
    struct sp_group_id id;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CU_ASSERT(sp_group_id_parse(sp_view_str(cases[i]), &id) == SP_MALFORMED);
    CU_ASSERT(sp_group_id_parse(sp_view_str("0-00000000000000000000000000000000"), &id) == SP_OK);
}
