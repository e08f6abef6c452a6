/* See builder.h. The builder keeps all word hashes of the page in one array and computes the
 * signature from it in a few passes at the end.
 *
 * Source: Zhu et al., WWW 2012, section 4.1 (length vector, padding); Broder 1997 (bottom-k). */
#include "page/builder.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "page/features.h"
#include "page/shingles.h"

struct sp_builder {
    struct sp_signature_options options;
    uint32_t params;
    uint64_t *words; /* word_count, and room for the padding */
    size_t word_count;
    size_t word_cap;
    uint32_t *shingles; /* word_cap */
    uint32_t *scratch;  /* sp_shingles_table(word_cap) */
    uint32_t *sentences;
    uint32_t sentence_count;
    uint32_t sentence_cap;
    size_t sentence_start;
    struct sp_buf stems; /* of the current sentence */
    uint32_t salt;       /* of the page's language, or 0 */
    bool repeats;        /* the page before had a shingle twice */
};

/* Replaces the words after the end of the text. */
static const uint64_t padding = 0x5bd1e9955bd1e995ull;

static uint32_t params_of(const struct sp_signature_options *o)
{
    uint32_t dictionary = o->dictionary ? o->dictionary->fingerprint : 0;
    uint32_t fields[] = {SP_SIGNATURE_VERSION, SP_SHINGLE_WORDS, o->max_shingles, o->max_sentences,
                         o->text_scope,        dictionary,       o->repeats};
    uint64_t hash = sp_hash64(fields, sizeof fields);
    if (o->method != SP_METHOD_SHINGLES)
        hash = sp_mix64(hash + o->method);
    if (o->sentence_hash == SP_SENTENCE_CRC32)
        hash = sp_mix64(hash + SP_METHOD_COUNT);
    if (o->languages_apart)
        hash = sp_mix64(hash + SP_METHOD_COUNT + 1);
    return (uint32_t)hash;
}

struct sp_builder *sp_builder_new(const struct sp_signature_options *options)
{
    struct sp_builder *b = sp_calloc(1, sizeof *b);
    b->options = *options;
    b->params = params_of(options);
    return b;
}

void sp_builder_free(struct sp_builder *b)
{
    if (!b)
        return;
    sp_free(b->words);
    sp_free(b->shingles);
    sp_free(b->scratch);
    sp_free(b->sentences);
    sp_buf_done(&b->stems);
    sp_free(b);
}

void sp_builder_begin(struct sp_builder *b)
{
    b->word_count = 0;
    b->sentence_count = 0;
    b->sentence_start = 0;
    sp_buf_reset(&b->stems);
}

static void reserve(struct sp_builder *b, size_t words)
{
    if (words <= b->word_cap)
        return;
    b->word_cap = words < 1024 ? 1024 : words * 2;
    b->words = sp_realloc(b->words, (b->word_cap + SP_SHINGLE_WORDS) * sizeof *b->words);
    /* Only `words` holds data here, so the others need not be copied. */
    sp_free(b->shingles);
    sp_free(b->scratch);
    b->shingles = sp_alloc(b->word_cap * sizeof *b->shingles);
    b->scratch = sp_alloc(sp_shingles_table(b->word_cap) * sizeof *b->scratch);
}

void sp_builder_words(struct sp_builder *b, const uint64_t *hashes, size_t count)
{
    if (count == 0)
        return; /* the array may not be allocated yet */
    reserve(b, b->word_count + count);
    memcpy(b->words + b->word_count, hashes, count * sizeof *hashes);
    b->word_count += count;
}

void sp_builder_stem(struct sp_builder *b, uint64_t stem)
{
    sp_buf_put_u64(&b->stems, stem);
}

static void add_sentence(struct sp_builder *b, struct sp_view words)
{
    sp_grow(&b->sentences, &b->sentence_cap, b->sentence_count + 1);
    b->sentences[b->sentence_count++] =
        b->options.sentence_hash == SP_SENTENCE_CRC32
            ? (uint32_t)crc32_z(0, (const Bytef *)words.data, words.len)
            : (uint32_t)sp_hash64(words.data, words.len);
}

size_t sp_builder_word_count(const struct sp_builder *b)
{
    return b->word_count;
}

void sp_builder_sentence_end(struct sp_builder *b)
{
    size_t count = b->word_count - b->sentence_start;
    if (b->options.method == SP_METHOD_SENTENCES) {
        if (b->stems.len)
            add_sentence(b, sp_buf_view(&b->stems));
        sp_buf_reset(&b->stems);
    } else if (count > 0 && b->sentence_count < b->options.max_sentences) {
        add_sentence(b, sp_view(b->words + b->sentence_start, count * sizeof *b->words));
    }
    b->sentence_start = b->word_count;
}

/* Fills b->shingles with all shingles in the page's order; returns their number. */
static size_t hash_shingles(struct sp_builder *b)
{
    size_t n = b->word_count;
    for (size_t i = 0; i < SP_SHINGLE_WORDS - 1; i++)
        b->words[n + i] = padding;
    /* The padding makes |A| the number of words. If shingles count once, |A| is the number of
     * distinct ones, and only a page shorter than a shingle needs padding. */
    if (b->options.repeats == SP_REPEATS_ONCE && n >= SP_SHINGLE_WORDS)
        n -= SP_SHINGLE_WORDS - 1;
    else if (b->options.repeats == SP_REPEATS_ONCE && n > 0)
        n = 1;
    sp_shingles_hash(b->words, n, b->shingles);
    for (size_t i = 0; b->salt && i < n; i++)
        b->shingles[i] ^= b->salt;
    return n;
}

static bool has_repeats(const uint32_t *sorted, size_t count)
{
    size_t repeats = 0;
    for (size_t i = 1; i < count; i++)
        repeats += sorted[i] == sorted[i - 1];
    return repeats > 0;
}

/* Keeps each of the n shingles once, and sorts them; returns their number. If sorting shows that no
 * shingle occurs twice, the slower removal of repeats is not needed. Most pages of a crawl are
 * alike in this, so sorting is tried first unless the last page had repeats. */
static size_t make_distinct(struct sp_builder *b, size_t n, uint32_t ret_length[SP_DIMS])
{
    const struct sp_dictionary *dictionary = b->options.dictionary;
    if (!b->repeats) {
        sp_shingles_sort(b->shingles, b->scratch, n);
        if (!has_repeats(b->shingles, n)) {
            sp_shingles_lengths(b->words, n, dictionary, ret_length);
            return n;
        }
        hash_shingles(b);
    }
    size_t kept = sp_shingles_once(b->words, b->shingles, n, b->scratch, dictionary, ret_length);
    b->repeats = kept < n;
    sp_shingles_sort(b->shingles, b->scratch, kept);
    return kept;
}

/* Fills b->shingles with the sorted shingles; returns |A|. */
static size_t make_shingles(struct sp_builder *b, uint32_t ret_length[SP_DIMS])
{
    size_t n = hash_shingles(b);
    if (b->options.repeats == SP_REPEATS_ONCE) {
        n = make_distinct(b, n, ret_length);
    } else {
        sp_shingles_lengths(b->words, n, b->options.dictionary, ret_length);
        sp_shingles_sort(b->shingles, b->scratch, n);
        sp_shingles_label(b->shingles, b->scratch, n);
    }
    return n;
}

/* ---- one function for each kind of signature: its hashes, sequence, lengths and total ---- */

/* `hashes` may be NULL if there are none. */
static void put_hashes(uint32_t *to, const uint32_t *hashes, size_t count)
{
    if (count)
        memcpy(to, hashes, count * sizeof *hashes);
}

static bool has_shingles(const struct sp_builder *b)
{
    return b->options.method == SP_METHOD_SHINGLES || b->options.method == SP_METHOD_COMBINED;
}

/* The words of the only shingle: a text that repeats one word has one, however long it is. */
static struct sp_view single_shingle(const struct sp_builder *b)
{
    size_t count = b->word_count < SP_SHINGLE_WORDS ? b->word_count : SP_SHINGLE_WORDS;
    return sp_view(b->words, count * sizeof *b->words);
}

/* Texts of the same single shingle are one content (content_hash), so their sentences are equal. */
static void keep_one_sentence(struct sp_builder *b)
{
    b->sentence_count = 0;
    if (b->options.max_sentences > 0)
        add_sentence(b, single_shingle(b));
}

static struct sp_signature *finish_shingles(struct sp_builder *b)
{
    uint32_t length[SP_DIMS];
    reserve(b, 1);
    size_t total = make_shingles(b, length);
    uint32_t kept = total < b->options.max_shingles ? (uint32_t)total : b->options.max_shingles;
    if (total == 1)
        keep_one_sentence(b);
    struct sp_signature *s = sp_signature_alloc(kept, b->sentence_count);
    memcpy(s->length, length, sizeof length);
    s->shingle_total = (uint32_t)total;
    memcpy(s->hashes, b->shingles, 4ull * kept);
    put_hashes(s->hashes + kept, b->sentences, b->sentence_count);
    return s;
}

static void set_total(struct sp_signature *s, size_t total)
{
    memset(s->length, 0, sizeof s->length);
    s->length[0] = s->shingle_total = (uint32_t)total;
}

/* The page's distinct words; the caller frees them. */
static struct sp_term *make_terms(const struct sp_builder *b, size_t *ret_count)
{
    uint64_t *words = sp_memdup(b->words, b->word_count * sizeof *words);
    struct sp_term *terms = sp_alloc((b->word_count + 1) * sizeof *terms);
    *ret_count = sp_features_terms(words, b->word_count, terms);
    sp_free(words);
    return terms;
}

static struct sp_signature *finish_simhash(struct sp_builder *b)
{
    size_t total;
    struct sp_term *terms = make_terms(b, &total);
    struct sp_signature *s = sp_signature_alloc(0, SP_SIMHASH_WORDS);
    uint64_t bits = sp_features_simhash(terms, total);
    s->hashes[0] = (uint32_t)bits;
    s->hashes[1] = (uint32_t)(bits >> 32);
    set_total(s, total);
    sp_free(terms);
    return s;
}

static struct sp_signature *finish_terms(struct sp_builder *b)
{
    size_t total;
    struct sp_term *terms = make_terms(b, &total);
    uint32_t kept = total < b->options.max_shingles ? (uint32_t)total : b->options.max_shingles;
    struct sp_signature *s = sp_signature_alloc(kept, SP_SIGN_WORDS + kept);
    sp_features_signs(terms, total, s->hashes + kept);
    for (uint32_t i = 0; i < kept; i++) {
        s->hashes[i] = (uint32_t)(terms[i].word >> 32);
        s->hashes[kept + SP_SIGN_WORDS + i] = terms[i].count;
    }
    set_total(s, total);
    sp_free(terms);
    return s;
}

/* The set of sentences: sorted, each once, the smallest kept. */
static struct sp_signature *finish_sentence_set(struct sp_builder *b)
{
    uint32_t total = 0;
    if (b->sentence_count)
        qsort(b->sentences, b->sentence_count, sizeof *b->sentences, sp_by_u32);
    for (uint32_t i = 0; i < b->sentence_count; i++)
        if (i == 0 || b->sentences[i] != b->sentences[total - 1])
            b->sentences[total++] = b->sentences[i];
    b->sentence_count = total;
    uint32_t kept = total < b->options.max_sentences ? total : b->options.max_sentences;
    struct sp_signature *s = sp_signature_alloc(kept, 0);
    put_hashes(s->hashes, b->sentences, kept);
    memset(s->length, 0, sizeof s->length);
    for (uint32_t i = 0; i < total; i++)
        s->length[b->sentences[i] % SP_DIMS]++;
    s->shingle_total = total;
    return s;
}

static struct sp_signature *finish_sentences(struct sp_builder *b)
{
    uint32_t count = b->sentence_count;
    struct sp_signature *s = sp_signature_alloc(count, count);
    put_hashes(s->hashes, b->sentences, count);
    sp_features_occurrences(s->hashes, count);
    put_hashes(s->hashes + count, b->sentences, count);
    set_total(s, count);
    return s;
}

/* Equal contents share one stored signature, so the hash covers everything that a signature is made
 * of: the words and, if sentences are kept, their ends and stems. Two texts of one shingle each are
 * compared by it (similarity.h), so there it covers this shingle only. */
static struct sp_id content_hash(const struct sp_builder *b, uint32_t total)
{
    if (total == 1 && has_shingles(b)) {
        struct sp_view shingle = single_shingle(b);
        return sp_hash128(shingle.data, shingle.len);
    }
    struct sp_id words = sp_hash128(b->words, b->word_count * sizeof *b->words);
    switch (b->options.method) {
    case SP_METHOD_SENTENCES:
    case SP_METHOD_LCS:
    case SP_METHOD_COMBINED:
        break;
    case SP_METHOD_SHINGLES:
        if (b->options.max_sentences > 0)
            break;
        return words;
    case SP_METHOD_SIMHASH:
    case SP_METHOD_COSINE:
    case SP_METHOD_COUNT:
        return words;
    }
    struct sp_id both[2] = {words, sp_hash128(b->sentences, 4ull * b->sentence_count)};
    return sp_hash128(both, sizeof both);
}

struct sp_signature *sp_builder_finish(struct sp_builder *b, uint16_t language)
{
    static struct sp_signature *(*const finish[])(struct sp_builder *) = {
        [SP_METHOD_SHINGLES] = finish_shingles,      [SP_METHOD_SIMHASH] = finish_simhash,
        [SP_METHOD_COSINE] = finish_terms,           [SP_METHOD_LCS] = finish_sentences,
        [SP_METHOD_SENTENCES] = finish_sentence_set, [SP_METHOD_COMBINED] = finish_shingles,
    };
    _Static_assert(sizeof finish / sizeof *finish == SP_METHOD_COUNT, "a method is missing");
    sp_builder_sentence_end(b);
    b->salt = b->options.languages_apart ? (uint32_t)sp_mix64(language) : 0;
    struct sp_signature *s = finish[b->options.method](b);
    s->params = b->params;
    s->content_hash = content_hash(b, s->shingle_total);
    /* Two pages with equal words may declare different languages. */
    s->content_hash.lo ^= b->options.languages_apart ? sp_mix64(language) : 0;
    s->language = language;
    return s;
}

size_t sp_builder_first_words(struct sp_builder *b, uint64_t **ret_words)
{
    reserve(b, 1);
    size_t n = hash_shingles(b);
    if (b->options.repeats == SP_REPEATS_ONCE)
        n = sp_shingles_first_words(b->words, b->shingles, n, b->scratch);
    *ret_words = b->words;
    return n;
}
