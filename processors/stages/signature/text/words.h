/* Text to words: folding of letters in any script, and the hash of each word.
 *
 * A word is a longest run of letters, digits, combining marks and '_'. Words are compared after
 * folding: full case folding and compatibility decomposition, so that ß equals SS, ﬁ equals fi, and
 * é equals e + U+0301. Marks are kept (résumé is not resume), in Unicode's canonical order. fold.h
 * says what stays different.
 * Details:
 *
 *   apostrophes   separate: don't, don’t and "don t" give the same two words, as do
 *                 l'homme and l’homme
 *   Han, kana, Thai, Lao, Khmer, Myanmar, Tai Le   each character (with the marks that follow) is a
 *                 word: no dictionary is needed, the number of words stays the number
 *                 of shingles, and a shingle covers five characters. Bigrams would
 *                 double the words and tell a shingle nothing new
 *   invisible     soft hyphen, joiners, direction marks vanish, also inside words
 *   sentences     end at . ! ? 。 and their like, unless a word goes on at once (3.14)
 *
 * Thread rule: one thread at a time for each struct sp_words. */
#ifndef SP_TEXT_WORDS_H
#define SP_TEXT_WORDS_H

#include "base/bytes.h"
#include "page/builder.h"

struct sp_words;
struct sp_stems;

/* With sentences: calls sp_builder_sentence_end, which costs a little; with stems as well, which
 * are borrowed and may be NULL: sp_builder_stem for each word that has one. */
struct sp_words *sp_words_new(bool sentences, struct sp_stems *stems);
void sp_words_free(struct sp_words *w);

/* Gives the words of text (UTF-8; invalid bytes separate) to the builder, and then ends
 * the sentence. */
void sp_words_split(struct sp_words *w, struct sp_view text, struct sp_builder *builder);

/* The hash of one folded word; part of the signature's version. */
uint64_t sp_words_hash(struct sp_view folded_word);

#endif
