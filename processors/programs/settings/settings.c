/* See settings/settings.h. */
#include "settings/settings.h"

enum sp_method sp_settings_method(const struct sp_config *c)
{
    static const enum sp_method methods[] = {
        [SP_CONFIG_METHOD_SHINGLES] = SP_METHOD_SHINGLES,
        [SP_CONFIG_METHOD_SIMHASH] = SP_METHOD_SIMHASH,
        [SP_CONFIG_METHOD_COSINE] = SP_METHOD_COSINE,
        [SP_CONFIG_METHOD_SENTENCES] = SP_METHOD_SENTENCES,
        [SP_CONFIG_METHOD_LCS] = SP_METHOD_LCS,
        [SP_CONFIG_METHOD_COMBINED] = SP_METHOD_COMBINED,
    };
    _Static_assert(sizeof methods / sizeof *methods == SP_METHOD_COUNT, "a method is missing");
    return methods[c->similarity_method];
}

void sp_settings_text(const struct sp_config *c, struct sp_text_options *ret_options)
{
    sp_text_options_default(ret_options);
    ret_options->scope = c->text_scope == SP_CONFIG_SCOPE_ALL ? SP_TEXT_ALL : SP_TEXT_MAIN;
    ret_options->detect_language = c->text_language == SP_CONFIG_LANGUAGE_DETECT;
    if (c->similarity_languages == SP_CONFIG_LANGUAGES_APART)
        ret_options->detect_language = ret_options->signature.languages_apart = true;
    ret_options->max_bytes = c->text_max_bytes;
    ret_options->signature.repeats =
        c->signature_repeats == SP_CONFIG_REPEATS_LABELLED ? SP_REPEATS_LABELLED : SP_REPEATS_ONCE;
    ret_options->signature.max_shingles = (uint32_t)c->signature_max_shingles;
    ret_options->signature.method = sp_settings_method(c);
    ret_options->signature.sentence_hash = c->signature_sentence_hash == SP_CONFIG_SENTENCE_CRC32
                                               ? SP_SENTENCE_CRC32
                                               : SP_SENTENCE_XXH3;
    bool keep = c->signature_sentences == SP_CONFIG_SENTENCES_KEEP &&
                sp_settings_method(c) == SP_METHOD_SHINGLES;
    if (keep || sp_method_info(sp_settings_method(c))->sentences)
        ret_options->signature.max_sentences = (uint32_t)c->signature_max_sentences;
    ret_options->signature.text_scope = (uint32_t)ret_options->scope;
}

void sp_settings_similarity(const struct sp_config *c, struct sp_similarity_options *ret_options)
{
    sp_similarity_options_default(ret_options);
    ret_options->method = sp_settings_method(c);
    ret_options->threshold = c->similarity_threshold > 0
                                 ? c->similarity_threshold
                                 : sp_method_info(sp_settings_method(c))->threshold;
    ret_options->band = c->similarity_band;
    ret_options->lcs_min = c->similarity_lcs_min;
}
