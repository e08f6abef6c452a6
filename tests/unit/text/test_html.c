/* The HTML scanner against the rules of the HTML standard. */
#include "text_helper.h"

#define ALL(html, text) CU_ASSERT_STRING_EQUAL(all_of_html(html), text)

TEST(named_references_become_characters)
{
    ALL("a &amp; b &lt;c&gt; &quot;d&quot;", "a & b <c> \"d\"\n");
    ALL("&eacute;&Eacute;&nbsp;&hellip;&CounterClockwiseContourIntegral;", "éÉ\u00a0…∳\n");
    ALL("&nGt;&NotEqualTilde;", "≫⃒≂̸\n"); /* two code points, longer than the name */
    ALL("&AMP;&COPY;", "&©\n");
}

TEST(references_without_semicolon_are_read_as_by_browsers)
{
    ALL("AT&ampT &copy2020 &notit; &notin; &ltb", "AT&T ©2020 ¬it; ∉ <b\n");
    ALL("&noti &unknown; &hellip", "¬i &unknown; &hellip\n"); /* names that need the semicolon */
    ALL("a & b && c &; &", "a & b && c &; &\n");
}

TEST(numeric_references_become_characters_or_a_replacement)
{
    ALL("&#65;&#x42;&#X43;&#68 &#x45g", "ABCD Eg\n");
    ALL("&#128;&#150;&#x92;&#x9f;", "€–’Ÿ\n"); /* windows-1252 */
    ALL("&#0;&#xD800;&#x110000;&#99999999999999;", "\ufffd\ufffd\ufffd\ufffd\n");
    ALL("&#; &#x; &#xg &#", "&#; &#x; &#xg &#\n");
    ALL("&#x1F600;", "\U0001F600\n");
}

TEST(comments_and_declarations_are_no_text)
{
    ALL("<!DOCTYPE html PUBLIC \"a>b\">x", "b\">x\n"); /* '>' ends it even inside quotes */
    ALL("a<!-- b > c -- d -->e", "ae\n");
    ALL("a<!-->b", "ab\n");
    ALL("a<!--->b", "ab\n");
    ALL("a<!----!>b<!--x--!>c", "abc\n");
    ALL("a<!--!>b-->c", "ac\n");
    ALL("a<?php echo 1 ?>b</ bogus>c</>d", "abcd\n");
    ALL("a<![CDATA[x]]>b", "ab\n"); /* a comment, except in foreign content */
    ALL("<math><mi><![CDATA[x<y]]></mi></math>", "x<y\n");
}

TEST(what_begins_like_a_tag_and_is_none_is_text)
{
    ALL("1 < 2 <3 and a <- b", "1 < 2 <3 and a <- b\n");
    ALL("a<", "a<\n");
    ALL("<", "<\n");
    ALL("&", "&\n");
    ALL("a</", "a</\n");
}

TEST(attributes_hide_what_they_contain)
{
    ALL("<p title='a > b'>x</p>", "x\n");
    ALL("<p title=\"<b>'\" data-x = 'c\">'>x</p>", "x\n");
    ALL("<i a=b\"c>x</i>", "x\n"); /* a quote inside an unquoted value */
    ALL("<i \"a>x</i>", "x\n");    /* a quote in a name */
    ALL("<i a=/x?b=\"c>x</i>", "x\n");
    ALL("<i =\"a\">x</i>", "x\n"); /* a name that begins with = */
    ALL("<i a = \"b>c\" d>x</i>", "x\n");
    ALL("<a href=x/>y</a>", "y\n");
    ALL("<i a=>x</i>", "x\n");
}

TEST(raw_text_elements_end_only_at_their_own_tag)
{
    ALL("a<script>if (a<b) x('</p>');</script>b", "ab\n");
    ALL("a<style>p > a {}</style>b<noscript><p>c</noscript>d", "abd\n");
    ALL("a<SCRIPT>x</Script >b", "ab\n");
    ALL("a<script>x</scripts></script/>b", "ab\n");
    ALL("a<script><!-- <script> </script> --></script>b", "ab\n");
    ALL("a<script><!-- <script> x </script> y </script>b", "ab\n");
    ALL("a<script><!-- x </script>b", "ab\n");
    ALL("a<iframe><p>b</iframe>c<noembed>d</noembed>", "a c\n");
    ALL("<textarea><b>&amp;</textarea>x", "<b>&\nx\n");
    ALL("<title>a <b> &lt; c</title>x", "a <b> < c\nx\n");
    ALL("<xmp><b>&amp;</xmp>x", "<b>&amp;\nx\n");
    ALL("<plaintext><b>&amp;</plaintext>", "<b>&amp;</plaintext>\n");
}

TEST(invisible_elements_are_no_text)
{
    ALL("a<template>b<template>c</template>d</template>e", "ae\n");
    ALL("a<svg><title>b</title><path/><text>c</text></svg>d", "ad\n");
    ALL("a<svg><svg/><g>b</svg>c", "ac\n");
    ALL("a<svg><path>b<p>c", "a\nc\n");          /* never closed, so a paragraph ends it */
    ALL("a<svg><path><span>b</span>c", "abc\n"); /* so do what cannot be in one */
    ALL("a<svg><use></use><strong>b</strong>c", "abc\n");
    ALL("a<svg><g><a>b</a><text>c</text></g></svg>d", "ad\n");
    ALL("a<svg/>b", "ab\n");
    ALL("<p>Born (<span style=\"display: none\">1920<span>x</span></span>1920)</p>",
        "Born (1920)\n");
}

TEST(the_end_of_the_element_around_it_ends_an_invisible_element)
{
    ALL("<div><span hidden>a</div>b", "b\n");
    ALL("<div><span hidden>a<div>b</div>c</div>d", "d\n");
    ALL("<div><span hidden>a<span>b</div>c", "c\n");
    ALL("<p><span style='display:none'>a</p><p>b</p>", "b\n");
    ALL("<span hidden>a<p>b</p>c</p>d</span>e", "e\n");
    ALL("<div><svg><g>a</div>b", "b\n");
    ALL("<div><math><annotation>a</math></div>b", "b\n");
    ALL("<table><tr><td><span hidden>a<td>b<tr><td>c</table>d", "b\nc\nd\n");
    ALL("<table><tr><td><span hidden>a<table><tr><td>b</table>c</table>d", "d\n");
    /* The next block ends the paragraph that it is in. */
    ALL("<p><span hidden>a<p>b</p>c</span>d", "b\ncd\n");
    ALL("<P>a<br><span hidden>b<span>c\n<ul><li>d</ul>", "a\nd\n");
    ALL("<div><p>a <b><span style=display:none>b</b><h2>c</h2></div>", "a\nc\n");
    ALL("<p>a</p><span hidden>b<p>c</p>d</span>e", "a\ne\n");
    ALL("<p><span hidden>a<button><p>b</button>c</span>d", "d\n");
    ALL("<p><span hidden>a<template><p>b</template>c</span>d", "d\n");
    /* No such element is open, or it is behind a border. */
    ALL("<span hidden>a</div>b<td>c</span>d", "d\n");
    ALL("<div><table><tr><td><span hidden>a</div>b</span>c</table>", "c\n");
    ALL("<div><template>a</div>b</template>c", "c\n");
    /* Whatever a script's template leaves open is open only there. */
    ALL("<script type='text/template'>a<span hidden>b</script>more text", "more text\n");
    ALL("<script type='text/template'>a<template>b</script>more text", "more text\n");
}

static const char *all_of_xhtml(const char *xhtml)
{
    return helper_extract(SP_TEXT_ALL, "application/xhtml+xml", sp_view_str(xhtml), true);
}

TEST(an_empty_element_of_xhtml_ends_with_its_tag)
{
    CU_ASSERT_STRING_EQUAL(all_of_xhtml("<script src='a'/><p>b</p><script>c</script>"), "b\n");
    CU_ASSERT_STRING_EQUAL(all_of_xhtml("<title/><p>a</p><iframe src='b' />c"), "a\nc\n");
    CU_ASSERT_STRING_EQUAL(all_of_xhtml("a<span hidden='hidden'/>b<br/>c"), "ab c\n");
    CU_ASSERT_STRING_EQUAL(all_of_xhtml("<p><span hidden=''>a<p>b</p></span>c</p>"), "c\n");
    CU_ASSERT_STRING_EQUAL(all_of_xhtml("<svg><svg/><title/><g/></svg>a"), "a\n");
    CU_ASSERT_STRING_EQUAL(all_of_xhtml("<p><![CDATA[a < b]]></p>"), "a < b\n");
    CU_ASSERT_STRING_EQUAL(helper_extract(SP_TEXT_MAIN, "application/xhtml+xml; charset=utf-8",
                                          BYTES("<nav/><p>a</p><footer>b</footer>"), true),
                           "a\n");
    /* In HTML the slash has no meaning. */
    ALL("<p>a</p><script src='b'/><p>c</p></script>d", "a\nd\n");
}

TEST(script_templates_are_text_only_if_they_hold_the_page)
{
    /* Script templates count as text only if the page has little other text. */
    ALL("<script type=\"text/x-handlebars-template\"><p>All of the <b>content</b>."
        "</p><table><tr><td>x</script><p>y",
        "All of the content.\nx\ny\n");
    ALL("<script type='text/template'><p>{{row}}</p></script><p>The page's own text.",
        "The page's own text.\n");
}

TEST(blocks_and_breaks_separate_words_and_other_elements_do_not)
{
    ALL("<p>b<b>ol</b>d</p>", "bold\n");
    ALL("<p>a<br>b<img src=x>c</p>", "a b c\n");
    ALL("<ul><li>a<li>b</ul><table><tr><td>c<td>d</table>", "a\nb\nc\nd\n");
    ALL("  <p>\n  a\n  </p>\n  <p> </p> <div></div>b", "a\nb\n");
}

TEST(constructs_that_never_end_are_no_text)
{
    static const char *const ends[] = {
        "<!-- b",
        "<!--",
        "<!",
        "<!d",
        "<?",
        "</b",
        "<b",
        "<b c",
        "<b c=",
        "<b c=\"d",
        "<b c='d",
        "<script>b",
        "<script><!--b",
        "<style>",
        "<title>",
        "<svg>",
        "<svg>b",
        "<template>b",
        "<b c=d",
        "<math><![CDATA[",
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char html[64];
        snprintf(html, sizeof html, "a%s", ends[i]);
        ALL(html, "a\n");
    }
    ALL("a<title>b", "a\nb\n");
    ALL("", "");
}

static struct sp_view repeated(const char *what, size_t count, struct sp_buf *out)
{
    sp_buf_reset(out);
    for (size_t i = 0; i < count; i++)
        sp_buf_put_str(out, what);
    return sp_buf_view(out);
}

TEST(millions_of_tags_take_linear_time)
{
    /* Two million tags each; only linear work finishes within the case's time-out. */
    static const char *const bombs[] = {
        "<div>",
        "<div><nav>",
        "<table><tr><td>",
        "<svg>",
        "<template>",
        "<b><i><a href=x>",
        "<!--",
        "<!-->",
        "<script><!--",
        "&#",
        "&",
        "<",
        "</div>",
        "<ul><li>",
        "<math>",
        "<p a=\"",
        "<title>",
        "<span style=display:none>",
        "<div></section>",
    };
    struct sp_buf html = {0};
    struct sp_text *t = helper_text(SP_TEXT_MAIN, 0);
    for (size_t i = 0; i < sizeof bombs / sizeof *bombs; i++) {
        repeated(bombs[i], 1000000, &html);
        sp_buf_put_str(&html, "--></script></title>\">x");
        sp_signature_unref(
            sp_text_signature(t, sp_view_str("text/html"), sp_buf_view(&html), true));
    }
    sp_text_free(t);
    sp_buf_done(&html);
}

TEST(contexts_close_beyond_the_deepest_level)
{
    /* The stack is bounded: an element nested deeper must not leave its context behind. */
    struct sp_buf html = {0};
    repeated("<div>", 1000, &html);
    sp_buf_put_str(&html, "<nav><a href=x>menu</a></nav>");
    for (int i = 0; i < 1000; i++)
        sp_buf_put_str(&html, "</div>");
    sp_buf_put_str(&html, "<nav>Home</nav><p>The text that is left when all of them are closed.");
    sp_buf_put_u8(&html, 0);
    const char *text = main_of_html(html.data);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "The text that is left"));
    CU_ASSERT_PTR_NULL(strstr(text, "Home"));
    sp_buf_done(&html);
}

static void check_title(const char *type, const char *content, const char *expected)
{
    struct sp_text *t = helper_text(SP_TEXT_MAIN, 0);
    struct sp_buf title = {0};
    sp_signature_unref(
        sp_text_signature(t, sp_view_str("text/html"), sp_view_str("<title>old"), true));
    struct sp_signature *s = sp_text_signature(t, sp_view_str(type), sp_view_str(content), true);
    sp_text_title(t, &title);
    CU_ASSERT(sp_view_eq(sp_buf_view(&title), sp_view_str(expected)));
    CU_ASSERT_EQUAL(sp_text_word_count(t), 3);
    sp_buf_done(&title);
    sp_signature_unref(s);
    sp_text_free(t);
}

TEST(the_title_is_that_of_the_last_page)
{
    check_title("text/html", "<title>\n A &lt;b&gt; &amp; c </title><p>one two three", "A <b> & c");
    check_title("text/html", "<p>one two three</p><title></title>", "");
    check_title("text/plain", "one two three", "");
    check_title("text/markdown", "# one\n\ntwo three", "");
}
