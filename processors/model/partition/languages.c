/* See languages.h. */
#include "partition/languages.h"

#include <string.h>

#include "base/hash.h"

static enum sp_err invalid(const char *text, const char *why, struct sp_fault *fault)
{
    return sp_fault_set(fault, SP_INVALID, "partition.languages: \"%s\" %s", text, why);
}

static int is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

enum sp_err sp_languages_parse(const char *text, struct sp_languages *ret_languages,
                               struct sp_fault *fault)
{
    struct sp_languages languages = {0};
    for (const char *at = text; *text; at += 3) {
        if (!is_letter(at[0]) || !is_letter(at[1]) || (at[2] && at[2] != ','))
            return invalid(text, "is no list of codes of two letters, such as en,fr", fault);
        uint16_t code = (uint16_t)((unsigned char)at[0] << 8 | (unsigned char)at[1]);
        if (sp_languages_slice(&languages, code))
            return invalid(text, "names a language twice", fault);
        if (languages.count == SP_MAX_LANGUAGES)
            return invalid(text, "names more than 63 languages", fault);
        languages.code[languages.count++] = code;
        if (!at[2])
            break;
    }
    *ret_languages = languages;
    return SP_OK;
}

uint32_t sp_languages_slice(const struct sp_languages *languages, uint16_t language)
{
    for (uint32_t i = 0; i < languages->count; i++)
        if (languages->code[i] == language)
            return i + 1;
    return 0;
}

uint64_t sp_languages_hash(const struct sp_languages *languages)
{
    return languages->count ? sp_hash64(languages->code, languages->count * sizeof *languages->code)
                            : 0;
}
