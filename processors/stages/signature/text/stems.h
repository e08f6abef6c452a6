/* Stems of words, for sentence signatures: which words of a sentence count, and as what.
 *
 * Source: E. Smith, "Detecting documents near duplications in realtime": the words of a sentence
 * in lower case, short ones dropped, the others reduced to their stems (Porter, "Snowball: A
 * language for stemming algorithms", 2001), so that an edit of an article, a number or an ending
 * leaves the sentence what it is.
 *
 *   short      words of up to SP_STEM_SHORT letters are dropped, but not words with a digit, nor
 *              words of a script whose words are short or single characters (from Thai on: Han,
 *              kana, Hangul)
 *   stemmed    by the algorithm of the page's language if Snowball has one; otherwise kept as it is
 *   long       words of more than 64 bytes are kept as they are
 *
 * Thread rule: one thread at a time. */
#ifndef SP_TEXT_STEMS_H
#define SP_TEXT_STEMS_H

#include <stdbool.h>

#include "base/bytes.h"

enum { SP_STEM_SHORT = 3 };

struct sp_stems;

struct sp_stems *sp_stems_new(void);
void sp_stems_free(struct sp_stems *s);

/* The language of the words to come, as in a signature; 0: unknown, nothing is stemmed. */
void sp_stems_language(struct sp_stems *s, uint16_t language);

/* The hash of the stem of one word of folded text (fold.h) in any case of its ASCII letters; `hash`
 * is sp_words_hash of it. False: a short word, dropped. */
bool sp_stems_hash(struct sp_stems *s, struct sp_view word, uint64_t hash, uint64_t *ret_stem);

#endif
