/* Signatures of texts that were signed before are those that a text module which knows nothing
 * makes. */
#include <string.h>

#include "text/recent.h"
#include "text_helper.h"

static struct sp_id random_id(uint64_t *state)
{
    return (struct sp_id){next_random(state), next_random(state)};
}

/* A signature that the number determines. */
static struct sp_signature *numbered(uint32_t number, uint32_t shingles)
{
    struct sp_signature *s = sp_signature_alloc(shingles, 2);
    *s = (struct sp_signature){.refs = 1,
                               .params = number,
                               .shingle_total = shingles,
                               .shingle_count = shingles,
                               .sentence_count = 2};
    for (uint32_t i = 0; i < shingles + 2; i++)
        s->hashes[i] = number + i;
    return s;
}

static bool same_signature(const struct sp_signature *a, const struct sp_signature *b)
{
    struct sp_buf x = {0}, y = {0};
    sp_signature_encode(a, &x);
    sp_signature_encode(b, &y);
    bool same = sp_view_eq(sp_buf_view(&x), sp_buf_view(&y));
    sp_buf_done(&x);
    sp_buf_done(&y);
    return same;
}

/* Looks the text up, and adds its signature if it is not known. Returns whether it was. */
static bool is_known(struct sp_recent *r, struct sp_id text, uint32_t number, uint32_t shingles)
{
    uint32_t words = 0;
    struct sp_signature *made = numbered(number, shingles);
    struct sp_signature *found = sp_recent_find(r, text, &words);
    if (found) {
        CU_ASSERT_TRUE(same_signature(found, made));
        CU_ASSERT_EQUAL(found->refs, 1);
        CU_ASSERT_EQUAL(words, number);
    } else {
        sp_recent_add(r, text, made, number);
    }
    bool known = found != NULL;
    sp_signature_unref(found);
    sp_signature_unref(made);
    return known;
}

TEST(signatures_are_copied_while_texts_repeat)
{
    struct sp_recent *r = sp_recent_new();
    uint64_t state = 1;
    struct sp_id first = random_id(&state), text = first;
    CU_ASSERT_FALSE(is_known(r, first, 1, 10));
    CU_ASSERT_FALSE(is_known(r, first, 1, 10)); /* the first repetition: nothing was copied yet */
    CU_ASSERT_TRUE(is_known(r, first, 1, 10));
    unsigned copied = 0;
    for (uint32_t i = 2; i < 1000; i++) {
        text = random_id(&state);
        CU_ASSERT_FALSE(is_known(r, text, i, 10));
        struct sp_signature *found = sp_recent_find(r, text, &(uint32_t){0});
        copied += found != NULL;
        sp_signature_unref(found);
        if (!found)
            break;
    }
    CU_ASSERT_TRUE(copied > 900); /* each repetition pays for others */
    for (uint32_t i = 0; i < 100000; i++)
        CU_ASSERT_FALSE(is_known(r, random_id(&state), i, 10));
    CU_ASSERT_FALSE(is_known(r, text = random_id(&state), 5, 10));
    CU_ASSERT_FALSE(is_known(r, text, 5, 10)); /* no repetition for long: not copied */
    sp_recent_free(r);
}

/* Many more bytes than are kept, of all sizes, and some that are too large. */
TEST(what_is_found_is_what_was_added)
{
    enum { TEXTS = 2000 };
    struct sp_recent *r = sp_recent_new();
    struct sp_id *texts = sp_alloc(TEXTS * sizeof *texts);
    uint64_t state = 2, known = 0, large = 0;
    for (size_t i = 0; i < TEXTS; i++)
        texts[i] = random_id(&state);
    for (unsigned round = 0; round < 40000; round++) {
        uint32_t i = (uint32_t)(next_random(&state) % (round % 2 ? TEXTS : 100));
        uint32_t shingles = i % 50 ? (i * 7919) % 2000 : 30000 + i;
        bool found = is_known(r, texts[i], i, shingles);
        known += found;
        large += found && shingles >= 30000;
    }
    CU_ASSERT_TRUE(known > 15000 && known < 35000);
    CU_ASSERT_EQUAL(large, 0);
    sp_recent_free(r);
    sp_free(texts);
}

static void put_words(uint64_t *state, struct sp_buf *out)
{
    static const char *const words[] = {"alpha ", "beta. ", "gamma ",  "delta ",    "the ",
                                        "of ",    "and! ",  "Straße ", "été, \n\n", "日本 "};
    for (uint64_t n = next_random(state) % 60; n > 0; n--)
        sp_buf_put_str(out, words[next_random(state) % (sizeof words / sizeof *words)]);
}

/* One of a few texts, in markup that differs from page to page. */
static void put_page(uint64_t *state, struct sp_buf *out)
{
    uint64_t text = next_random(state) % 40;
    char note[64];
    snprintf(note, sizeof note, "<!-- %llu --><title>", (unsigned long long)next_random(state));
    sp_buf_put_str(out, note);
    put_words(&(uint64_t){text % 7}, out);
    sp_buf_put_str(out, "</title><p>");
    put_words(&(uint64_t){text % 10}, out);
    sp_buf_put_str(out, next_random(state) % 2 ? "<nav><a href=\"x\">menu</a></nav><p>" : "<p>");
    put_words(&(uint64_t){text % 8}, out);
    sp_buf_put_str(out, text % 3 ? "</p><p>" : " ");
    put_words(&(uint64_t){text}, out);
}

static void check_page(struct sp_text *knowing, const struct sp_text_options *options,
                       const char *type, struct sp_view page)
{
    struct sp_text *fresh = sp_text_new(options);
    struct sp_signature *a = sp_text_signature(knowing, sp_view_str(type), page, true);
    struct sp_signature *b = sp_text_signature(fresh, sp_view_str(type), page, true);
    struct sp_buf x = {0}, y = {0};
    uint64_t *known, *made;
    CU_ASSERT_TRUE(same_signature(a, b));
    CU_ASSERT_EQUAL(sp_text_word_count(knowing), sp_text_word_count(fresh));
    sp_text_title(knowing, &x);
    sp_text_title(fresh, &y);
    CU_ASSERT_TRUE(sp_view_eq(sp_buf_view(&x), sp_buf_view(&y)));
    size_t count = sp_text_first_words(fresh, &made);
    CU_ASSERT_EQUAL_FATAL(sp_text_first_words(knowing, &known), count);
    CU_ASSERT_TRUE(count == 0 || memcmp(known, made, count * sizeof *made) == 0);
    sp_signature_unref(a);
    sp_signature_unref(b);
    sp_buf_done(&x);
    sp_buf_done(&y);
    sp_text_free(fresh);
}

TEST(what_was_signed_before_does_not_change_a_signature)
{
    static const char *const types[] = {"text/html", "text/markdown", "text/plain"};
    for (unsigned choice = 0; choice < 16; choice++) {
        struct sp_text_options options;
        struct sp_buf page = {0};
        uint64_t state = choice;
        sp_text_options_default(&options);
        options.scope = choice & 1 ? SP_TEXT_ALL : SP_TEXT_MAIN;
        options.signature.max_sentences = choice & 2 ? 20 : 0;
        options.signature.languages_apart = choice & 4;
        options.signature.method = choice == 8 || choice == 12 ? SP_METHOD_SENTENCES
                                   : choice & 8                ? SP_METHOD_COMBINED
                                                               : SP_METHOD_SHINGLES;
        struct sp_text *knowing = sp_text_new(&options);
        for (int i = 0; i < 60; i++) {
            sp_buf_reset(&page);
            put_page(&state, &page);
            check_page(knowing, &options, types[next_random(&state) % 3], sp_buf_view(&page));
        }
        sp_text_free(knowing);
        sp_buf_done(&page);
    }
}
