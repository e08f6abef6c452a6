/* Signatures of made-up texts, for tests that do not read any text. */
#ifndef SP_TESTS_MADE_UP_H
#define SP_TESTS_MADE_UP_H

#include "page/signature.h"

/* Of a text of `total` shingles, of which `kept` are kept. The caller writes these, in ascending
 * order, and owns the signature. */
static inline struct sp_signature *made_up_capped(struct sp_id content, uint32_t kept,
                                                  uint32_t total)
{
    struct sp_signature *s = sp_signature_alloc(kept, 0);
    s->params = 1;
    s->content_hash = content;
    s->length[0] = s->shingle_total = total;
    s->length[1] = s->length[2] = 0;
    s->language = 0;
    return s;
}

static inline struct sp_signature *made_up(struct sp_id content, uint32_t count)
{
    return made_up_capped(content, count, count);
}

/* Of a text that is a range of `count` shingles: two that begin n apart differ in n shingles at
 * either end. */
static inline struct sp_signature *made_up_range(struct sp_id content, uint32_t from,
                                                 uint32_t count)
{
    struct sp_signature *s = made_up(content, count);
    for (uint32_t i = 0; i < count; i++)
        s->hashes[i] = (from + i) * 1000;
    return s;
}

/* By simhash, of a text of `total` shingles. */
static inline struct sp_signature *made_up_simhash(struct sp_id content, uint64_t bits,
                                                   uint32_t total)
{
    struct sp_signature *s = sp_signature_alloc(0, SP_SIMHASH_WORDS);
    s->params = 1;
    s->content_hash = content;
    s->length[0] = s->shingle_total = total;
    s->length[1] = s->length[2] = 0;
    s->language = 0;
    s->hashes[0] = (uint32_t)bits;
    s->hashes[1] = (uint32_t)(bits >> 32);
    return s;
}

#endif
