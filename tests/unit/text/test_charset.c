/* Charsets: from a byte order mark, a header, a meta tag, or the bytes themselves. */
#include "text/repair.h"
#include "text_helper.h"

#define TEXT(type, literal, text)                                                                  \
    CU_ASSERT_STRING_EQUAL(helper_extract(SP_TEXT_ALL, type, BYTES(literal), false), text)

TEST(the_charset_of_the_header_is_used)
{
    TEXT("text/html; charset=windows-1252", "caf\xe9 \x80", "café €\n");
    TEXT("text/html; charset=\"ISO-8859-1\"", "\x93quoted\x94", "“quoted”\n");
    TEXT("text/plain; charset=Shift_JIS", "\x93\xfa\x96\x7b", "日本\n");
    TEXT("text/plain; charset=euc-jp", "\xc6\xfc\xcb\xdc", "日本\n");
    TEXT("text/plain; charset=iso-2022-jp", "\x1b$BF|K\\\x1b(B", "日本\n");
    TEXT("text/plain; charset=euc-kr", "\xc7\xd1\xb1\xb9", "한국\n");
    TEXT("text/plain; charset=gb2312", "\xd6\xd0\xb9\xfa", "中国\n");
    TEXT("text/plain; charset=big5", "\xa4\xa4\xb0\xea", "中國\n");
    TEXT("text/plain; charset=koi8-r", "\xed\xc9\xd2", "Мир\n");
    TEXT("text/plain;charset=utf-8", "caf\xc3\xa9", "café\n");
}

TEST(a_meta_tag_names_the_charset_if_the_header_does_not)
{
    TEXT("text/html", "<meta charset=windows-1251><p>\xcc\xe8\xf0", "Мир\n");
    TEXT("",
         "<html><META http-equiv='Content-Type' content='text/html; charset=shift_jis'>\x93\xfa",
         "日\n");
    TEXT("text/html", "<?xml version='1.0' encoding='iso-8859-2'?><p>\xb3", "ł\n");
    /* A meta tag in a comment does not count, and the header has priority. */
    TEXT("text/html", "<!-- <meta charset=koi8-r> --><p>caf\xe9", "café\n");
    TEXT("text/html; charset=windows-1252", "<meta charset=koi8-r>caf\xe9", "café\n");
    /* A page whose meta tag is readable as bytes is not UTF-16. */
    TEXT("text/html", "<meta charset=utf-16>caf\xc3\xa9", "café\n");
}

TEST(a_meta_tag_further_on_names_the_charset_of_a_page_that_is_not_utf_8)
{
    struct sp_buf page = {0};
    sp_buf_put_str(&page, "<html><head><!-- ");
    for (int i = 0; i < 5000; i++)
        sp_buf_put_u8(&page, 'x');
    sp_buf_put_str(&page, " <meta charset=big5> --><script>if (a<b) ;</script>"
                          "<meta charset=windows-1251></head><p>\xcc\xe8\xf0");
    CU_ASSERT_STRING_EQUAL(helper_extract(SP_TEXT_ALL, "text/html", sp_buf_view(&page), false),
                           "Мир\n");
    CU_ASSERT_STRING_EQUAL(
        helper_extract(SP_TEXT_ALL, "text/html; charset=koi8-r", sp_buf_view(&page), false),
        "лХП\n");
    page.len -= 3;
    sp_buf_put_str(&page, "Мир");
    CU_ASSERT_STRING_EQUAL(helper_extract(SP_TEXT_ALL, "text/html", sp_buf_view(&page), false),
                           "Мир\n");
    sp_buf_done(&page);
}

TEST(a_label_that_is_not_known_leaves_the_choice_to_the_next)
{
    TEXT("text/html; charset=none", "<meta charset=windows-1251><p>\xcc\xe8\xf0", "Мир\n");
    TEXT("text/html; charset=utf8mb4", "<meta charset=no-such><meta charset=koi8-r>\xed\xc9\xd2",
         "Мир\n");
    TEXT("text/html; charset=none", "<?xml version='1.0' encoding='iso-8859-2'?><p>\xb3", "ł\n");
}

TEST(a_meta_tag_does_not_name_utf_16_by_any_label)
{
    TEXT("text/html", "<meta content='text/html; charset=unicode'>caf\xc3\xa9", "café\n");
    TEXT("text/html", "<meta charset=ucs-2><p>abcd", "abcd\n");
    TEXT("text/html", "<meta charset=csUnicode><p>abcd", "abcd\n");
    /* In a header it may be true. */
    TEXT("text/html; charset=unicode", "<\0p\0>\0\xe9\0", "é\n");
}

TEST(a_byte_order_mark_overrides_the_header)
{
    TEXT("text/plain; charset=koi8-r",
         "\xef\xbb\xbf"
         "caf\xc3\xa9",
         "café\n");
    TEXT("text/html", "\xff\xfe<\0p\0>\0\xe9\0", "é\n");
    TEXT("text/html", "\xfe\xff\0<\0p\0>\0\xe9", "é\n");
    TEXT("text/plain", "\xff\xfe\0\0a\0\0\0", "a\n");
    /* It does not hide that the page is HTML. */
    TEXT("", "\xff\xfe\n\0<\0p\0>\0\xe9\0", "é\n");
    TEXT("", "\xfe\xff\0<\0P\0>\0\xe9", "é\n");
    TEXT("", "\xff\xfe", "");
    TEXT("", "\xff\xfe<\0b\0r", "<b\uFFFD\n");
    CU_ASSERT_STRING_EQUAL(helper_extract(SP_TEXT_ALL, "text/plain", BYTES("\xef\xbb\xbfx"), true),
                           "x\n");
}

TEST(an_unknown_charset_is_utf_8_or_windows_1252)
{
    TEXT("text/plain", "caf\xc3\xa9", "café\n");
    TEXT("text/plain", "caf\xe9", "café\n");
    TEXT("text/plain; charset=no-such-charset", "caf\xe9", "café\n");
    TEXT("text/plain; charset=no-such-charset", "caf\xc3\xa9", "café\n");
    /* Names that iconv knows but the Encoding Standard does not: UTF-7 hides markup. */
    TEXT("text/plain; charset=utf-7", "+AGE-", "+AGE-\n");
    TEXT("text/plain; charset=cp037", "abc", "abc\n");
    TEXT("text/plain; charset=iso-2022-kr", "abc", "abc\n");
    TEXT("text/plain; charset=iso8859-2", "\xb1", "ą\n");
    TEXT("text/plain; charset=WINDOWS-949", "\xc7\xd1", "한\n");
    TEXT("text/plain; charset=", "abc", "abc\n");
    /* The last letter might be combined with an accent. */
    TEXT("text/plain; charset=windows-1258", "xin chao", "xin chao\n");
    TEXT("text/plain; charset=windows-1258", "a\xec", "\u00e1\n");
}

/* It has more characters of UTF-8 than other bytes; the one that the end cuts off does not count.
 */
TEST(a_page_of_an_unknown_charset_may_be_utf_8_with_errors)
{
    TEXT("text/html", "<p>\xd0\x9c\xd0\xb8\xd1", "Ми\uFFFD\n");
    TEXT("text/plain", "caf\xc3\xa9, \xe6\x97", "café, \uFFFD\n");
    TEXT("text/plain", "caf\xc3\xa9, na\xc3\xafve, caf\xe9.", "café, naïve, caf\uFFFD.\n");
    TEXT("text/plain", "caf\xc3\xa9, caf\xe9.", "cafÃ©, café.\n");
    TEXT("text/html", "<meta charset=koi8-r>\xed\xc9\xd2\xd0\x9c\xd0\xb8\xd0\xb8\xd0\xb8\xd1",
         "Мирп°п╦п╦п╦я\n");
}

TEST(invalid_bytes_are_replaced)
{
    TEXT("text/plain; charset=utf-8",
         "a\xff"
         "b\xc3",
         "a\ufffd"
         "b\ufffd\n");
    TEXT("text/plain; charset=utf-8", "\xe6\x97\x61",
         "\ufffd"
         "a\n");
    TEXT("text/plain; charset=utf-8", "\xed\xa0\x80", "\ufffd\ufffd\ufffd\n"); /* a surrogate */
    TEXT("text/plain; charset=utf-8", "\xc0\xaf", "\ufffd\ufffd\n");           /* overlong */
    TEXT("text/plain; charset=shift_jis", "a\x93", "a\ufffd\n");
    TEXT("text/plain; charset=euc-kr",
         "a\xff"
         "b",
         "a\ufffd"
         "b\n");
}

TEST(valid_utf8_is_recognised_at_every_offset)
{
    static const char *const good[] = {"\u00e9", "\u20ac",     "\U0001F600",
                                       "\u0800", "\U0010FFFF", "\ufffd"};
    static const char *const bad[] = {
        "\x80", "\xc3", "\xe2\x82", "\xf4\x90\x80\x80", "\xe0\x9f\xbf", "\xf8\x88\x80\x80"};
    char text[200];
    for (size_t at = 0; at < 130; at++) {
        for (size_t i = 0; i < 6; i++) {
            memset(text, 'x', sizeof text);
            memcpy(text + at, good[i], strlen(good[i]));
            CU_ASSERT_TRUE(sp_utf8_valid(sp_view(text, 140)));
            memset(text, 'x', sizeof text);
            memcpy(text + at, bad[i], strlen(bad[i]));
            CU_ASSERT_FALSE(sp_utf8_valid(sp_view(text, 140)));
            CU_ASSERT_FALSE(sp_utf8_valid(sp_view(text, at + 1)));
        }
    }
}

TEST(the_format_is_that_of_the_type_or_else_of_the_content)
{
    CU_ASSERT_EQUAL(sp_text_format(sp_view_str("Text/HTML; charset=x"), BYTES("")), SP_FORMAT_HTML);
    CU_ASSERT_EQUAL(sp_text_format(sp_view_str("application/xhtml+xml"), BYTES("")),
                    SP_FORMAT_HTML);
    CU_ASSERT_EQUAL(sp_text_format(sp_view_str(" text/markdown "), BYTES("<p>")),
                    SP_FORMAT_MARKDOWN);
    CU_ASSERT_EQUAL(sp_text_format(sp_view_str("text/plain"), BYTES("<html>")), SP_FORMAT_PLAIN);
    CU_ASSERT_EQUAL(sp_text_format(sp_view_str(""), BYTES("\n <!DOCTYPE html>")), SP_FORMAT_HTML);
    CU_ASSERT_EQUAL(sp_text_format(sp_view_str("application/octet-stream"), BYTES("<HTML>")),
                    SP_FORMAT_HTML);
    CU_ASSERT_EQUAL(sp_text_format(sp_view_str(""), BYTES("<?xml version='1.0'?><html>")),
                    SP_FORMAT_HTML);
    CU_ASSERT_EQUAL(sp_text_format(sp_view_str(""), BYTES("a < b")), SP_FORMAT_PLAIN);
    CU_ASSERT_EQUAL(sp_text_format(sp_view(NULL, 0), sp_view(NULL, 0)), SP_FORMAT_PLAIN);
}

/* Articles from a content management system begin with any element. */
TEST(content_that_begins_with_an_element_is_html)
{
    static const char *const html[] = {
        "<h2 class=a>b",  "<H6>a",     "<ul>\n<li>a", "<figure class=a>", "<blockquote>a",
        "<section\n>a",   "<b>a</b>",  "</div>a",     "<br/>a",           "<link rel=a>",
        "<font size=1>a", "<!--a-->b", "<style>a",    "<a href=b>c</a>",  " <article>a"};
    static const char *const plain[] = {
        "<header.h>", "<a@b.example>", "<b",         "<",       "</",
        "</ p>",      "<unknown>a",    "<p:a>b",     "<divs>a", "<svg><text>a",
        "<1>",        "<list of int>", "<metadata>a"};
    for (size_t i = 0; i < sizeof html / sizeof *html; i++)
        CU_ASSERT_EQUAL(sp_text_format(sp_view_str(""), sp_view_str(html[i])), SP_FORMAT_HTML);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        CU_ASSERT_EQUAL(sp_text_format(sp_view_str(""), sp_view_str(plain[i])), SP_FORMAT_PLAIN);
}

TEST(a_content_type_counts_up_to_what_cannot_be_part_of_it)
{
    static const char *const html[] = {"text/html charset=utf-8", "text/html, text/html",
                                       "text/html,text/html; charset=utf-8", "\ttext/html;;"};
    for (size_t i = 0; i < sizeof html / sizeof *html; i++) {
        CU_ASSERT(sp_text_readable(sp_view_str(html[i])));
        CU_ASSERT_EQUAL(sp_text_format(sp_view_str(html[i]), BYTES("a")), SP_FORMAT_HTML);
    }
    TEXT("text/html charset=koi8-r", "<p>\xed\xc9\xd2", "Мир\n");
    CU_ASSERT_FALSE(sp_text_readable(sp_view_str("image/png, text/html")));
}

TEST(a_content_type_that_says_nothing_leaves_it_to_the_bytes)
{
    static const char *const types[] = {
        "", "unk", "*/*", "unknown/unknown", "application/unknown", "application/octet-stream"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        CU_ASSERT(sp_text_readable(sp_view_str(types[i])));
        CU_ASSERT_EQUAL(sp_text_format(sp_view_str(types[i]), BYTES("<p>a")), SP_FORMAT_HTML);
        CU_ASSERT_EQUAL(sp_text_format(sp_view_str(types[i]), BYTES("a <p>")), SP_FORMAT_PLAIN);
    }
}
