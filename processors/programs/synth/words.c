/* A vocabulary of pronounceable words in four scripts, drawn from by a Zipf distribution (the k-th
 * word in proportion to 1/(k+8)). Integers only: the same on every machine. */
#include "synth/words.h"

#include "base/assert.h"
#include "base/mem.h"
#include "base/utf8.h"

enum { WORDS = 20000, DRAWS = 65536 };

static void put_latin(struct sp_buf *out, uint32_t number, bool accents)
{
    static const char *const plain[] = {"a", "e", "i", "o", "u", "ai", "ou", "ea"};
    static const char *const accented[] = {"á", "é", "í", "ö", "ü", "ã", "ô", "è"};
    static const char *const consonants[] = {"b",  "d",  "f",  "g",  "k",  "l", "m",
                                             "n",  "p",  "r",  "s",  "t",  "v", "st",
                                             "tr", "ch", "sh", "pl", "br", "nd"};
    uint32_t syllables = 1 + (number >= 120) + (number >= 4000);
    for (uint32_t x = number, i = 0; i < syllables; i++) {
        sp_buf_put_str(out, consonants[x % 20]);
        x /= 20;
        sp_buf_put_str(out, accents && (x + i) % 3 == 0 ? accented[x % 8] : plain[x % 8]);
        x /= 6; /* divided by 6 and not by 8, so that neighbours share less */
        x += number * 7;
    }
    sp_buf_put_u8(out, (uint8_t) "nrstlmdk"[number % 8]);
}

static void put_utf8(struct sp_buf *out, uint32_t c)
{
    out->len += sp_utf8_put(sp_buf_reserve(out, 4), c);
}

static void put_word(struct sp_buf *out, int script, uint32_t number)
{
    switch (script) {
    case SP_SCRIPT_CYRILLIC:
        for (uint32_t x = number * 31 + 7, n = 3 + number % 5; n > 0; n--, x = x * 29 + number)
            put_utf8(out, 0x430 + x % 32);
        break;
    case SP_SCRIPT_HAN:
        put_utf8(out, 0x4e00 + (number * 17) % 5000);
        break;
    default:
        put_latin(out, number, script == SP_SCRIPT_ACCENTED);
    }
}

void sp_vocabulary_make(struct sp_vocabulary *w)
{
    *w = (struct sp_vocabulary){0};
    w->words = sp_calloc((size_t)SP_SCRIPTS * WORDS, sizeof *w->words);
    w->ranks = sp_alloc(DRAWS * sizeof *w->ranks);
    struct sp_buf text = {0};
    for (int script = 0; script < SP_SCRIPTS; script++)
        for (uint32_t i = 0; i < WORDS; i++) {
            struct sp_word *word = &w->words[script * WORDS + (int)i];
            sp_buf_reset(&text);
            put_word(&text, script, i);
            SP_ASSERT(text.len <= sizeof word->text);
            memcpy(word->text, text.data, text.len);
            word->len = (uint8_t)text.len;
        }
    sp_buf_done(&text);
    uint64_t total = 0, sum = 0;
    for (uint64_t k = 0; k < WORDS; k++)
        total += (1ull << 32) / (k + 8);
    uint32_t draw = 0;
    for (uint64_t k = 0; k < WORDS; k++) {
        sum += (1ull << 32) / (k + 8);
        while (draw < DRAWS && (uint64_t)draw * (total / DRAWS) < sum)
            w->ranks[draw++] = (uint16_t)k;
    }
    while (draw < DRAWS)
        w->ranks[draw++] = WORDS - 1;
}

void sp_vocabulary_done(struct sp_vocabulary *w)
{
    sp_free(w->words);
    sp_free(w->ranks);
}

const struct sp_word *sp_vocabulary_draw(const struct sp_vocabulary *w, int script, uint64_t random)
{
    /* Two of a thousand draws are uniform over the whole vocabulary, so that rare words occur. */
    uint32_t rank =
        (random >> 16) % 500 == 0 ? (uint32_t)((random >> 32) % WORDS) : w->ranks[random % DRAWS];
    return &w->words[(uint32_t)script * WORDS + rank];
}

const struct sp_word *sp_document_word(const struct sp_vocabulary *w, uint64_t seed,
                                       const struct sp_document *d, uint32_t i)
{
    uint64_t random = sp_synth_random(seed, d->number, i);
    if (d->edit_permille) {
        uint64_t edited = sp_synth_random(seed ^ d->edit, d->number, i);
        if (edited % 1000 < d->edit_permille)
            random = sp_mix64(edited);
    }
    return sp_vocabulary_draw(w, d->script, random);
}
