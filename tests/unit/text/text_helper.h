/* Helpers of the text module's tests: content to text, content to signature, a generator of random
 * bytes. Results are valid until the next call. */
#ifndef SP_TEST_TEXT_HELPER_H
#define SP_TEST_TEXT_HELPER_H

#include "harness.h"
#include "text/text.h"

static struct sp_buf helper_out;

static inline struct sp_text *helper_text(enum sp_text_scope scope, uint32_t max_sentences)
{
    struct sp_text_options options;
    sp_text_options_default(&options);
    options.scope = scope;
    options.signature.max_sentences = max_sentences;
    options.signature.repeats = SP_REPEATS_LABELLED; /* makes |A| the number of words */
    return sp_text_new(&options);
}

static inline const char *helper_extract(enum sp_text_scope scope, const char *type,
                                         struct sp_view content, bool is_utf8)
{
    struct sp_text *t = helper_text(scope, 0);
    sp_buf_reset(&helper_out);
    sp_text_extract(t, sp_view_str(type), content, is_utf8, &helper_out);
    sp_buf_put_u8(&helper_out, 0);
    sp_text_free(t);
    return helper_out.data;
}

static inline const char *all_of_html(const char *html)
{
    return helper_extract(SP_TEXT_ALL, "text/html", sp_view_str(html), true);
}

static inline const char *main_of_html(const char *html)
{
    return helper_extract(SP_TEXT_MAIN, "text/html", sp_view_str(html), true);
}

/* Content that may contain zero bytes: a string literal. */
#define BYTES(literal) sp_view(literal, sizeof(literal) - 1)

static inline struct sp_signature *helper_signature(const char *type, struct sp_view content,
                                                    bool is_utf8)
{
    struct sp_text *t = helper_text(SP_TEXT_MAIN, 0);
    struct sp_signature *s = sp_text_signature(t, sp_view_str(type), content, is_utf8);
    sp_text_free(t);
    return s;
}

/* Whether two plain texts have the same words. */
static inline bool same_words(const char *a, const char *b)
{
    struct sp_signature *x = helper_signature("text/plain", sp_view_str(a), true);
    struct sp_signature *y = helper_signature("text/plain", sp_view_str(b), true);
    bool same = sp_id_eq(x->content_hash, y->content_hash);
    sp_signature_unref(x);
    sp_signature_unref(y);
    return same;
}

static inline uint32_t word_count(const char *text)
{
    struct sp_signature *s = helper_signature("text/plain", sp_view_str(text), true);
    uint32_t count = s->shingle_total;
    sp_signature_unref(s);
    return count;
}

static inline uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15ull;
    return sp_mix64(*state);
}

#endif
