/* Group ids as text. Each id has one spelling, because readers of status events compare the
 * text. */
#include "codec/codec.h"

/* The last `digits` digits; returns where they end. */
static char *put_hex(char *out, uint64_t value, int digits)
{
    for (int i = digits; i-- > 0; value >>= 4)
        out[i] = "0123456789abcdef"[value & 15];
    return out + digits;
}

void sp_group_id_format(struct sp_group_id id, char out[SP_GROUP_ID_TEXT])
{
    int digits = 1;
    while (digits < 16 && id.birth >> 4 * digits)
        digits++;
    out = put_hex(out, id.birth, digits);
    *out++ = '-';
    out = put_hex(out, id.founder.hi, 16);
    out = put_hex(out, id.founder.lo, 16);
    *out = 0;
}

static bool parse_hex(const char *text, size_t len, uint64_t *ret_value)
{
    uint64_t value = 0;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        unsigned digit;
        if (c >= '0' && c <= '9')
            digit = (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (unsigned)(c - 'a') + 10;
        else
            return false;
        value = value << 4 | digit;
    }
    *ret_value = value;
    return true;
}

enum sp_err sp_group_id_parse(struct sp_view text, struct sp_group_id *ret_id)
{
    struct sp_group_id id;
    if (text.len < 1 + 1 + 32 || text.len > SP_GROUP_ID_TEXT - 1)
        return SP_MALFORMED;
    size_t birth = text.len - 33;
    const char *founder = text.data + birth + 1;
    if ((birth > 1 && text.data[0] == '0') || text.data[birth] != '-' ||
        !parse_hex(text.data, birth, &id.birth) || !parse_hex(founder, 16, &id.founder.hi) ||
        !parse_hex(founder + 16, 16, &id.founder.lo))
        return SP_MALFORMED;
    *ret_id = id;
    return SP_OK;
}
