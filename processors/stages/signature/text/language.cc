/* The only C++ of the text module: CLD2 has no C interface. */
#include "text/language.h"

#include <cstdio> // compact_lang_det.h uses FILE and forgets it

#include <cld2/public/compact_lang_det.h>

extern "C" uint16_t sp_language_detect(struct sp_view text)
{
    bool reliable = false;
    CLD2::Language language =
        CLD2::DetectLanguage(text.data, static_cast<int>(text.len), true, &reliable);
    if (!reliable || language == CLD2::UNKNOWN_LANGUAGE)
        return 0;
    const char *code = CLD2::LanguageCode(language);
    if (!code[0] || !code[1] || (code[2] && code[2] != '-'))
        return 0; /* three letters: no room for them, and rare */
    return static_cast<uint16_t>(code[0] << 8 | code[1]);
}
