/* Language as the first coordinate of the partition: a few languages have cells of their own, and
 * all others, with the pages whose language is unknown, share one set of cells. Both sets are those
 * of the partition map.
 *
 * A page's language is part of its signature, so its cell is still a function of its signature
 * alone. Nothing is lost if pages of different languages cannot be similar
 * (similarity.languages = apart).
 *
 * Source: Zhu et al., WWW 2012, section 4.1. Thread rule: read-only once made; any thread. */
#ifndef SP_PARTITION_LANGUAGES_H
#define SP_PARTITION_LANGUAGES_H

#include <stdint.h>

#include "base/fault.h"

enum { SP_MAX_LANGUAGES = 63 };

struct sp_languages {
    uint32_t count;                  /* 0: languages do not matter */
    uint16_t code[SP_MAX_LANGUAGES]; /* as in struct sp_signature */
};

/* Parses codes of two lower-case letters with commas between them, such as "en,fr"; "" gives none.
 * SP_INVALID: the fault, which begins with "partition.languages: ", says what is wrong. */
enum sp_err sp_languages_parse(const char *text, struct sp_languages *ret_languages,
                               struct sp_fault *fault);

/* 0 for a language that is not listed, or its place in the list plus one. */
uint32_t sp_languages_slice(const struct sp_languages *languages, uint16_t language);

/* A hash of the list, 0 if it is empty. */
uint64_t sp_languages_hash(const struct sp_languages *languages);

#endif
