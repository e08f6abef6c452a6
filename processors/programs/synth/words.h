/* The made-up vocabulary and texts made of it. Private to this folder. */
#ifndef SP_SYNTH_WORDS_H
#define SP_SYNTH_WORDS_H

#include <stdint.h>

#include "base/bytes.h"
#include "base/hash.h"

enum { SP_SCRIPT_LATIN, SP_SCRIPT_ACCENTED, SP_SCRIPT_CYRILLIC, SP_SCRIPT_HAN, SP_SCRIPTS };

struct sp_word {
    char text[15];
    uint8_t len;
};

struct sp_vocabulary {
    struct sp_word *words; /* of each script in turn */
    uint16_t *ranks;       /* 65,536 draws of a Zipf distribution */
};

void sp_vocabulary_make(struct sp_vocabulary *w);
void sp_vocabulary_done(struct sp_vocabulary *w);

/* A draw of a word for any 64 random bits. */
const struct sp_word *sp_vocabulary_draw(const struct sp_vocabulary *w, int script,
                                         uint64_t random);

static inline void sp_word_put(struct sp_buf *out, const struct sp_word *word)
{
    memcpy(sp_buf_reserve(out, sizeof *word), word,
           sizeof *word); /* more than its bytes: no loop */
    out->len += word->len;
}

/* Random bits for up to three numbers. */
static inline uint64_t sp_synth_random(uint64_t seed, uint64_t a, uint64_t b)
{
    return sp_mix64(sp_mix64(seed ^ 0x9e3779b97f4a7c15ull * (a + 1)) +
                    0xd1342543de82ef95ull * (b + 1));
}

/* A text: document `number`, of which edit_permille of the words are replaced as `edit` says. */
struct sp_document {
    uint64_t number;
    uint64_t edit;
    uint32_t edit_permille;
    uint32_t words;
    int script;
};

/* Word i of the document. */
const struct sp_word *sp_document_word(const struct sp_vocabulary *w, uint64_t seed,
                                       const struct sp_document *d, uint32_t i);

#endif
