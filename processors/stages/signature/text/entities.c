/* Character references as the HTML standard reads them (13.2.5.72 to 13.2.5.80): the
 * longest name in the table wins, 106 old names need no semicolon, numbers are remapped from
 * windows-1252 and never give a surrogate or a code point out of range.
 *
 * The table (entity_table.h) is made by generate_entities.py. Nothing here can fail. */
#include "text/entities.h"

#include <stdint.h>
#include <string.h>

#include "text/entity_table.h"
#include "text/repair.h"

/* Longest name that is also known without its semicolon ("Aacute", "frac12"). */
enum { BARE_NAME_MAX = 6, BARE_NAME_MIN = 2 };

static const uint16_t windows_1252[32] = {
    0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x8D,   0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

/* FNV-1a; generate_entities.py computes the same. */
static const struct sp_entity *find(const char *name, size_t len)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (uint8_t)name[i]) * 16777619u;
    for (uint32_t at = h % SP_ENTITY_SLOTS; entity_slots[at]; at = (at + 1) % SP_ENTITY_SLOTS) {
        const struct sp_entity *e = &entities[entity_slots[at] - 1];
        if (e->name_len == len && memcmp(e->name, name, len) == 0)
            return e;
    }
    return NULL;
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

static size_t decode_number(const char *text, size_t len, char *ret_text, size_t *ret_len)
{
    size_t at = 2;
    int base = 10;
    if (at < len && (text[at] | 0x20) == 'x') {
        base = 16;
        at++;
    }
    size_t first_digit = at;
    uint32_t x = 0;
    for (; at < len && digit_value(text[at]) < base; at++)
        if (x <= 0x10FFFF)
            x = x * (uint32_t)base + (uint32_t)digit_value(text[at]);
    if (at == first_digit)
        return 0;
    if (at < len && text[at] == ';')
        at++;
    if (x >= 0x80 && x < 0xA0)
        x = windows_1252[x - 0x80];
    if (x == 0 || x > 0x10FFFF || (x >= 0xD800 && x < 0xE000))
        x = SP_REPLACEMENT;
    *ret_len = sp_utf8_put(ret_text, x);
    return at;
}

/* The references that nearly all are; returns 0 if it is another one. */
static inline size_t decode_frequent(const char *text, size_t len, char *ret_text, size_t *ret_len)
{
    static const struct {
        char name[8];
        uint64_t mask;
        char text[4];
        uint8_t name_len;
        uint8_t text_len;
    } known[] = {{"&lt;", 0xffffffff, "<", 4, 1},
                 {"&gt;", 0xffffffff, ">", 4, 1},
                 {"&nbsp;", 0xffffffffffff, "\xc2\xa0", 6, 2},
                 {"&amp;", 0xffffffffff, "&", 5, 1},
                 {"&quot;", 0xffffffffffff, "\"", 6, 1}};
    uint64_t have, want;
    if (len < sizeof have)
        return 0;
    memcpy(&have, text, sizeof have);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        memcpy(&want, known[i].name, sizeof want);
        if ((have & known[i].mask) != want)
            continue;
        memcpy(ret_text, known[i].text, known[i].text_len);
        *ret_len = known[i].text_len;
        return known[i].name_len;
    }
    return 0;
}

size_t sp_entity_decode(const char *text, size_t len, char *ret_text, size_t *ret_len)
{
    size_t used = decode_frequent(text, len, ret_text, ret_len);
    if (used)
        return used;
    if (len >= 3 && text[1] == '#')
        return decode_number(text, len, ret_text, ret_len);
    const char *name = text + 1;
    size_t max = len - 1 < SP_ENTITY_NAME_MAX ? len - 1 : SP_ENTITY_NAME_MAX;
    size_t n = 0;
    while (n < max && ((unsigned)((name[n] | 0x20) - 'a') < 26u || (unsigned)(name[n] - '0') < 10u))
        n++;
    const struct sp_entity *e = NULL;
    if (n && n < max && name[n] == ';')
        e = find(name, n + 1);
    for (size_t k = n < BARE_NAME_MAX ? n : BARE_NAME_MAX; !e && k >= BARE_NAME_MIN; k--)
        e = find(name, k);
    if (!e)
        return 0;
    memcpy(ret_text, e->text, e->text_len);
    *ret_len = e->text_len;
    return 1u + e->name_len;
}
