/* See json_write.h. RFC 8259. */
#include "base/json_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

bool sp_json_is_utf8(struct sp_view text)
{
    for (size_t i = 0, n; i < text.len; i += n) {
        n = sp_utf8_length(text.data + i, text.len - i);
        if (n == 0)
            return false;
    }
    return true;
}

static void put_escaped(struct sp_buf *out, uint8_t c)
{
    static const char named[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *at = c ? strchr(named, c) : NULL;
    char text[8] = {'\\', at ? letters[at - named] : 0};
    int n = at ? 2 : snprintf(text, sizeof text, "\\u%04x", c);
    sp_buf_put(out, text, (size_t)n);
}

#if defined(__SSE2__)

enum { PLAIN_BYTES = 16 };

/* Whether so many bytes need no escaping and are ASCII. As signed numbers, those of control
 * characters and those that are not ASCII are below that of a blank. */
static bool all_plain(const uint8_t *at)
{
    __m128i x = _mm_loadu_si128((const void *)at);
    __m128i below = _mm_cmplt_epi8(x, _mm_set1_epi8(' '));
    __m128i quote = _mm_cmpeq_epi8(x, _mm_set1_epi8('"'));
    __m128i backslash = _mm_cmpeq_epi8(x, _mm_set1_epi8('\\'));
    return _mm_movemask_epi8(_mm_or_si128(below, _mm_or_si128(quote, backslash))) == 0;
}

#else

enum { PLAIN_BYTES = 8 };

/* Whether so many bytes need no escaping and are ASCII. A zero byte is found by the borrow of a
 * subtraction, which only it and the bytes after it can cause (Mycroft). */
static bool all_plain(const uint8_t *at)
{
    const uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;
    uint64_t x;
    memcpy(&x, at, sizeof x);
    uint64_t quote = x ^ ones * '"', backslash = x ^ ones * '\\';
    uint64_t below = (x - ones * ' ') | (quote - ones) | (backslash - ones) | x;
    return (below & tops) == 0;
}

#endif

void sp_json_put_string(struct sp_buf *out, struct sp_view text)
{
    const uint8_t *at = (const uint8_t *)text.data;
    size_t i = 0, plain = 0;
    sp_buf_put_u8(out, '"');
    while (i < text.len) {
        if (text.len - i >= PLAIN_BYTES && all_plain(at + i)) {
            i += PLAIN_BYTES;
            continue;
        }
        uint8_t c = at[i];
        if (c >= ' ' && c < 0x80 && c != '"' && c != '\\') {
            i++;
            continue;
        }
        size_t n = sp_utf8_length(text.data + i, text.len - i);
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

static bool is_read_as_double(const char *text, double x)
{
    return strtod(text, NULL) == x;
}

static bool is_read_as_float(const char *text, double x)
{
    return strtof(text, NULL) == (float)x;
}

/* Writes x with the fewest digits that read back as x; `most` digits always suffice. One digit,
 * which is common, is tried first; then bisection finds the number of digits. */
static void put_shortest(struct sp_buf *out, double x, int most,
                         bool (*is_read_as)(const char *text, double x))
{
    char text[40] = "null";
    int low = 1, high = most, tried = 0;
    while (isfinite(x) && low < high) {
        int digits = tried ? (low + high) / 2 : low;
        snprintf(text, sizeof text, "%.*g", digits, x);
        tried = digits;
        if (is_read_as(text, x))
            high = digits;
        else
            low = digits + 1;
    }
    if (isfinite(x) && tried != low)
        snprintf(text, sizeof text, "%.*g", low, x);
    sp_buf_put_str(out, text);
}

void sp_json_put_double(struct sp_buf *out, double x)
{
    put_shortest(out, x, 17, is_read_as_double);
}

/* Whether x lies halfway between two floats, as doubles of the range of put_fraction do. */
static bool is_halfway(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (bits & 0x1fffffff) == 0x10000000;
}

/* Writes the same text as put_shortest, but faster, for floats from 0.001 to 1, which similarities
 * are. The quotient is the double nearest to the decimal number, and so on the same side of any
 * number that is halfway between two floats, unless it is such a number. So both are read as x.
 * Returns false if it cannot: then put_shortest must write it. */
static bool put_fraction(struct sp_buf *out, float x)
{
    enum { MOST = 11 };
    char text[] = "0.00000000000";
    double scale = 1, scaled = 0, quotient = 0;
    int digits = 0;
    if (!(x >= 0.001f && x < 1))
        return false;
    do {
        scale *= 10;
        scaled = rint((double)x * scale);
        quotient = scaled / scale;
    } while ((float)quotient != x && ++digits < MOST);
    if (digits++ == MOST || is_halfway(quotient))
        return false;
    uint64_t rest = (uint64_t)scaled;
    text[2 + digits] = 0;
    for (int i = digits; i > 0; i--, rest /= 10)
        text[1 + i] = (char)('0' + rest % 10);
    if (rest)
        return false;
    sp_buf_put_str(out, text);
    return true;
}

void sp_json_put_float(struct sp_buf *out, float x)
{
    if (x == 1) /* the similarity of equal pages */
        sp_buf_put_u8(out, '1');
    else if (!put_fraction(out, x))
        put_shortest(out, (double)x, 9, is_read_as_float);
}

void sp_json_put_i64(struct sp_buf *out, int64_t x)
{
    char text[24];
    size_t at = sizeof text;
    uint64_t rest = x < 0 ? -(uint64_t)x : (uint64_t)x;
    do {
        text[--at] = (char)('0' + rest % 10);
    } while (rest /= 10);
    if (x < 0)
        text[--at] = '-';
    sp_buf_put(out, text + at, sizeof text - at);
}
