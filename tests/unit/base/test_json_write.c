/* Writing JSON. */
#include "base/json_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "harness.h"

TEST(json_is_valid_whatever_the_bytes)
{
    struct sp_buf out = {0};
    sp_json_put_string(&out, sp_view("a\"\\\n\x01\xc3\xa9\xff\xed\xa0\x80z\0", 13));
    CU_ASSERT(
        sp_view_eq(sp_buf_view(&out),
                   sp_view_str("\"a\\\"\\\\\\n\\u0001\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
                               "\xef\xbf\xbdz\\u0000\"")));
    sp_buf_reset(&out);
    sp_json_put_double(&out, 0.1);
    sp_buf_put_u8(&out, ' ');
    sp_json_put_float(&out, 0.8F);
    sp_buf_put_u8(&out, ' ');
    sp_json_put_double(&out, 1);
    sp_buf_put_u8(&out, ' ');
    sp_json_put_i64(&out, -5);
    CU_ASSERT(sp_view_eq(sp_buf_view(&out), sp_view_str("0.1 0.8 1 -5")));
    sp_buf_done(&out);
}

TEST(integers_are_written_to_their_limits)
{
    static const int64_t numbers[] = {0, 9, 10, -10, INT64_MAX, INT64_MIN, -1, 1234567890123};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sp_buf out = {0};
        char text[24];
        snprintf(text, sizeof text, "%lld", (long long)numbers[i]);
        sp_json_put_i64(&out, numbers[i]);
        CU_ASSERT(sp_view_eq(sp_buf_view(&out), sp_view_str(text)));
        sp_buf_done(&out);
    }
}

/* The shortest number that reads back as x, found by trying one digit after another. */
static bool is_shortest(double x, bool is_float)
{
    struct sp_buf out = {0};
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (is_float ? strtof(text, NULL) == (float)x : strtod(text, NULL) == x)
            break;
    }
    if (is_float)
        sp_json_put_float(&out, (float)x);
    else
        sp_json_put_double(&out, x);
    bool same = sp_view_eq(sp_buf_view(&out), sp_view_str(text));
    sp_buf_done(&out);
    return same;
}

static double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

TEST(a_number_has_as_few_digits_as_give_it_back)
{
    size_t wrong = 0;
    for (uint64_t i = 1; i <= 20000; i++) {
        double any = double_of(sp_mix64(i)), ratio = (double)(i % 97) / (double)(i % 89 + 1);
        float any_float = float_of((uint32_t)sp_mix64(i));
        wrong += isfinite(any) && !is_shortest(any, false);
        wrong += isfinite(any_float) && !is_shortest((double)any_float, true);
        wrong += !is_shortest(ratio, false) + !is_shortest((double)(float)ratio, true);
    }
    for (int e = -1074; e < 1024; e++)
        wrong += !is_shortest(ldexp(1, e), false);
    for (int e = -149; e < 128; e++)
        wrong += !is_shortest(ldexp(1, e), true);
    CU_ASSERT_EQUAL(wrong, 0);
    struct sp_buf out = {0};
    sp_json_put_double(&out, INFINITY);
    sp_json_put_float(&out, NAN);
    CU_ASSERT(sp_view_eq(sp_buf_view(&out), sp_view_str("nullnull")));
    sp_buf_done(&out);
}
