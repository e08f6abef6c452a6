/* Words in any script, and the kernels against one another. */
#include "text/scan.h"
#include "text/words.h"
#include "text_helper.h"

TEST(words_are_runs_of_letters_digits_and_underscores_in_any_case)
{
    CU_ASSERT_EQUAL(word_count("The quick brown fox, 42 snake_case x1."), 7);
    CU_ASSERT_EQUAL(word_count(""), 0);
    CU_ASSERT_EQUAL(word_count(" .,;:-()[]{}<>@#$%^*+=/\\|~`\"'"), 0);
    CU_ASSERT_TRUE(same_words("The QUICK Brown", "the quick, brown!"));
    CU_ASSERT_FALSE(same_words("ab c", "a bc"));
    CU_ASSERT_FALSE(same_words("a b", "b a"));
    CU_ASSERT_FALSE(same_words("a_b", "a\x7f"
                                      "b"));
    CU_ASSERT_TRUE(same_words("don't", "don\u2019t"));
    CU_ASSERT_TRUE(same_words("don't", "don t"));
}

TEST(words_are_equal_at_every_length_and_place)
{
    /* A word's hash must not depend on its position or on what follows. */
    char text[400];
    for (size_t n = 1; n < 100; n++) {
        char word[100];
        for (size_t i = 0; i < n; i++)
            word[i] = (char)('a' + i % 26);
        uint64_t alone = sp_words_hash(sp_view(word, n));
        for (size_t at = 0; at < 140; at++) {
            memset(text, ' ', sizeof text);
            memcpy(text + at, word, n);
            struct sp_signature *a = helper_signature("text/plain", sp_view(word, n), true);
            struct sp_signature *b = helper_signature("text/plain", sp_view(text, at + n), true);
            struct sp_signature *c =
                helper_signature("text/plain", sp_view(text, at + n + 50), true);
            CU_ASSERT_TRUE(sp_id_eq(a->content_hash, b->content_hash));
            CU_ASSERT_TRUE(sp_id_eq(a->content_hash, c->content_hash));
            sp_signature_unref(a);
            sp_signature_unref(b);
            sp_signature_unref(c);
            at += 12;
        }
        word[n - 1] ^= 1;
        CU_ASSERT_NOT_EQUAL(alone, sp_words_hash(sp_view(word, n)));
        word[0] ^= 2;
        CU_ASSERT_NOT_EQUAL(alone, sp_words_hash(sp_view(word, n)));
    }
}

/* Words of up to three chunks, which begin and end anywhere in a chunk. */
TEST(words_are_the_same_wherever_chunks_end)
{
    static char text[40000];
    struct sp_id first = {0};
    for (size_t at = 0; at < 4200; at = at < 40 || at > 4050 ? at + 1 : at + 33) {
        size_t len = at;
        memset(text, ' ', at);
        for (size_t i = 0; i < 60; i++) {
            size_t n = i == 20 ? 12288 : i == 40 ? 4096 : i == 41 ? 4095 : 1 + i * i % 90;
            memset(text + len, 'a' + (int)(i % 26), n);
            text[len + n] = i % 3 ? ' ' : '.';
            len += n + 1;
        }
        struct sp_signature *s = helper_signature("text/plain", sp_view(text, len - 1), true);
        CU_ASSERT_EQUAL(s->shingle_total, 60);
        first = at ? first : s->content_hash;
        CU_ASSERT_TRUE(sp_id_eq(s->content_hash, first));
        sp_signature_unref(s);
    }
}

TEST(case_and_forms_are_folded)
{
    CU_ASSERT_TRUE(same_words("STRASSE", "Straße"));
    CU_ASSERT_TRUE(same_words("ÉTÉ", "e\u0301te\u0301"));
    CU_ASSERT_TRUE(same_words("ﬁnal", "final"));
    CU_ASSERT_TRUE(same_words("ＡＢＣ１２３", "abc123"));
    CU_ASSERT_TRUE(same_words("ΣΊΣΥΦΟΣ", "σίσυφος"));
    CU_ASSERT_TRUE(same_words("МОСКВА", "москва"));
    CU_ASSERT_TRUE(same_words("İstanbul", "i\u0307stanbul"));
    CU_ASSERT_FALSE(same_words("résumé", "resume"));
    CU_ASSERT_TRUE(same_words("a\u00adb co\u200dop \ufeffx", "ab coop x")); /* invisible */
    CU_ASSERT_TRUE(same_words("a—b…c\u00a0d\u3000e", "a b c d e"));
    CU_ASSERT_FALSE(same_words("x² y", "x y"));
}

TEST(forms_that_unicode_calls_equivalent_are_equal)
{
    CU_ASSERT_TRUE(same_words("Vi\u1ec7t", "Vi\u00ea\u0323t")); /* marks in any order */
    CU_ASSERT_TRUE(same_words("Vi\u1ec7t", "Vie\u0302\u0323t"));
    CU_ASSERT_TRUE(same_words("Vi\u1ec7t", "Vie\u0323\u0302t"));
    CU_ASSERT_FALSE(same_words("e\u0301\u0302", "e\u0302\u0301")); /* of one class: not equal */
    CU_ASSERT_TRUE(same_words("\u03ac\u0345", "\u1fb4"));
    CU_ASSERT_TRUE(same_words("\u05e9\u05bc\u05c1", "\u05e9\u05c1\u05bc"));
    CU_ASSERT_TRUE(same_words("a\u0344\u0323", "a\u0323\u0308\u0301")); /* one that is two */
    CU_ASSERT_TRUE(same_words("\uac00 \uac01", "\u1100\u1161 \u1100\u1161\u11a8")); /* Hangul */
    CU_ASSERT_TRUE(same_words("\uac01", "\uac00\u11a8"));
    CU_ASSERT_FALSE(same_words("\uac00 \u11a8", "\uac01"));
    CU_ASSERT_EQUAL(word_count("\u110b\u1161\u11ab\u1102\u1167\u11bc"), 1);
    CU_ASSERT_TRUE(same_words("\uff76\uff9e\uff8a\uff9f", "\u30ac\u30d1")); /* half-width kana */
    CU_ASSERT_EQUAL(word_count("\uff76\uff9e"), 1);
    CU_ASSERT_TRUE(same_words("a =\u0338 b", "a \u2260 b")); /* a mark on a sign */
    CU_ASSERT_EQUAL(word_count("a \u2764\ufe0f b \u0301 \u8fba\U000e0101"), 3); /* variants */
    CU_ASSERT_TRUE(same_words("\u8fba", "\u8fba\U000e0101"));
}

/* fold.h has the list. */
TEST(forms_that_stay_different)
{
    CU_ASSERT_FALSE(same_words("\u0e19\u0e33", "\u0e19\u0e4d\u0e32")); /* Thai am */
    CU_ASSERT_EQUAL(word_count("a\u2122 b \u338f \u2764"), 2);         /* signs */
    CU_ASSERT_FALSE(same_words("\u00bd", "1\u20442"));                 /* a fraction */
    CU_ASSERT_EQUAL(word_count("\u0140"), 1);                          /* l with a middle dot */
    CU_ASSERT_EQUAL(word_count("l\u00b7"), 1);
    CU_ASSERT_FALSE(same_words("\u0140", "l\u00b7"));
}

TEST(in_scripts_with_spaces_marks_belong_to_their_word)
{
    CU_ASSERT_EQUAL(word_count("नमस्ते दुनिया"), 2); /* vowel signs belong to the word */
    CU_ASSERT_EQUAL(word_count("مرحبا بالعالم، كيف؟"), 3);
    CU_ASSERT_EQUAL(word_count("שלום עולם"), 2);
    CU_ASSERT_EQUAL(word_count("안녕하세요 세계"), 2);
    CU_ASSERT_EQUAL(word_count("Привет, мир"), 2);
}

TEST(in_scripts_without_spaces_each_character_is_a_word)
{
    CU_ASSERT_EQUAL(word_count("日本語です。"), 5);
    CU_ASSERT_EQUAL(word_count("中国 ABC中国x1"), 6);
    CU_ASSERT_TRUE(same_words("中国ABC", "中 国 abc"));
    CU_ASSERT_EQUAL(word_count("สวัสดี"), 4); /* letters, each with its marks */
    CU_ASSERT_TRUE(same_words("ｶﾅ", "カナ"));
    CU_ASSERT_EQUAL(word_count("ភាសាខ្មែរ"), 5);
}

TEST(invalid_bytes_separate_words)
{
    CU_ASSERT_TRUE(same_words("a\xff"
                              "b\xe2\x82 c\xf0",
                              "a b c"));
}

static uint32_t sentence_count(const char *text)
{
    struct sp_text *t = helper_text(SP_TEXT_MAIN, 100);
    struct sp_signature *s =
        sp_text_signature(t, sp_view_str("text/plain"), sp_view_str(text), true);
    uint32_t count = s->sentence_count;
    sp_signature_unref(s);
    sp_text_free(t);
    return count;
}

TEST(sentences_are_counted)
{
    CU_ASSERT_EQUAL(sentence_count("One two. Three! Four? Five"), 4);
    CU_ASSERT_EQUAL(sentence_count("Pi is 3.14 at kafka.apache.org... or so."), 2);
    CU_ASSERT_EQUAL(sentence_count("これは文。これも文！"), 2);
    CU_ASSERT_EQUAL(sentence_count("A heading\n\nAnd text"), 2);
    char text[40000];
    memset(text, ' ', sizeof text);
    text[sizeof text - 1] = 0;
    for (size_t at = 16370; at < 16390; at++) { /* around the boundary of two bitmap chunks */
        memcpy(text + at, "a3.14b", 6);
        CU_ASSERT_EQUAL(sentence_count(text), 1);
        memset(text + at, ' ', 6);
    }
}

TEST(kernels_agree_on_random_bytes)
{
    static const char *const names[] = {"avx2", "avx512", "avx512vbmi2"};
    enum { SIZE = 700, WORDS = SIZE / 64 + 1 };
    char text[SIZE];
    uint64_t a[6][WORDS], b[6][WORDS], state = 1;
    uint16_t places[64 * WORDS], same[64 * WORDS];
    const char *before = sp_scan_kernel()->name;
    for (int round = 0; round < 3000; round++) {
        size_t from = next_random(&state) % 64, len = next_random(&state) % (SIZE - 64);
        uint64_t mask = round % 3 ? 0x7f : 0xff;
        for (size_t i = 0; i < SIZE; i++)
            text[i] = (char)(next_random(&state) & mask);
        if (round % 5 == 0)
            memset(text, 'a', len);
        CU_ASSERT_TRUE(sp_scan_use("portable"));
        sp_scan_kernel()->markup(text + from, len,
                                 &(struct sp_scan_markup){a[0], a[1], a[4], a[5]});
        sp_scan_kernel()->words(text + from, len, a[2], a[3]);
        size_t borders = sp_scan_kernel()->borders(a[2], sp_scan_words(len), places);
        size_t ascii = sp_scan_kernel()->ascii(text + from, len);
        for (size_t k = 0; k < 3; k++) {
            if (!sp_scan_use(names[k]))
                continue;
            sp_scan_kernel()->markup(text + from, len,
                                     &(struct sp_scan_markup){b[0], b[1], b[4], b[5]});
            sp_scan_kernel()->words(text + from, len, b[2], b[3]);
            for (size_t m = 0; m < 6; m++)
                CU_ASSERT_EQUAL(memcmp(a[m], b[m], sp_scan_words(len) * 8), 0);
            CU_ASSERT_EQUAL(sp_scan_kernel()->borders(a[2], sp_scan_words(len), same), borders);
            CU_ASSERT_EQUAL(memcmp(places, same, borders * sizeof *same), 0);
            CU_ASSERT_EQUAL(sp_scan_kernel()->ascii(text + from, len), ascii);
        }
    }
    CU_ASSERT_TRUE(sp_scan_use(before));
}

TEST(kernels_find_every_difference)
{
    static const char *const names[] = {"portable", "avx2", "avx512", "avx512vbmi2"};
    enum { SIZE = 256 };
    char a[SIZE], b[SIZE];
    const char *before = sp_scan_kernel()->name;
    memset(a, 'a', SIZE);
    memset(b, 'b', SIZE);
    for (size_t k = 0; k < 4; k++) {
        if (!sp_scan_use(names[k]))
            continue;
        for (size_t len = 1; len <= SIZE; len++) {
            unsigned wrong = 0;
            memset(b, 'a', len); /* behind it they differ */
            wrong += !sp_scan_kernel()->equal(a, b, len);
            for (size_t i = 0; i < len; i++) {
                b[i] = 'b';
                wrong += sp_scan_kernel()->equal(a, b, len);
                b[i] = 'a';
            }
            CU_ASSERT_EQUAL(wrong, 0);
        }
        memset(b, 'b', SIZE);
    }
    CU_ASSERT_TRUE(sp_scan_use(before));
}

/* Pages made of pieces that the scanner has special code for. */
static struct sp_view random_page(uint64_t *state, struct sp_buf *out)
{
    static const char *const pieces[] = {
        "<p>",
        "</p>",
        "<div class=\"nav\">",
        "</div>",
        "<a href='x'>",
        "</a>",
        "<!--",
        "-->",
        "<script>",
        "</script>",
        "&amp;",
        "&#8217;",
        "&",
        "<",
        ">",
        "\"",
        "'",
        "<svg>",
        "</svg>",
        "word ",
        "Ünïcode ",
        "日本",
        "\xff",
        "\xe2\x82",
        "<title>",
        "</title>",
        " ",
        "\n",
        "<td>",
        "<table>",
        "</table>",
        "<span style='display:none'>",
        "</span>",
        "<b x=\"",
        "123.45 ",
        "end. ",
    };
    sp_buf_reset(out);
    size_t count = next_random(state) % 400;
    for (size_t i = 0; i < count; i++)
        sp_buf_put_str(out, pieces[next_random(state) % (sizeof pieces / sizeof *pieces)]);
    return sp_buf_view(out);
}

TEST(kernels_give_equal_signatures)
{
    static const char *const names[] = {"portable", "avx2", "avx512", "avx512vbmi2"};
    const char *before = sp_scan_kernel()->name;
    struct sp_buf page = {0};
    struct sp_text *t[4]; /* one for each, because none may know what another one signed */
    uint64_t state = 7;
    for (size_t k = 0; k < 4; k++)
        t[k] = helper_text(SP_TEXT_ALL, 50);
    for (int round = 0; round < 500; round++) {
        struct sp_view html = random_page(&state, &page);
        const char *type = round % 4 ? "text/html" : "text/markdown";
        struct sp_signature *first = NULL;
        for (size_t k = 0; k < 4; k++) {
            if (!sp_scan_use(names[k]))
                continue;
            struct sp_signature *s = sp_text_signature(t[k], sp_view_str(type), html, round % 2);
            if (!first)
                first = sp_signature_ref(s);
            CU_ASSERT_TRUE(sp_id_eq(first->content_hash, s->content_hash));
            CU_ASSERT_EQUAL(first->sentence_count, s->sentence_count);
            CU_ASSERT_EQUAL(first->language, s->language);
            sp_signature_unref(s);
        }
        sp_signature_unref(first);
    }
    CU_ASSERT_TRUE(sp_scan_use(before));
    for (size_t k = 0; k < 4; k++)
        sp_text_free(t[k]);
    sp_buf_done(&page);
}
