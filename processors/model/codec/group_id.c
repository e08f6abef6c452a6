/* Group ids as text. Each id has one spelling, because readers of status events compare the
 * text. */
#include <inttypes.h>
#include <stdio.h>

#include "codec/codec.h"

void sp_group_id_format(struct sp_group_id id, char out[SP_GROUP_ID_TEXT])
{
    snprintf(out, SP_GROUP_ID_TEXT, "%" PRIx64 "-%016" PRIx64 "%016" PRIx64, id.birth,
             id.founder.hi, id.founder.lo);
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
