/* Markdown: what a reader of the rendered page would see. */
#include "text/ends.h"
#include "text_helper.h"

#define MD(markdown, text)                                                                         \
    CU_ASSERT_STRING_EQUAL(                                                                        \
        helper_extract(SP_TEXT_MAIN, "text/markdown", sp_view_str(markdown), true), text)

/* Whether Markdown and plain text have the same words. */
static bool md_words(const char *markdown, const char *plain)
{
    struct sp_signature *a = helper_signature("text/markdown", sp_view_str(markdown), true);
    struct sp_signature *b = helper_signature("text/plain", sp_view_str(plain), true);
    bool same = sp_id_eq(a->content_hash, b->content_hash);
    sp_signature_unref(a);
    sp_signature_unref(b);
    return same;
}

TEST(front_matter_is_dropped)
{
    MD("---\ntitle: x\ndate: y\n---\nText", "Text\n");
    MD("---\r\ntitle: x\r\n---\r\nText", "Text\n");
    MD("---\nno end", "---\nno end\n");
    MD("a\n---\nb", "a\n---\nb\n");
}

TEST(links_and_images_leave_their_text)
{
    CU_ASSERT_TRUE(
        md_words("See [the docs](http://x.org/a_(b)?q=1 \"title\") now", "See the docs now"));
    CU_ASSERT_TRUE(md_words("![A cat](cat.png)![B](b.png)", "A cat B"));
    CU_ASSERT_TRUE(md_words("[text][ref] a\n\n[ref]: http://x.org/y \"z\"\n", "text ref a"));
    CU_ASSERT_TRUE(
        md_words("<https://x.org/y> and <b class=\"a>b\">bold</b><!-- c\n\nd -->", "and bold"));
    CU_ASSERT_TRUE(md_words("[unclosed](http://x", "unclosed http x"));
    CU_ASSERT_TRUE(md_words("a < b > c", "a b c"));
}

TEST(emphasis_and_escapes_leave_their_text)
{
    CU_ASSERT_TRUE(
        md_words("**b**old _it_ ~~gone~~ `code` snake_case", "bold it gone code snake_case"));
    CU_ASSERT_TRUE(md_words("\\*not\\* 1\\. &amp; &eacute;t&eacute;", "not 1 été"));
}

TEST(marks_of_blocks_are_no_words)
{
    MD("# Title\nText on\ntwo lines\n\n- item\n- other\n1. one\n> quote",
       "# Title\nText on\ntwo lines\n- "
       "item\n- other\n1. one\n> quote\n");
    CU_ASSERT_TRUE(md_words("| a | b |\n|---|:-:|\n| c | d |", "a b c d"));
    CU_ASSERT_TRUE(md_words("Title\n=====\n\nText\n***\n", "Title Text"));
}

TEST(code_keeps_its_words)
{
    CU_ASSERT_TRUE(md_words("a\n```python\nx = <b>[1](2)\n```\nb", "a x b 1 2 b"));
    CU_ASSERT_TRUE(md_words("~~~\n``` \n<i>\n~~~\n<i>b", "i b"));
    CU_ASSERT_TRUE(md_words("```\nnever closed <b>", "never closed b"));
}

TEST(an_empty_line_ends_what_never_closes)
{
    static const struct {
        const char *unix_ends, *crlf;
    } texts[] = {{"a <b c\n\nd > e", "a <b c\r\n\r\nd > e"},
                 {"a <b c=\"d\n\ne\">f", "a <b c=\"d\r\n\r\ne\">f"},
                 {"a [b](c\n\nd) e", "a [b](c\r\n\r\nd) e"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CU_ASSERT_TRUE(md_words(texts[i].unix_ends, texts[i].unix_ends));
        CU_ASSERT_TRUE(md_words(texts[i].crlf, texts[i].unix_ends));
    }
}

TEST(hostile_markdown_is_linear)
{
    static const char *const bombs[] = {"[",    "](", "<a ", "![](", "> ", "`",
                                        "<!--", "\\", "_",   "&",    "- "};
    struct sp_buf text = {0};
    struct sp_text *t = helper_text(SP_TEXT_MAIN, 0);
    for (size_t i = 0; i < sizeof bombs / sizeof *bombs; i++) {
        sp_buf_reset(&text);
        for (size_t k = 0; k < 200000; k++)
            sp_buf_put_str(&text, bombs[i]);
        sp_signature_unref(
            sp_text_signature(t, sp_view_str("text/markdown"), sp_buf_view(&text), true));
    }
    sp_text_free(t);
    sp_buf_done(&text);
}

/* Compares searches that share a cache with the first search of a new one. */
static void check_ends(struct sp_view text, struct sp_ends *tags, struct sp_ends *targets,
                       size_t *found)
{
    const char *end = text.data + text.len;
    bool escaped = false;
    for (const char *at = text.data; at + 2 < end; at++) {
        struct sp_ends alone = {0};
        bool was_escaped = escaped;
        escaped = *at == '\\' && !escaped;
        if (at[0] == '<' && at[1] == 'a') {
            const char *one = sp_ends_tag(&alone, at, at + 1, end);
            CU_ASSERT_PTR_EQUAL(sp_ends_tag(tags, at, at + 1, end), one);
            *found += one != NULL;
        } else if (at[0] == ']' && at[1] == '(' && !was_escaped) {
            const char *one = sp_ends_target(&alone, at, at + 1, end);
            CU_ASSERT_PTR_EQUAL(sp_ends_target(targets, at, at + 1, end), one);
            *found += one != NULL;
        }
    }
}

TEST(cached_ends_equal_those_of_a_search)
{
    static const char *const pieces[] = {"](", "<a", "=\"", "='", "\"", "'",  "\\",  "\n",
                                         "(",  ")",  ">",   "]",  "<a", "](", "\r\n"};
    enum { PIECES = sizeof pieces / sizeof *pieces };
    uint64_t random = 7;
    size_t found = 0;
    for (int round = 0; round < 60; round++) {
        struct sp_buf text = {0};
        struct sp_ends *tags = sp_calloc(2, sizeof *tags);
        int fill = round % 6 * 60;
        while (text.len < 6000) {
            sp_buf_put_str(&text, pieces[next_random(&random) % PIECES]);
            for (uint64_t n = fill ? next_random(&random) % (unsigned)fill : 0; n > 0; n--)
                sp_buf_put_u8(&text, 'x');
        }
        check_ends(sp_buf_view(&text), &tags[0], &tags[1], &found);
        sp_buf_done(&text);
        sp_free(tags);
    }
    CU_ASSERT_TRUE(found > 1000);
}
