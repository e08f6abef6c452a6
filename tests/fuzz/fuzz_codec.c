/* links: sp_codec */
/* Any bytes as a message, a page and a status event: no crash, and accepted bytes encode to
 * themselves (for a page, which others write, to the same page). */
#include "base/assert.h"
#include "codec/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct sp_wire_format registry = {SP_FRAMING_REGISTRY, 1};

enum { HEAD = 10 }; /* the header of Avro's single-object encoding */

static void try_message(struct sp_view in)
{
    struct sp_message *m = NULL;
    struct sp_buf again = {0};
    if (sp_message_decode(in, &m) == SP_OK) {
        if (sp_message_tier(m) == SP_TIER_1)
            (void)sp_message_home(m); /* asserts on an invalid message */
        else
            (void)sp_message_cell(m);
        sp_message_encode(m, &again);
        /* one byte more for a message from before there was a rule, which is written as none */
        SP_ASSERT(again.len == in.len || (m->kind == SP_MSG_STATUS && again.len == in.len + 1));
        SP_ASSERT(memcmp(again.data + HEAD, in.data + HEAD, in.len - HEAD) == 0);
        sp_message_free(m);
    }
    sp_buf_done(&again);
}

/* An event without the container field encodes to two bytes more, one without the rule as well to
 * three: none. */
static bool is_written_again(struct sp_view again, struct sp_view in,
                             const struct sp_status_event *event)
{
    if (again.len == in.len)
        return sp_view_eq(again, in);
    return !event->contained_in &&
           (again.len == in.len + 2 || (event->rule == SP_RANK_NONE && again.len == in.len + 3)) &&
           memcmp(again.data + HEAD, in.data + HEAD, in.len - HEAD) == 0;
}

static void try_status(struct sp_view in, const struct sp_wire_format *format)
{
    struct sp_status_event event;
    struct sp_buf again = {0}, text = {0};
    if (sp_status_decode(in, format, &text, &event) == SP_OK) {
        sp_status_encode(&event, format, &again);
        SP_ASSERT(is_written_again(sp_buf_view(&again), in, &event));
    }
    sp_buf_done(&again);
    sp_buf_done(&text);
}

static void try_page(struct sp_view in, const struct sp_wire_format *format)
{
    struct sp_page_record a, b;
    struct sp_buf again = {0};
    if (sp_page_decode(in, format, &a) == SP_OK) {
        sp_page_encode(&a, format, &again);
        SP_ASSERT(sp_page_decode(sp_buf_view(&again), format, &b) == SP_OK);
        SP_ASSERT(sp_view_eq(a.url, b.url) && sp_view_eq(a.redirect_url, b.redirect_url));
        SP_ASSERT(sp_view_eq(a.content_type, b.content_type) && sp_view_eq(a.content, b.content));
        SP_ASSERT(a.fetch_time_ms == b.fetch_time_ms && a.http_status == b.http_status);
        SP_ASSERT(a.as_of_ms == b.as_of_ms);
        SP_ASSERT(a.popularity == b.popularity && a.content_is_utf8 == b.content_is_utf8);
    }
    sp_buf_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sp_view in = sp_view(data, size);
    struct sp_group_id id;
    char text[SP_GROUP_ID_TEXT];
    try_message(in);
    for (int i = 0; i < 2; i++) {
        const struct sp_wire_format *format = i ? &registry : NULL;
        try_status(in, format);
        try_page(in, format);
    }
    if (sp_group_id_parse(in, &id) == SP_OK) {
        sp_group_id_format(id, text);
        SP_ASSERT(sp_view_eq(sp_view_str(text), in));
    }
    return 0;
}
