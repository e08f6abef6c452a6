/* What settings.c and index.c share. Private to this folder. */
#ifndef SP_INDEX_INTERNAL_H
#define SP_INDEX_INTERNAL_H

#include "samepage/index.h"
#include "similarity/similarity.h"
#include "text/text.h"

/* A struct samepage_signature is a struct sp_signature under a public name. */
static inline struct sp_signature *sp_index_signature(const struct samepage_signature *s)
{
    return (struct sp_signature *)(uintptr_t)s;
}

struct sp_index_settings {
    struct sp_text_options text;
    struct sp_similarity_options similarity;
};

/* From keys and values in turns. False: a sentence is in error. */
bool sp_index_settings_read(const char *const *settings, struct sp_index_settings *ret_settings,
                            char *error, size_t size);

#endif
