/* Sentence signatures against a direct computation on random texts, and the edits that they
 * tolerate. */
#include <libstemmer.h>
#include <stdlib.h>

#include "base/order.h"
#include "similarity/similarity.h"
#include "text/stems.h"
#include "text/words.h"
#include "text_helper.h"

enum { KEPT = 20, SENTENCES_MAX = 64 };

static struct sp_text *sentence_text(uint32_t kept)
{
    struct sp_text_options options;
    sp_text_options_default(&options);
    options.signature.method = SP_METHOD_SENTENCES;
    options.signature.max_sentences = kept;
    return sp_text_new(&options);
}

static struct sp_signature *sign(struct sp_text *t, const char *text)
{
    return sp_text_signature(t, sp_view_str("text/plain"), sp_view_str(text), true);
}

static double similarity(const char *a, const char *b)
{
    struct sp_text *t = sentence_text(KEPT);
    struct sp_signature *x = sign(t, a), *y = sign(t, b);
    double j = sp_jaccard(x, y);
    CU_ASSERT_EQUAL(j, sp_jaccard(y, x));
    sp_signature_unref(x);
    sp_signature_unref(y);
    sp_text_free(t);
    return j;
}

/* ---- the direct computation, for lower-case ASCII in English ---- */

static uint32_t by_definition(const char *text, uint32_t *ret_hashes)
{
    struct sb_stemmer *english = sb_stemmer_new("english", "UTF_8");
    uint64_t stems[64];
    uint32_t count = 0, distinct = 0;
    size_t in_sentence = 0;
    for (const char *p = text;; p++) {
        size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyz");
        if (n > 3) {
            const void *stem = sb_stemmer_stem(english, (const sb_symbol *)p, (int)n);
            stems[in_sentence++] = sp_hash64(stem, (size_t)sb_stemmer_length(english)) | 1;
        }
        p += n;
        if ((*p == '.' || *p == 0) && in_sentence) {
            ret_hashes[count++] = (uint32_t)sp_hash64(stems, in_sentence * sizeof *stems);
            in_sentence = 0;
        }
        if (*p == 0)
            break;
    }
    sb_stemmer_delete(english);
    qsort(ret_hashes, count, sizeof *ret_hashes, sp_by_u32);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || ret_hashes[i] != ret_hashes[i - 1])
            ret_hashes[distinct++] = ret_hashes[i];
    return distinct;
}

static void random_text(uint64_t *state, struct sp_buf *out)
{
    static const char *const words[] = {"the ",     "running ", "dogs ",    "of ",       "were ",
                                        "houses ",  "nobody ",  "painted ", "painting ", "quickly ",
                                        "because ", "an ",      "evening ", "lights "};
    sp_buf_reset(out);
    sp_buf_put_str(out, "this is the beginning of an english text about the people who lived "
                        "there and what they did in their houses. ");
    uint64_t sentences = next_random(state) % (SENTENCES_MAX - 2);
    for (uint64_t i = 0; i < sentences; i++) {
        uint64_t n = next_random(state) % 6;
        for (uint64_t k = 0; k < n; k++)
            sp_buf_put_str(out, words[next_random(state) % 14]);
        sp_buf_put_str(out, ". ");
    }
    sp_buf_put_u8(out, 0);
}

TEST(a_sentence_signature_is_that_of_the_definition)
{
    struct sp_buf text = {0};
    struct sp_text *t = sentence_text(KEPT);
    uint64_t state = 5;
    unsigned capped = 0;
    for (int round = 0; round < 500; round++) {
        uint32_t want[SENTENCES_MAX];
        random_text(&state, &text);
        struct sp_signature *s = sign(t, text.data);
        uint32_t total = by_definition(text.data, want), kept = total < KEPT ? total : KEPT;
        CU_ASSERT_EQUAL(s->language, 0x656e);
        CU_ASSERT_EQUAL(s->shingle_total, total);
        CU_ASSERT_EQUAL_FATAL(s->shingle_count, kept);
        CU_ASSERT_EQUAL(memcmp(sp_signature_shingles(s), want, 4ull * kept), 0);
        capped += total > KEPT;
        sp_signature_unref(s);
    }
    CU_ASSERT(capped > 100);
    sp_buf_done(&text);
    sp_text_free(t);
}

#define BEGIN                                                                                      \
    "The committee published its report about the river on Monday morning in the capital. "

TEST(edits_of_short_words_and_endings_change_no_sentence)
{
    CU_ASSERT_EQUAL(similarity(BEGIN "The lions were painting in the houses.",
                               BEGIN "A lion, were PAINTED by the house!"),
                    1);
    CU_ASSERT_EQUAL(similarity(BEGIN "Nobody painted.", "Nobody painted. " BEGIN), 1);
    CU_ASSERT_EQUAL(similarity(BEGIN "Nobody painted.", BEGIN "Somebody painted."), 1.0 / 3);
    CU_ASSERT_EQUAL(similarity(BEGIN, ""), 0);
    CU_ASSERT_EQUAL(similarity("", ""), 0);
    CU_ASSERT_EQUAL(similarity("It is he.", "It is he."), 0); /* only short words */
}

TEST(equal_words_in_other_sentences_are_another_content)
{
    struct sp_text *t = sentence_text(KEPT);
    struct sp_signature *a = sign(t, BEGIN "Nobody painted. Houses"),
                        *b = sign(t, BEGIN "Nobody. Painted houses"),
                        *c = sign(t, BEGIN "Nobody painted! Houses");
    CU_ASSERT(!sp_id_eq(a->content_hash, b->content_hash));
    CU_ASSERT(sp_id_eq(a->content_hash, c->content_hash));
    sp_signature_unref(a);
    sp_signature_unref(b);
    sp_signature_unref(c);
    sp_text_free(t);
}

/* So many line ends that other words would be in the sample of which the language is detected. */
#define TEN_LINES "\n\n\n\n\n\n\n\n\n\n"
#define LINES                                                                                      \
    "the people who lived there in the houses" TEN_LINES TEN_LINES TEN_LINES TEN_LINES TEN_LINES

TEST(a_text_has_the_same_sentences_with_other_line_ends)
{
    static const char *const texts[] = {BEGIN "Nobody painted\n\nHouses were\nblue\n\n\nRivers\n",
                                        "\n\nNobody\n\nPainted", "Nobody\n \nPainted\n\n",
                                        LINES "der schnelle Fuchs springt über den faulen Hund, "
                                              "und niemand im Dorf erinnert sich daran"};
    struct sp_buf crlf = {0};
    struct sp_text *t = sentence_text(KEPT);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sp_buf_reset(&crlf);
        for (const char *c = texts[i]; *c; c++)
            sp_buf_put_str(&crlf, *c == '\n' ? "\r\n" : (char[]){*c, 0});
        sp_buf_put_u8(&crlf, 0);
        struct sp_signature *a = sign(t, texts[i]), *b = sign(t, crlf.data);
        CU_ASSERT(sp_id_eq(a->content_hash, b->content_hash));
        CU_ASSERT_EQUAL(a->shingle_total, b->shingle_total);
        CU_ASSERT_EQUAL(a->language, b->language);
        sp_signature_unref(a);
        sp_signature_unref(b);
    }
    sp_buf_done(&crlf);
    sp_text_free(t);
}

/* ---- stems ---- */

static uint64_t stem_of(struct sp_stems *s, const char *word)
{
    uint64_t stem = 0;
    struct sp_view view = sp_view_str(word);
    return sp_stems_hash(s, view, sp_words_hash(view), &stem) ? stem : 0;
}

TEST(stems_are_those_of_the_language)
{
    struct sp_stems *s = sp_stems_new();
    for (int pass = 0; pass < 2; pass++) { /* the second pass reads the cache */
        sp_stems_language(s, 0x656e);
        CU_ASSERT_EQUAL(stem_of(s, "running"), stem_of(s, "RUNS"));
        CU_ASSERT_NOT_EQUAL(stem_of(s, "running"), 0);
        sp_stems_language(s, 0x6465); /* German */
        CU_ASSERT_EQUAL(stem_of(s, "Hausern"), stem_of(s, "hauser"));
        CU_ASSERT_NOT_EQUAL(stem_of(s, "running"), stem_of(s, "runner"));
        sp_stems_language(s, 0x6672); /* French, normalised: e + U+0301 */
        CU_ASSERT_EQUAL(stem_of(s, "pre\xcc\x81"
                                   "fe\xcc\x81re\xcc\x81"
                                   "es"),
                        stem_of(s, "pr\xc3\xa9"
                                   "f\xc3\xa9r\xc3\xa9"));
        sp_stems_language(s, 0);
        CU_ASSERT_NOT_EQUAL(stem_of(s, "running"), stem_of(s, "runs"));
        sp_stems_language(s, 0x7a7a); /* an unknown language */
        CU_ASSERT_EQUAL(stem_of(s, "Running"), stem_of(s, "running"));
    }
    sp_stems_free(s);
    sp_stems_free(NULL);
}

TEST(short_words_are_dropped_but_numbers_and_characters_count)
{
    struct sp_stems *s = sp_stems_new();
    char longest[200];
    memset(longest, 'x', sizeof longest);
    longest[199] = 0;
    CU_ASSERT_EQUAL(stem_of(s, "the"), 0);
    CU_ASSERT_EQUAL(stem_of(s, "\xd0\xb8\xd0\xb7"), 0); /* из */
    CU_ASSERT_NOT_EQUAL(stem_of(s, "v2"), 0);
    CU_ASSERT_NOT_EQUAL(stem_of(s, "\xe6\x96\x87"), 0); /* 文 */
    CU_ASSERT_NOT_EQUAL(stem_of(s, longest), 0);
    CU_ASSERT_NOT_EQUAL(stem_of(s, "\xff\xfe\xff\xfe"), 0); /* not UTF-8 */
    sp_stems_free(s);
}
