/* Words by bitmap: the vector kernel says which bytes belong to words, and lists the borders
 * between runs. Each word is hashed in a copy of the text in lower case, so that the loop over
 * words has no branch that cannot be predicted. If sentences are needed, the ends of words and of
 * sentences are found one by one, and words are hashed where they lie.
 *
 * Text that is all ASCII is read in place. Other text is folded first (fold.h), which leaves only
 * one class of bytes of 0x80 and more: part of a word. Lower case for ASCII sets bit 0x20, which is
 * set in digits and lower-case letters anyway; '_' gives a byte that nothing else gives.
 *
 * The hash is a multiply-and-fold of 128 bits as in wyhash (Wang Yi, public domain): 16 bytes
 * a step, words of up to 16 bytes without a branch on their length.
 *
 * Invariant: no byte at or behind the end of text is read. Nothing here can fail. */
#include "text/words.h"

#include "base/assert.h"
#include "base/clones.h"
#include "base/hash.h"
#include "text/fold.h"
#include "text/scan.h"
#include "text/stems.h"

enum {
    CHUNK_BYTES = 16384, /* text whose bitmaps are made at once: stays in the first-level cache */
    PLAIN_BYTES = 4096,  /* the same if sentences are not needed, because there is a copy of it */
    SHORT_BYTES = 16,    /* of a word */
    HASHES = 512
};

#define K0 0xa0761d6478bd642full
#define K1 0xe7037ed1a0b428dbull
#define K2 0x8ebc6af09c88c6e3ull
#define K3 0x589965cc75374cc3ull

struct sp_words {
    bool sentences;
    struct sp_stems *stems;
    struct sp_fold *fold;
    struct sp_buf folded;
    size_t count;
    uint64_t hashes[HASHES];
    uint64_t word_bits[CHUNK_BYTES / 64 + 1];
    uint64_t stop_bits[CHUNK_BYTES / 64 + 1];
    char lower[PLAIN_BYTES + SHORT_BYTES];
    uint16_t borders[PLAIN_BYTES + 64];
};

struct sp_words *sp_words_new(bool sentences, struct sp_stems *stems)
{
    struct sp_words *w = sp_calloc(1, sizeof *w);
    w->sentences = sentences;
    w->stems = sentences ? stems : NULL;
    w->fold = sp_fold_new();
    return w;
}

void sp_words_free(struct sp_words *w)
{
    if (!w)
        return;
    sp_fold_free(w->fold);
    sp_buf_done(&w->folded);
    sp_free(w);
}

static inline uint64_t load8(const char *p)
{
    uint64_t x;
    memcpy(&x, p, 8);
    return x;
}

/* Sets bit 0x20 in every byte below 0x80. */
static inline uint64_t lower8(uint64_t x)
{
    return x | ((~x & 0x8080808080808080ull) >> 2);
}

static void lower_all(const char *text, size_t len, char *restrict ret_lower)
{
    for (size_t i = 0; i < len; i++)
        ret_lower[i] = (char)(text[i] | (~text[i] & 0x80) >> 2);
}

static inline uint64_t fold128(uint64_t a, uint64_t b)
{
    __uint128_t product = (__uint128_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Loaded from offset 16 - n: n bytes of 0xFF, then zeros. */
static const uint8_t keep[48] = {
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
};

/* Hashes n bytes, from 1 to 16; a and b are those from p on, in lower case, and what follows. */
static inline uint64_t hash_pair(uint64_t a, uint64_t b, size_t n, uint64_t seed)
{
    a &= load8((const char *)keep + 16 - n);
    b &= load8((const char *)keep + 24 - n);
    uint64_t h = fold128(a ^ K0 ^ seed, b ^ K1 ^ n);
    return fold128(h ^ K2, K3 + n);
}

/* 16 bytes at p can be read. */
static inline uint64_t hash_short(const char *p, size_t n, uint64_t seed)
{
    return hash_pair(lower8(load8(p)), lower8(load8(p + 8)), n, seed);
}

/* The same of bytes that are in lower case. */
static inline uint64_t hash_lower(const char *p, size_t n)
{
    return hash_pair(load8(p), load8(p + 8), n, 0);
}

SP_CLONES static __attribute__((noinline)) uint64_t hash_long(const char *p, size_t n,
                                                              const char *end)
{
    uint64_t seed = n;
    while (n > 16) {
        seed = fold128(lower8(load8(p)) ^ K2 ^ seed, lower8(load8(p + 8)) ^ K3);
        p += 16;
        n -= 16;
    }
    char last[16] = {0};
    if ((size_t)(end - p) >= 16)
        return hash_short(p, n, seed);
    memcpy(last, p, n);
    return hash_short(last, n, seed);
}

/* Hashes the word [p, p + n), n >= 1, in text that ends at `end`. */
static inline uint64_t hash_word(const char *p, size_t n, const char *end)
{
    if (__builtin_expect(n <= 16 && (size_t)(end - p) >= 16, 1))
        return hash_short(p, n, 0);
    if (n > 16)
        return hash_long(p, n, end);
    char word[16] = {0};
    memcpy(word, p, n);
    return hash_short(word, n, 0);
}

uint64_t sp_words_hash(struct sp_view folded_word)
{
    return hash_word(folded_word.data, folded_word.len, folded_word.data + folded_word.len);
}

static void flush(struct sp_words *w, struct sp_builder *builder)
{
    if (w->count)
        sp_builder_words(builder, w->hashes, w->count);
    w->count = 0;
}

static inline void add_word(struct sp_words *w, struct sp_builder *builder, uint64_t hash)
{
    w->hashes[w->count++] = hash;
    if (__builtin_expect(w->count == HASHES, 0))
        flush(w, builder);
}

/* Adds the word [p, p + n), and its stem if stems are needed. */
static void add_stemmed(struct sp_words *w, struct sp_builder *builder, const char *p, size_t n,
                        const char *end)
{
    uint64_t hash = hash_word(p, n, end), stem;
    add_word(w, builder, hash);
    if (w->stems && sp_stems_hash(w->stems, sp_view(p, n), hash, &stem))
        sp_builder_stem(builder, stem);
}

/* The splitter's state between two blocks of 64 bytes. */
struct position {
    const char *end;   /* of the text */
    const char *start; /* of the word that is open; NULL: none */
};

/* Handles one block of 64 bytes at `at`, with the bitmap `word`. `stop` has the bytes that may end
 * a sentence, and `next` says whether the byte after the block is in a word. */
static void split_sentences(struct sp_words *w, struct sp_builder *builder, const char *at,
                            uint64_t word, uint64_t stop, bool next, struct position *pos)
{
    uint64_t borders = word ^ (word << 1 | (pos->start != NULL));
    uint64_t stops = stop & ~(word >> 1 | (uint64_t)next << 63);
    for (uint64_t events = borders | stops; events; events &= events - 1) {
        uint64_t bit = events & -events;
        const char *here = at + __builtin_ctzll(events);
        if (borders & bit) {
            if (pos->start)
                add_stemmed(w, builder, pos->start, (size_t)(here - pos->start), pos->end);
            pos->start = pos->start ? NULL : here;
        }
        if (stops & bit) {
            flush(w, builder);
            sp_builder_sentence_end(builder);
        }
    }
}

static void split_into_sentences(struct sp_words *w, const char *text, size_t len,
                                 struct sp_builder *builder)
{
    const struct sp_scan_kernel *kernel = sp_scan_kernel();
    struct position pos = {text + len, NULL};
    for (size_t from = 0; from < len; from += CHUNK_BYTES) {
        size_t n = len - from < CHUNK_BYTES ? len - from : CHUNK_BYTES;
        kernel->words(text + from, n, w->word_bits, w->stop_bits);
        size_t blocks = (n + 63) / 64;
        for (size_t i = 0; i < blocks; i++) {
            bool next = i + 1 < blocks   ? w->word_bits[i + 1] & 1
                        : from + n < len ? sp_scan_is_word(text[from + n])
                                         : false;
            split_sentences(w, builder, text + from + i * 64, w->word_bits[i], w->stop_bits[i],
                            next, &pos);
        }
    }
    if (pos.start)
        add_stemmed(w, builder, pos.start, (size_t)(pos.end - pos.start), pos.end);
    flush(w, builder);
    sp_builder_sentence_end(builder);
}

/* Adds the words of a chunk, whose borders are known. */
static void add_chunk(struct sp_words *w, struct sp_builder *builder, const char *text,
                      const char *end, size_t border_count)
{
    for (size_t i = 0; i + 1 < border_count; i += 2) {
        size_t start = w->borders[i], n = w->borders[i + 1] - start;
        add_word(w, builder,
                 n <= SHORT_BYTES ? hash_lower(w->lower + start, n)
                                  : hash_long(text + start, n, end));
    }
}

/* The length of the run of word bytes at the beginning of the text. */
static size_t run_of(const char *text, size_t len)
{
    size_t n = 0;
    while (n < len && sp_scan_is_word(text[n]))
        n++;
    return n;
}

/* A chunk after which a word goes on ends before that word; a word that fills the chunk is handled
 * alone. */
static void split_plain(struct sp_words *w, const char *text, size_t len,
                        struct sp_builder *builder)
{
    const struct sp_scan_kernel *kernel = sp_scan_kernel();
    for (size_t from = 0, n; from < len; from += n) {
        n = len - from < PLAIN_BYTES ? len - from : PLAIN_BYTES;
        kernel->words(text + from, n, w->word_bits, NULL);
        size_t count = kernel->borders(w->word_bits, sp_scan_words(n), w->borders);
        if (from + n < len && count && w->borders[count - 1] == n)
            n = w->borders[count -= 2];
        if (n == 0) {
            n = run_of(text + from, len - from);
            add_word(w, builder, hash_word(text + from, n, text + len));
            continue;
        }
        lower_all(text + from, n, w->lower);
        add_chunk(w, builder, text + from, text + len, count);
    }
    flush(w, builder);
}

SP_CLONES static void split_folded(struct sp_words *w, const char *text, size_t len,
                                   struct sp_builder *builder)
{
    SP_ASSERT(text || len == 0);
    if (w->sentences)
        split_into_sentences(w, text, len, builder);
    else
        split_plain(w, text, len, builder);
}

void sp_words_split(struct sp_words *w, struct sp_view text, struct sp_builder *builder)
{
    size_t ascii = sp_scan_kernel()->ascii(text.data, text.len);
    if (ascii == text.len) {
        split_folded(w, text.data, text.len, builder);
        return;
    }
    sp_buf_reset(&w->folded);
    sp_fold_text(w->fold, text, &w->folded);
    split_folded(w, w->folded.data, w->folded.len, builder);
}
