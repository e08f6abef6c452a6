/* See stems.h. Stems are cached by the word's hash and language. The cache is of a pure function,
 * so results never depend on it. Folded text is decomposed, but Snowball expects composed letters.
 */
#include "text/stems.h"

#include <libstemmer.h>
#include <utf8proc.h>

#include "base/hash.h"
#include "text/repair.h"

enum {
    SLOTS = 1 << 14,
    WORD_MAX = 64,       /* bytes; longer words are not words of a language */
    SHORT_WORDS = 0x0E00 /* scripts from here on are written without spaces, or in syllables */
};

struct slot {
    uint64_t key;  /* 0: empty */
    uint64_t stem; /* 0: dropped */
};

struct stemmer {
    uint16_t language;
    struct sb_stemmer *snowball; /* NULL: there is none for the language */
    struct stemmer *next;
};

struct sp_stems {
    uint64_t salt; /* of the language */
    struct stemmer *stemmers;
    struct sb_stemmer *snowball;
    struct slot slots[SLOTS];
};

struct sp_stems *sp_stems_new(void)
{
    return sp_calloc(1, sizeof(struct sp_stems));
}

void sp_stems_free(struct sp_stems *s)
{
    if (!s)
        return;
    for (struct stemmer *t = s->stemmers, *next; t; t = next) {
        next = t->next;
        if (t->snowball)
            sb_stemmer_delete(t->snowball);
        sp_free(t);
    }
    sp_free(s);
}

void sp_stems_language(struct sp_stems *s, uint16_t language)
{
    struct stemmer *t = s->stemmers;
    while (t && t->language != language)
        t = t->next;
    if (!t) {
        char code[3] = {(char)(language >> 8), (char)(language & 0xff), 0};
        t = sp_alloc(sizeof *t);
        *t = (struct stemmer){language, language ? sb_stemmer_new(code, "UTF_8") : NULL,
                              s->stemmers};
        s->stemmers = t;
    }
    s->snowball = t->snowball;
    s->salt = sp_mix64(language + 1u);
}

/* Writes the word in lower case and composed to ret_text (WORD_MAX bytes); returns its length, or 0
 * if it does not fit. */
static size_t compose(struct sp_view word, char *ret_text)
{
    bool ascii = true;
    for (size_t i = 0; i < word.len; i++) {
        char c = word.data[i];
        ret_text[i] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
        ascii &= !(c & 0x80);
    }
    if (ascii)
        return word.len;
    utf8proc_int32_t points[WORD_MAX + 1];
    const utf8proc_option_t options = UTF8PROC_STABLE | UTF8PROC_COMPOSE;
    utf8proc_ssize_t n = utf8proc_decompose((const utf8proc_uint8_t *)ret_text,
                                            (utf8proc_ssize_t)word.len, points, WORD_MAX, options);
    if (n <= 0 || n > WORD_MAX)
        return 0;
    n = utf8proc_reencode(points, n, options);
    if (n <= 0 || n > WORD_MAX)
        return 0;
    memcpy(ret_text, points, (size_t)n);
    return (size_t)n;
}

static bool is_short(const char *text, size_t len)
{
    size_t letters = 0, size;
    for (size_t i = 0; i < len; i += size, letters++) {
        uint32_t x = sp_utf8_get(text + i, len - i, &size);
        if (x >= SHORT_WORDS || (x >= '0' && x <= '9'))
            return false;
    }
    return letters <= SP_STEM_SHORT;
}

/* Returns 0 if the word is dropped. */
static uint64_t make_stem(struct sp_stems *s, struct sp_view word, uint64_t hash)
{
    char text[WORD_MAX];
    size_t len = word.len <= WORD_MAX ? compose(word, text) : 0;
    if (len == 0)
        return hash | 1;
    if (is_short(text, len))
        return 0;
    const void *stem = text;
    if (s->snowball) {
        const sb_symbol *found = sb_stemmer_stem(s->snowball, (const sb_symbol *)text, (int)len);
        int found_len = sb_stemmer_length(s->snowball);
        if (found && found_len > 0) {
            stem = found;
            len = (size_t)found_len;
        }
    }
    return sp_hash64(stem, len) | 1;
}

bool sp_stems_hash(struct sp_stems *s, struct sp_view word, uint64_t hash, uint64_t *ret_stem)
{
    uint64_t key = (hash ^ s->salt) | 1;
    struct slot *slot = &s->slots[key >> 32 & (SLOTS - 1)];
    if (slot->key != key)
        *slot = (struct slot){key, make_stem(s, word, hash)};
    if (slot->stem == 0)
        return false;
    *ret_stem = slot->stem;
    return true;
}
