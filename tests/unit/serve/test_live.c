/* The latest events, as they are sent to subscribers. */
#include <stdio.h>

#include "harness.h"
#include "serve/live.h"

static void say(struct sp_live *l, const char *text)
{
    sp_live_put(l, sp_view_str(text));
}

static void check_read(struct sp_live *l, uint64_t from, size_t bytes, const char *wanted,
                       uint64_t wanted_next)
{
    struct sp_buf out = {0};
    uint64_t at = from;
    sp_live_read(l, &at, bytes, &out);
    sp_buf_put_u8(&out, 0);
    CU_ASSERT_STRING_EQUAL(out.data, wanted);
    CU_ASSERT_EQUAL(at, wanted_next);
    sp_buf_done(&out);
}

TEST(a_reader_gets_each_event_once_from_its_position)
{
    struct sp_live *l = sp_live_new();
    check_read(l, 0, 1000, "", 1);
    check_read(l, 7, 1000, "", 1); /* a number of the future: reading starts with the next event */
    say(l, "{\"a\":1}");
    say(l, "{\"a\":2}");
    CU_ASSERT_EQUAL(sp_live_next(l), 3);
    check_read(l, 1, 1000,
               "id: 1\nevent: status\ndata: {\"a\":1}\n\nid: 2\nevent: status\ndata: {\"a\":2}\n\n",
               3);
    check_read(l, 1, 1, "id: 1\nevent: status\ndata: {\"a\":1}\n\n", 2);
    check_read(l, 2, 1, "id: 2\nevent: status\ndata: {\"a\":2}\n\n", 3);
    check_read(l, 3, 1000, "", 3);
    sp_live_free(l);
    sp_live_free(NULL);
}

TEST(a_slow_reader_is_told_how_many_events_it_missed)
{
    struct sp_live *l = sp_live_new();
    char text[32];
    for (int i = 1; i <= SP_LIVE_EVENTS + 10; i++) {
        snprintf(text, sizeof text, "%d", i);
        say(l, text);
    }
    check_read(l, 3, 1, "event: skipped\ndata: {\"skipped\":8}\n\n", 11);
    check_read(l, 11, 1, "id: 11\nevent: status\ndata: 11\n\n", 12);
    sp_live_free(l);
}

TEST(large_events_are_kept_up_to_a_number_of_bytes)
{
    struct sp_live *l = sp_live_new();
    struct sp_buf large = {0};
    memset(sp_buf_reserve(&large, SP_LIVE_BYTES / 4), 'x', SP_LIVE_BYTES / 4);
    large.len = SP_LIVE_BYTES / 4;
    for (int i = 0; i < 10; i++)
        sp_live_put(l, sp_buf_view(&large));
    check_read(l, 1, 1, "event: skipped\ndata: {\"skipped\":6}\n\n", 7);
    sp_buf_done(&large);
    sp_live_free(l);
}
