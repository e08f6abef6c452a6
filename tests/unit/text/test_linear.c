/* The cost of a page is linear in its length, whatever it contains: no construct of HTML, Markdown
 * or plain text makes the text module read the same bytes repeatedly.
 *
 * The module is compiled for this test with a call in every basic block (trace-pc), and the bytes
 * that libc's searches read are counted as well, so that work is a number, equal on every
 * machine. */
#include "text_helper.h"

#include <stdlib.h>
#include <string.h>

enum {
    SMALL_BYTES = 256 << 10,
    /* 0.1 s a megabyte is about 300 million instructions, 300 a byte. */
    WORK_A_BYTE = 90
};

static uint64_t work;

void __sanitizer_cov_trace_pc(void); /* called by the counted code */
void __sanitizer_cov_trace_pc(void)
{
    work++;
}

void *__real_memmem(const void *in, size_t in_len, const void *what, size_t what_len);
void *__wrap_memmem(const void *in, size_t in_len, const void *what, size_t what_len);
void *__wrap_memmem(const void *in, size_t in_len, const void *what, size_t what_len)
{
    const char *found = __real_memmem(in, in_len, what, what_len);
    work += (found ? (size_t)(found - (const char *)in) : in_len) / 8;
    return (void *)(uintptr_t)found;
}

void *__real_memchr(const void *in, int c, size_t len);
void *__wrap_memchr(const void *in, int c, size_t len);
void *__wrap_memchr(const void *in, int c, size_t len)
{
    const char *found = __real_memchr(in, c, len);
    work += (found ? (size_t)(found - (const char *)in) : len) / 8;
    return (void *)(uintptr_t)found;
}

struct construct {
    const char *name;
    const char *first;
    const char *again; /* repeated to fill the page */
    const char *last;
};

static const struct construct constructs[] = {
    {"open targets", "", "](", ""},
    {"open targets, escaped", "", "]\\](", ""},
    {"open targets in words", "", "[a](b ", ""},
    {"nested targets, closed at the end", "", "](", "))))))))"},
    {"a target that ends in every thousand bytes", "", "](](](](](](](](](](](](](](](](", ")"},
    {"marks in the wrong order", "a", "\u0302\u0323", ""},
    {"labels", "", "[", ""},
    {"labels by line", "", "[a\n", ""},
    {"images", "", "![a](b)", ""},
    {"open tags", "", "<a ", ""},
    {"open end tags", "", "</a ", ""},
    {"open tags with quotes", "", "<a b=\"c ", ""},
    {"open tags with both quotes", "", "<a b=\"' c='\" ", ""},
    {"tags without names", "", "<", ""},
    {"tags", "", "<b>", ""},
    {"nested blocks", "", "<div>", ""},
    {"nested cells", "<table>", "<tr><td>", ""},
    {"end tags without a start", "", "</div></td></table>", ""},
    {"lists in cells", "<table><td>", "<ul><li>", ""},
    {"many attributes", "<a ", "b=c ", ">"},
    {"many classes", "<div class=\"", "nav-", "\">"},
    {"open comments", "", "<!--", ""},
    {"comments that nearly end", "", "<!-- --", ""},
    {"comments", "", "<!---->", ""},
    {"declarations", "", "<!", ""},
    {"processing instructions", "<?xml ?>", "<?x", ""},
    {"open CDATA", "<svg>", "<![CDATA[", ""},
    {"CDATA that nearly ends", "<math>", "<![CDATA[]]", ""},
    {"open scripts", "", "<script>", ""},
    {"escaped scripts", "<script>", "<!--<script>", ""},
    {"scripts that end in a comment", "", "<script><!--</script>", ""},
    {"the same with ends of tags", "", "<script>>><!--</script>", ""},
    {"the same in templates", "", "<template><script><!--</script>", ""},
    {"open titles", "", "<title>", ""},
    {"open styles", "", "<style></styl", ""},
    {"open text areas", "", "<textarea>&am", ""},
    {"links", "", "<a href=b>c", ""},
    {"foreign elements", "", "<svg><math>", ""},
    {"hidden spans", "", "<span hidden>", ""},
    {"references without an end", "", "&", ""},
    {"references", "", "&amp;", ""},
    {"almost references", "", "&notinva", ""},
    {"numbers", "", "&#49", ""},
    {"one long number", "&#", "9", ";"},
    {"backslashes", "", "\\", ""},
    {"underlines", "", "a_", ""},
    {"emphasis", "", "*a ", ""},
    {"code spans", "", "`", ""},
    {"fences", "", "```\n", ""},
    {"fences of another kind", "~~~~\n", "```\n", ""},
    {"front matter", "---\n", "--- a\n", ""},
    {"quotes", "", ">", ""},
    {"numbered items", "", "1", ". a"},
    {"headings", "", "#\n", ""},
    {"blank lines", "", "\n", ""},
    {"spaces", "", " ", ""},
    {"one word", "", "a", ""},
    {"short words", "", "a ", ""},
    {"sentences", "", "a.", ""},
    {"sentence ends", "", ".", ""},
    {"capitals of another script", "", "\xc4\xb0", ""},
    {"combining marks", "a", "\xcc\x81", ""},
    {"marks in the wrong order", "a", "\xcc\xa3\xcc\x81", ""},
    {"Hangul", "", "\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8", ""},
    {"Chinese", "", "\xe4\xb8\xad", ""},
    {"Thai", "", "\xe0\xb8\x81", ""},
    {"ligatures", "", "\xef\xb7\xba", ""},
    {"bytes that are no UTF-8", "", "\xff", ""},
    {"cut characters", "", "\xe4\xb8", ""},
    {"zero bytes", "", "\x01", ""},
};

static struct sp_view page_of(const struct construct *c, size_t bytes, struct sp_buf *out)
{
    sp_buf_reset(out);
    sp_buf_put_str(out, c->first);
    while (out->len < bytes)
        sp_buf_put_str(out, c->again);
    sp_buf_put_str(out, c->last);
    return sp_buf_view(out);
}

static uint64_t work_of(const char *type, struct sp_view page, uint32_t max_sentences)
{
    struct sp_text *t = helper_text(SP_TEXT_MAIN, max_sentences);
    work = 0;
    sp_signature_unref(sp_text_signature(t, sp_view_str(type), page, false));
    sp_text_free(t);
    return work;
}

static void check_type(const char *type, uint32_t max_sentences)
{
    struct sp_buf page = {0};
    for (size_t i = 0; i < sizeof constructs / sizeof *constructs; i++) {
        const struct construct *c = &constructs[i];
        uint64_t few = work_of(type, page_of(c, SMALL_BYTES, &page), max_sentences);
        uint64_t many = work_of(type, page_of(c, 4 * (size_t)SMALL_BYTES, &page), max_sentences);
        bool linear = 10 * many <= 42 * few && many <= 4ull * SMALL_BYTES * WORK_A_BYTE;
        if (!linear)
            printf("%s, %s: %.1f a byte, %.1f at four times the size\n", type, c->name,
                   (double)few / SMALL_BYTES, (double)many / (4.0 * SMALL_BYTES));
        CU_ASSERT_TRUE(linear);
        CU_ASSERT_TRUE(few > 1000); /* otherwise nothing was counted */
    }
    sp_buf_done(&page);
}

TEST(html_is_read_in_linear_time)
{
    check_type("text/html", 0);
}

TEST(markdown_is_read_in_linear_time)
{
    check_type("text/markdown", 0);
}

TEST(plain_text_is_read_in_linear_time)
{
    check_type("text/plain", 0);
}

TEST(sentences_are_read_in_linear_time)
{
    check_type("text/html", 1024);
    check_type("text/plain", 1024);
}
