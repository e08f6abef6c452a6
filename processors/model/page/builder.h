/* Makes signatures from words. One builder a thread; it keeps its scratch memory
 * from page to page.
 *
 *   sp_builder_begin
 *     sp_builder_words (the hashes of some words, in order) | sp_builder_stem |
 * sp_builder_sentence_end sp_builder_finish -> signature
 */
#ifndef SP_PAGE_BUILDER_H
#define SP_PAGE_BUILDER_H

#include "page/dictionary.h"
#include "page/method.h"
#include "page/signature.h"

enum sp_repeats {
    SP_REPEATS_ONCE,    /* a shingle counts once, however often the page repeats it */
    SP_REPEATS_LABELLED /* each occurrence counts, labelled with its number */
};

/* The 32 bits that stand for a sentence. CRC32 is E. Smith's choice; two unlike sentences have one
 * number as rarely as with XXH3, once in 2^32 pairs, but a CRC is linear and can be forged. */
enum sp_sentence_hash { SP_SENTENCE_XXH3, SP_SENTENCE_CRC32 };

/* What a signature depends on, apart from the text. Two signatures can be compared
 * only if all of this was equal; its `params` are a hash of it. */
struct sp_signature_options {
    uint32_t max_shingles;  /* or words (cosine); 1 to SP_MAX_SHINGLES_LIMIT; default 1,024 */
    uint32_t max_sentences; /* 0 to SP_MAX_SENTENCES_LIMIT; 0 keeps none; default 0 */
    enum sp_method method;  /* default SP_METHOD_SHINGLES */
    enum sp_repeats repeats;
    enum sp_sentence_hash sentence_hash;
    bool languages_apart; /* of shingles: those of two languages are never equal */
    uint32_t text_scope;  /* enum sp_text_scope */
    const struct sp_dictionary *dictionary; /* borrowed; NULL: by hash */
};

struct sp_builder;

/* Never NULL. The options are copied, but for the dictionary, which must outlive it. */
struct sp_builder *sp_builder_new(const struct sp_signature_options *options);
void sp_builder_free(struct sp_builder *b);

void sp_builder_begin(struct sp_builder *b);

/* The next `count` words, by their 64-bit hashes (sp_hash64 of the folded word's UTF-8,
 * or any other hash that the whole program uses alike). */
void sp_builder_words(struct sp_builder *b, const uint64_t *hashes, size_t count);

/* The stem of one word of the running sentence (text/stems.h), for SP_METHOD_SENTENCES, whose
 * sentences are made of stems; words are given all the same. */
void sp_builder_stem(struct sp_builder *b, uint64_t stem);

/* A sentence ends after the words given so far; without words since the last call,
 * nothing happens. */
void sp_builder_sentence_end(struct sp_builder *b);

/* Words since sp_builder_begin, repeats included. */
size_t sp_builder_word_count(const struct sp_builder *b);

/* The signature of the words since sp_builder_begin, one reference, language as given.
 * A page without words gives a signature with shingle_total 0. */
struct sp_signature *sp_builder_finish(struct sp_builder *b, uint16_t language);

/* The words that the length vector of the signature just finished counts (of method shingles: the
 * first of each shingle), in the page's order. Valid until the builder's next use; may be
 * reordered. */
size_t sp_builder_first_words(struct sp_builder *b, uint64_t **ret_words);

#endif
