/* Buffers and readers: what is written is read back, and reads past the end fail. */
#include <time.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "harness.h"

TEST(numbers_round_trip)
{
    const uint64_t samples[] = {0, 1, 127, 128, 300, 1ull << 32, UINT64_MAX};
    struct sp_buf b = {0};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        sp_buf_put_varint(&b, samples[i]);
        sp_buf_put_zigzag(&b, -(int64_t)samples[i]);
    }
    struct sp_reader r = sp_reader(sp_buf_view(&b));
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        CU_ASSERT_EQUAL(sp_read_varint(&r), samples[i]);
        CU_ASSERT_EQUAL(sp_read_zigzag(&r), -(int64_t)samples[i]);
    }
    CU_ASSERT_FALSE(r.failed);
    CU_ASSERT_EQUAL(sp_reader_left(&r), 0);
    sp_buf_done(&b);
}

TEST(big_endian_numbers_round_trip_and_sort_by_their_bytes)
{
    static const uint64_t numbers[] = {0, 1, 255, 256, 65535, 65536, 0x01020304, UINT32_MAX};
    struct sp_buf b = {0};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (size_t bytes = 4; bytes <= 8; bytes += 4) {
            sp_buf_reset(&b);
            sp_buf_put_big_endian(&b, numbers[i], bytes);
            struct sp_reader r = sp_reader(sp_buf_view(&b));
            CU_ASSERT_EQUAL(sp_read_big_endian(&r, bytes), numbers[i]);
            CU_ASSERT(!r.failed && sp_reader_left(&r) == 0);
            CU_ASSERT_EQUAL(sp_read_big_endian(&r, bytes), 0);
            CU_ASSERT(r.failed);
        }
    char low[4], high[4];
    for (size_t i = 1; i < sizeof numbers / sizeof *numbers; i++) {
        sp_put_big_endian(low, numbers[i - 1], 4);
        sp_put_big_endian(high, numbers[i], 4);
        CU_ASSERT(memcmp(low, high, 4) < 0);
    }
    sp_buf_done(&b);
}

TEST(ids_round_trip_and_a_short_one_is_zero)
{
    const struct sp_id id = {0x0102030405060708, 0x1112131415161718};
    struct sp_buf b = {0};
    sp_buf_put_id(&b, id);
    CU_ASSERT_EQUAL(b.len, 16);
    struct sp_reader r = sp_reader(sp_buf_view(&b));
    CU_ASSERT_EQUAL(sp_read_u64(&r), id.hi);
    CU_ASSERT_EQUAL(sp_read_u64(&r), id.lo);
    r = sp_reader(sp_buf_view(&b));
    CU_ASSERT_TRUE(sp_id_eq(sp_read_id(&r), id));
    CU_ASSERT(!r.failed && sp_reader_left(&r) == 0);
    r = sp_reader(sp_view(b.data, 15));
    CU_ASSERT_TRUE(sp_id_is_zero(sp_read_id(&r)));
    CU_ASSERT_TRUE(r.failed);
    sp_buf_done(&b);
}

static bool cut_is(struct sp_view text, const char *at_any_of, const char *head, size_t rest)
{
    struct sp_view cut = sp_view_cut(&text, at_any_of);
    return sp_view_eq(cut, sp_view_str(head)) && text.len == rest &&
           text.data == cut.data + cut.len;
}

TEST(a_view_is_cut_at_the_first_of_some_characters)
{
    CU_ASSERT_TRUE(cut_is(sp_view_str("host/path?query"), "?/", "host", 11));
    CU_ASSERT_TRUE(cut_is(sp_view_str("?query"), "?/", "", 6));
    CU_ASSERT_TRUE(cut_is(sp_view_str("host"), "?/", "host", 0));
    CU_ASSERT_TRUE(cut_is(sp_view("ho\0st/", 6), "/", "ho", 4));
    CU_ASSERT_TRUE(cut_is(sp_view_str(""), "/", "", 0));
}

TEST(a_word_is_recognised_in_letters_of_any_case)
{
    CU_ASSERT_TRUE(sp_view_is_word(sp_view_str("Response"), "response"));
    CU_ASSERT_TRUE(sp_view_is_word(sp_view("responses", 8), "response"));
    CU_ASSERT_FALSE(sp_view_is_word(sp_view_str("responses"), "response"));
    CU_ASSERT_FALSE(sp_view_is_word(sp_view_str("respons"), "response"));
    CU_ASSERT_FALSE(sp_view_is_word(sp_view_str("resource"), "response"));
}

TEST(a_short_read_fails_and_stays_failed)
{
    struct sp_reader r = sp_reader(sp_view("\x01\x02", 2));
    CU_ASSERT_EQUAL(sp_read_u32(&r), 0);
    CU_ASSERT_TRUE(r.failed);
    CU_ASSERT_EQUAL(sp_read_u8(&r), 0);
    struct sp_reader overlong =
        sp_reader(sp_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11));
    sp_read_varint(&overlong);
    CU_ASSERT_TRUE(overlong.failed);
}

TEST(every_error_has_a_name_and_a_text)
{
    for (int e = 0; e < SP_ERR_COUNT; e++) {
        CU_ASSERT_TRUE(strlen(sp_err_name((enum sp_err)e)) > 1);
        CU_ASSERT_TRUE(strlen(sp_err_text((enum sp_err)e)) > 5);
    }
    CU_ASSERT_STRING_EQUAL(sp_err_name(SP_TOO_LARGE), "too_large");
    CU_ASSERT_EQUAL(sp_err_class(SP_TOO_LARGE), SP_CLASS_BAD_RECORD);
}

static bool goes_on_for(void *arg)
{
    int *left = arg;
    return --*left > 0;
}

TEST(a_pause_ends_when_it_is_told_to)
{
    int left = 3;
    CU_ASSERT_FALSE(sp_clock_pause(UINT32_MAX, goes_on_for, &left));
    CU_ASSERT_EQUAL(left, 0);
    left = 1;
    CU_ASSERT_FALSE(sp_clock_pause(UINT32_MAX, goes_on_for, &left));
    left = 1000;
    int64_t start_us = sp_clock_us();
    CU_ASSERT_TRUE(sp_clock_pause(0, goes_on_for, &left));
    CU_ASSERT_EQUAL(left, 999);
    CU_ASSERT_TRUE(sp_clock_pause(120, goes_on_for, &left));
    CU_ASSERT(sp_clock_us() - start_us >= 120000);
    CU_ASSERT(1000 - left >= 3);
}

TEST(the_wall_clock_counts_from_1970)
{
    int64_t before = (int64_t)time(NULL), now_ms = sp_clock_wall_ms();
    CU_ASSERT(now_ms >= before * 1000);
    CU_ASSERT(now_ms < (before + 60) * 1000);
}
