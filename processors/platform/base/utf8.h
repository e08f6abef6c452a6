/* UTF-8 (RFC 3629), one code point at a time. */
#ifndef SP_BASE_UTF8_H
#define SP_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SP_REPLACEMENT = 0xFFFD };

/* The bytes of the byte order mark at the start of a text: 3, or 0 if it has none. */
static inline size_t sp_utf8_mark_bytes(const char *text, size_t len)
{
    return len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* Writes a code point to `out`, which has room for 4 bytes, and returns how many it took. */
static inline size_t sp_utf8_put(char *out, uint32_t x)
{
    if (x < 0x80) {
        out[0] = (char)x;
        return 1;
    }
    if (x < 0x800) {
        out[0] = (char)(0xC0 | x >> 6);
        out[1] = (char)(0x80 | (x & 0x3F));
        return 2;
    }
    if (x < 0x10000) {
        out[0] = (char)(0xE0 | x >> 12);
        out[1] = (char)(0x80 | (x >> 6 & 0x3F));
        out[2] = (char)(0x80 | (x & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | x >> 18);
    out[1] = (char)(0x80 | (x >> 12 & 0x3F));
    out[2] = (char)(0x80 | (x >> 6 & 0x3F));
    out[3] = (char)(0x80 | (x & 0x3F));
    return 4;
}

static inline bool sp_utf8_continues(char c)
{
    return ((uint8_t)c & 0xC0) == 0x80;
}

/* Returns the code point at the start of `text` (len >= 1) and sets *ret_size to the bytes it
 * takes. If no valid sequence starts there, returns SP_REPLACEMENT, and *ret_size is the number of
 * bytes that one U+FFFD replaces in a decoder of the WHATWG Encoding Standard (1 to 3). */
static inline uint32_t sp_utf8_get(const char *text, size_t len, size_t *ret_size)
{
    uint8_t a = (uint8_t)text[0];
    *ret_size = 1;
    if (a < 0x80)
        return a;
    if (a < 0xC2 || a > 0xF4 || len < 2 || !sp_utf8_continues(text[1]))
        return SP_REPLACEMENT;
    uint8_t b = (uint8_t)text[1];
    if (a < 0xE0) {
        *ret_size = 2;
        return (a & 0x1Fu) << 6 | (b & 0x3Fu);
    }
    if ((a == 0xE0 && b < 0xA0) || (a == 0xED && b >= 0xA0) || (a == 0xF0 && b < 0x90) ||
        (a == 0xF4 && b >= 0x90))
        return SP_REPLACEMENT;
    *ret_size = 2;
    if (len < 3 || !sp_utf8_continues(text[2]))
        return SP_REPLACEMENT;
    *ret_size = 3;
    if (a < 0xF0)
        return (a & 0x0Fu) << 12 | (b & 0x3Fu) << 6 | ((uint8_t)text[2] & 0x3Fu);
    if (len < 4 || !sp_utf8_continues(text[3]))
        return SP_REPLACEMENT;
    *ret_size = 4;
    return (a & 0x07u) << 18 | (b & 0x3Fu) << 12 | ((uint8_t)text[2] & 0x3Fu) << 6 |
           ((uint8_t)text[3] & 0x3Fu);
}

/* The number of bytes of the code point at the start of `text` (len >= 1); 0 if it is not valid. */
static inline size_t sp_utf8_length(const char *text, size_t len)
{
    size_t size;
    bool error = sp_utf8_get(text, len, &size) == SP_REPLACEMENT &&
                 !(size == 3 && (uint8_t)text[0] == 0xEF); /* U+FFFD itself is EF BF BD */
    return error ? 0 : size;
}

#endif
