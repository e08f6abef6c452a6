/* Makes signatures from words. Each thread has its own builder, which keeps its scratch memory from
 * page to page.
 *
 *   sp_builder_begin
 *     sp_builder_words | sp_builder_stem | sp_builder_sentence_end    in the page's order
 *   sp_builder_finish -> signature */
#ifndef SP_PAGE_BUILDER_H
#define SP_PAGE_BUILDER_H

#include "page/dictionary.h"
#include "page/method.h"
#include "page/signature.h"

enum sp_repeats {
    SP_REPEATS_ONCE,    /* a shingle counts once, however often the page repeats it */
    SP_REPEATS_LABELLED /* each occurrence counts, labelled with its number */
};

/* The 32-bit hash of a sentence. E. Smith uses CRC32. It collides as rarely as XXH3, once in 2^32
 * pairs of different sentences, but a CRC is linear and can be forged. */
enum sp_sentence_hash { SP_SENTENCE_XXH3, SP_SENTENCE_CRC32 };

/* What a signature depends on, apart from the text. Two signatures can be compared only if all of
 * these options were equal; `params` of a signature is their hash. */
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

/* Never NULL. The options are copied, except for the dictionary, which must outlive the builder. */
struct sp_builder *sp_builder_new(const struct sp_signature_options *options);
void sp_builder_free(struct sp_builder *b);

/* Begins a page; what was given of another page is dropped. */
void sp_builder_begin(struct sp_builder *b);

/* Adds the next `count` words as 64-bit hashes: sp_hash64 of the folded word's UTF-8, or any other
 * hash as long as the whole program uses the same one. */
void sp_builder_words(struct sp_builder *b, const uint64_t *hashes, size_t count);

/* Adds the stem (text/stems.h) of a word of the current sentence. Only SP_METHOD_SENTENCES needs
 * stems; it needs sp_builder_words as well. */
void sp_builder_stem(struct sp_builder *b, uint64_t stem);

/* Ends the sentence after the words given so far; does nothing if there were none since the last
 * call. */
void sp_builder_sentence_end(struct sp_builder *b);

/* Words since sp_builder_begin, repeats included. */
size_t sp_builder_word_count(const struct sp_builder *b);

/* Returns the signature of the words since sp_builder_begin, with one reference. The signature of a
 * page without words has shingle_total 0. */
struct sp_signature *sp_builder_finish(struct sp_builder *b, uint16_t language);

/* Returns the words that the length vector of the last finished signature counts (method shingles:
 * the first word of each shingle), in the page's order. Valid until the builder's next use; the
 * caller may reorder them. */
size_t sp_builder_first_words(struct sp_builder *b, uint64_t **ret_words);

#endif
