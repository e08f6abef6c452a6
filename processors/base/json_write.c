/* See json_write.h. RFC 8259. */
#include "base/json_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Bytes of the UTF-8 character at `at`, or 0 where there is none (RFC 3629 table). */
static size_t utf8_length(const uint8_t *at, size_t left)
{
    static const struct {
        uint8_t first_lo, first_hi, second_lo, second_hi, length;
    } forms[] = {
        {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    if (at[0] < 0x80)
        return 1;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        if (at[0] < forms[f].first_lo || at[0] > forms[f].first_hi)
            continue;
        size_t n = forms[f].length;
        if (n > left || at[1] < forms[f].second_lo || at[1] > forms[f].second_hi)
            return 0;
        for (size_t i = 2; i < n; i++)
            if ((at[i] & 0xc0) != 0x80)
                return 0;
        return n;
    }
    return 0;
}

bool sp_json_is_utf8(struct sp_view text)
{
    for (size_t i = 0, n; i < text.len; i += n) {
        n = utf8_length((const uint8_t *)text.data + i, text.len - i);
        if (n == 0)
            return false;
    }
    return true;
}

static void put_escaped(struct sp_buf *out, uint8_t c)
{
    static const char named[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *at = c ? strchr(named, c) : NULL;
    char text[8];
    int n = at ? snprintf(text, sizeof text, "\\%c", letters[at - named])
               : snprintf(text, sizeof text, "\\u%04x", c);
    sp_buf_put(out, text, (size_t)n);
}

void sp_json_put_string(struct sp_buf *out, struct sp_view text)
{
    const uint8_t *at = (const uint8_t *)text.data;
    size_t i = 0, plain = 0;
    sp_buf_put_u8(out, '"');
    while (i < text.len) {
        uint8_t c = at[i];
        if (c >= ' ' && c < 0x80 && c != '"' && c != '\\') {
            i++;
            continue;
        }
        size_t n = utf8_length(at + i, text.len - i);
        if (n > 1) {
            i += n;
            continue;
        }
        sp_buf_put(out, at + plain, i - plain);
        if (n == 1)
            put_escaped(out, c);
        else
            sp_buf_put_str(out, "\xef\xbf\xbd");
        plain = ++i;
    }
    if (text.len > plain)
        sp_buf_put(out, at + plain, text.len - plain);
    sp_buf_put_u8(out, '"');
}

void sp_json_put_text(struct sp_buf *out, const char *text)
{
    if (text)
        sp_json_put_string(out, sp_view_str(text));
    else
        sp_buf_put_str(out, "null");
}

void sp_json_put_double(struct sp_buf *out, double x)
{
    char text[40] = "null";
    if (isfinite(x))
        for (int digits = 1; digits <= 17; digits++) {
            snprintf(text, sizeof text, "%.*g", digits, x);
            if (strtod(text, NULL) == x)
                break;
        }
    sp_buf_put_str(out, text);
}

void sp_json_put_float(struct sp_buf *out, float x)
{
    char text[40] = "null";
    if (isfinite(x))
        for (int digits = 1; digits <= 9; digits++) {
            snprintf(text, sizeof text, "%.*g", digits, (double)x);
            if (strtof(text, NULL) == x)
                break;
        }
    sp_buf_put_str(out, text);
}

void sp_json_put_i64(struct sp_buf *out, int64_t x)
{
    char text[24];
    int n = snprintf(text, sizeof text, "%lld", (long long)x);
    sp_buf_put(out, text, (size_t)n);
}
