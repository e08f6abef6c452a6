/* Signatures of made-up pages: see pages.h. */
#include "pages.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "page/builder.h"

struct sp_signature *page_by_shingles(uint32_t *shingles, uint32_t count, uint32_t kept,
                                      struct sp_id content)
{
    struct sp_signature *s = sp_signature_alloc(kept, 0);
    qsort(shingles, count, sizeof *shingles, sp_by_u32);
    s->params = 1;
    s->language = 0;
    s->content_hash = content;
    s->shingle_total = count;
    s->shingle_count = kept;
    s->sentence_count = 0;
    memset(s->length, 0, sizeof s->length);
    s->length[0] = count;
    memcpy(s->hashes, shingles, kept * sizeof *shingles);
    return s;
}

/* A page of `words` consecutive items from `first` on: neighbours overlap, so that chains, merges
 * and splits are frequent. Item i counts for dimension i % 3. */
struct sp_signature *page_by_items(uint32_t first, uint32_t words, uint16_t language)
{
    struct sp_signature *s = sp_signature_alloc(words, 0);
    uint32_t name[2] = {first, words};
    s->params = 1;
    s->language = language;
    s->content_hash = sp_hash128(name, sizeof name);
    s->content_hash.lo ^= language ? sp_mix64(language) : 0;
    s->shingle_total = s->shingle_count = words;
    s->sentence_count = 0;
    memset(s->length, 0, sizeof s->length);
    for (uint32_t i = 0; i < words; i++) {
        uint32_t hash = (uint32_t)sp_mix64(((uint64_t)language << 32) + first + i + 1), at = i;
        s->length[(first + i) % SP_DIMS]++;
        for (; at > 0 && s->hashes[at - 1] > hash; at--)
            s->hashes[at] = s->hashes[at - 1];
        s->hashes[at] = hash;
    }
    return s;
}

/* The same for another method: each item is a word and a sentence. By simhash, pages with the same
 * first item are twins (stars.h). */
struct sp_signature *page_by_builder(enum sp_method method, uint32_t first, uint32_t words)
{
    struct sp_signature_options o = {.max_shingles = 64, .max_sentences = 64, .method = method};
    struct sp_builder *b = sp_builder_new(&o);
    sp_builder_begin(b);
    for (uint32_t i = 0; i < words; i++) {
        uint64_t word = sp_mix64(first + i + 1);
        sp_builder_words(b, &word, 1);
        sp_builder_stem(b, word);
        sp_builder_sentence_end(b);
    }
    struct sp_signature *s = sp_builder_finish(b, 0);
    sp_builder_free(b);
    if (method == SP_METHOD_SIMHASH) {
        /* Texts of so few words are rarely similar, and texts that differ never have equal bits. */
        uint64_t bits = (1ull << first % 48) - 1;
        s->hashes[0] = (uint32_t)bits;
        s->hashes[1] = (uint32_t)(bits >> 32);
    }
    return s;
}
