/* Words to signature: see builder.h. The page's word hashes are kept until the end, in one array;
 * everything is then computed from it in a few passes.
 *
 * Source: Zhu et al., WWW 2012, section 4.1 (length vector, padding); Broder 1997 (bottom-k). */
#include "signature/builder.h"

#include "base/mem.h"
#include "signature/shingles.h"

struct sp_builder {
    struct sp_signature_options options;
    uint32_t params;
    uint64_t *words; /* word_count, and room for the padding */
    size_t word_count;
    size_t word_cap;
    uint32_t *shingles;  /* word_cap */
    uint32_t *scratch;   /* sp_shingles_table(word_cap) */
    uint32_t *sentences; /* of max_sentences */
    uint32_t sentence_count;
    size_t sentence_start;
};

/* Stands for the words that the text does not have. */
static const uint64_t padding = 0x5bd1e9955bd1e995ull;

uint32_t sp_signature_params(const struct sp_signature_options *o)
{
    uint32_t fields[] = {SP_SIGNATURE_VERSION, SP_SHINGLE_WORDS, o->max_shingles, o->max_sentences,
                         o->text_scope,        o->dictionary,    o->repeats};
    return (uint32_t)sp_hash64(fields, sizeof fields);
}

struct sp_builder *sp_builder_new(const struct sp_signature_options *options)
{
    struct sp_builder *b = sp_calloc(1, sizeof *b);
    b->options = *options;
    b->params = sp_signature_params(options);
    b->sentences = sp_alloc(4ull * options->max_sentences + 4);
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
    sp_free(b);
}

void sp_builder_begin(struct sp_builder *b)
{
    b->word_count = 0;
    b->sentence_count = 0;
    b->sentence_start = 0;
}

static void reserve(struct sp_builder *b, size_t words)
{
    if (words <= b->word_cap)
        return;
    b->word_cap = words < 1024 ? 1024 : words * 2;
    b->words = sp_realloc(b->words, (b->word_cap + SP_SHINGLE_WORDS) * sizeof *b->words);
    /* Only `words` holds something between pages. */
    sp_free(b->shingles);
    sp_free(b->scratch);
    b->shingles = sp_alloc(b->word_cap * sizeof *b->shingles);
    b->scratch = sp_alloc(sp_shingles_table(b->word_cap) * sizeof *b->scratch);
}

void sp_builder_words(struct sp_builder *b, const uint64_t *hashes, size_t count)
{
    if (count == 0)
        return; /* perhaps before there is memory */
    reserve(b, b->word_count + count);
    memcpy(b->words + b->word_count, hashes, count * sizeof *hashes);
    b->word_count += count;
}

void sp_builder_sentence_end(struct sp_builder *b)
{
    size_t count = b->word_count - b->sentence_start;
    if (count > 0 && b->sentence_count < b->options.max_sentences)
        b->sentences[b->sentence_count++] =
            (uint32_t)sp_hash64(b->words + b->sentence_start, count * sizeof *b->words);
    b->sentence_start = b->word_count;
}

/* Sorted shingles in b->shingles; returns |A|. */
static size_t make_shingles(struct sp_builder *b, uint32_t ret_length[SP_DIMS])
{
    size_t n = b->word_count;
    for (size_t i = 0; i < SP_SHINGLE_WORDS - 1; i++)
        b->words[n + i] = padding;
    /* The padding serves |A| = number of words; where shingles count once, |A| is the number of
     * distinct ones, and only a page shorter than a shingle needs it. */
    if (b->options.repeats == SP_REPEATS_ONCE && n >= SP_SHINGLE_WORDS)
        n -= SP_SHINGLE_WORDS - 1;
    else if (b->options.repeats == SP_REPEATS_ONCE && n > 0)
        n = 1;
    sp_shingles_hash(b->words, n, b->shingles);
    if (b->options.repeats == SP_REPEATS_ONCE) {
        n = sp_shingles_once(b->words, b->shingles, n, b->scratch, ret_length);
        sp_shingles_sort(b->shingles, b->scratch, n);
    } else {
        sp_shingles_lengths(b->words, n, ret_length);
        sp_shingles_sort(b->shingles, b->scratch, n);
        sp_shingles_label(b->shingles, b->scratch, n);
    }
    return n;
}

struct sp_signature *sp_builder_finish(struct sp_builder *b, uint16_t language)
{
    uint32_t length[SP_DIMS];
    sp_builder_sentence_end(b);
    reserve(b, 1);
    size_t total = make_shingles(b, length);
    uint32_t kept = total < b->options.max_shingles ? (uint32_t)total : b->options.max_shingles;
    struct sp_signature *s = sp_signature_alloc(kept, b->sentence_count);
    memcpy(s->length, length, sizeof length);
    s->params = b->params;
    s->content_hash = sp_hash128(b->words, b->word_count * sizeof *b->words);
    s->shingle_total = (uint32_t)total;
    s->language = language;
    memcpy(s->hashes, b->shingles, 4ull * kept);
    memcpy(s->hashes + kept, b->sentences, 4ull * b->sentence_count);
    return s;
}
