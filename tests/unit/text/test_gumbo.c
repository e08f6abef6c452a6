/* The scanner's text against that of a real HTML5 parser (gumbo): the same words in the same order,
 * on small pages and real ones. Gumbo builds the tree; this file decides which nodes are visible,
 * by a second implementation of the rules of text.h. */
#include <gumbo.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/order.h"
#include "text/tags.h"
#include "text_helper.h"

static bool named(const GumboNode *node, const char *name)
{
    if (node->v.element.tag != GUMBO_TAG_UNKNOWN)
        return strcmp(gumbo_normalized_tagname(node->v.element.tag), name) == 0;
    GumboStringPiece tag = node->v.element.original_tag;
    gumbo_tag_from_original_text(&tag);
    return tag.length == strlen(name) && strncasecmp(tag.data, name, tag.length) == 0;
}

static bool any_of(const GumboNode *node, const char *const *names)
{
    for (; *names; names++)
        if (named(node, *names))
            return true;
    return false;
}

static bool is_hidden(const GumboNode *node)
{
    static const char *const invisible[] = {"script",     "style",   "noscript", "template",
                                            "iframe",     "noembed", "noframes", "svg",
                                            "annotation", NULL};
    if (any_of(node, invisible))
        return true;
    const GumboAttribute *style = gumbo_get_attribute(&node->v.element.attributes, "style");
    const GumboAttribute *hidden = gumbo_get_attribute(&node->v.element.attributes, "hidden");
    return named(node, "span") &&
           (hidden || (style && sp_tag_style_hides(sp_view_str(style->value))));
}

static bool separates(const GumboNode *node)
{
    static const char *const inline_breaks[] = {"br", "img", "input", "iframe", NULL};
    GumboTag tag = node->v.element.tag;
    const char *name = gumbo_normalized_tagname(tag);
    if (tag == GUMBO_TAG_UNKNOWN)
        return named(node, "search") || named(node, "dialog");
    enum sp_tag ours = sp_tag_find(name, strlen(name), 0);
    return any_of(node, inline_breaks) || (sp_tag_flags[ours] & SP_TAG_BLOCK);
}

static void gumbo_text(const GumboNode *node, struct sp_buf *out)
{
    switch ((int)node->type) {
    case GUMBO_NODE_TEXT:
    case GUMBO_NODE_WHITESPACE:
    case GUMBO_NODE_CDATA:
        sp_buf_put_str(out, node->v.text.text);
        return;
    case GUMBO_NODE_DOCUMENT:
    case GUMBO_NODE_ELEMENT:
        break;
    default:
        return;
    }
    bool element = node->type == GUMBO_NODE_ELEMENT;
    const GumboVector *children = element ? &node->v.element.children : &node->v.document.children;
    bool apart = element && separates(node);
    if (apart)
        sp_buf_put_u8(out, '\n');
    if (!element || !is_hidden(node))
        for (unsigned i = 0; i < children->length; i++)
            gumbo_text(children->data[i], out);
    if (apart)
        sp_buf_put_u8(out, '\n');
}

/* Gumbo needs quadratic time and deep recursion for deep nesting, so such pages are skipped. */
static bool is_shallow(struct sp_view html)
{
    int depth = 0, deepest = 0;
    for (size_t i = 0; i + 1 < html.len; i++)
        if (html.data[i] == '<') {
            depth += html.data[i + 1] == '/' ? -1 : 1;
            deepest = depth > deepest ? depth : deepest;
        }
    return deepest < 50000 && html.len < 1 << 20;
}

/* Sorted hashes of the words of plain text; runs of ASCII letters and of non-ASCII bytes are
 * precise enough here. */
static size_t hashes_of(struct sp_view text, uint64_t **ret_hashes)
{
    uint64_t *hashes = sp_alloc((text.len / 2 + 1) * sizeof *hashes);
    size_t count = 0;
    for (size_t i = 0; i < text.len;) {
        size_t start = i;
        while (i < text.len &&
               ((text.data[i] & 0x80) || (unsigned)((text.data[i] | 0x20) - 'a') < 26u ||
                (unsigned)(text.data[i] - '0') < 10u))
            i++;
        if (i > start)
            hashes[count++] = sp_hash64(text.data + start, i - start);
        else
            i++;
    }
    qsort(hashes, count, sizeof *hashes, sp_by_u64);
    *ret_hashes = hashes;
    return count;
}

/* The share of words that only one side has. */
static double difference(struct sp_view html, struct sp_text *t, struct sp_buf *ours,
                         struct sp_buf *theirs)
{
    sp_buf_reset(ours);
    sp_buf_reset(theirs);
    sp_text_extract(t, sp_view_str("text/html"), html, true, ours);
    GumboOutput *parsed = gumbo_parse_with_options(&kGumboDefaultOptions, html.data, html.len);
    gumbo_text(parsed->document, theirs);
    gumbo_destroy_output(&kGumboDefaultOptions, parsed);
    uint64_t *a, *b;
    size_t n = hashes_of(sp_buf_view(ours), &a), m = hashes_of(sp_buf_view(theirs), &b);
    size_t i = 0, k = 0, common = 0;
    while (i < n && k < m) {
        common += a[i] == b[k];
        size_t step_a = a[i] <= b[k], step_b = b[k] <= a[i];
        i += step_a;
        k += step_b;
    }
    sp_free(a);
    sp_free(b);
    return n + m ? (double)(n + m - 2 * common) / (double)(n + m) : 0;
}

TEST(small_pages_have_the_words_of_a_real_parser)
{
    static const char *const pages[] = {
        "<p>a<b>b</p>c</b>d",
        "<ul><li>a<li>b<ul><li>c</ul><li>d</ul>e",
        "<table><tr><td>a<td>b</tr></table>z",
        "<div title='a>b' class=c>d</div><a href=x?y=1&amp;z>e</a>",
        "<p title=\"a\"b>c</p><p =d>e</p><p f=\"g\"/h='i'>j",
        "a&ampb;c &notit; &#x80; &#xfffff; &lt&gt &copy;&reg",
        ("<!DOCTYPE html><!-- a --><html><head><title>b &amp; <i>c</title><script>d</script></head>"
         "<body>e<!-- f -- g -->h<!-->i<!--->j</body></html>k"),
        "<textarea>\n<b>a</textarea><select><option>b<option>c</select><button>d</button>",
        "<script><!-- <script> a </script> b --></script>c",
        "<style>a</style><template><p>b</p></template><iframe>c</iframe>d",
        "<svg><g><text>a</text></g></svg>b<math><mi>x</mi><mo>&lt;</mo></math>",
        "a<?b?>c</ d>e<!f>g",
        "<p>a<span style='color:red;display:none'>b<span>c</span></span>d</p>",
        "<div><span hidden>a<div>b</div>c</div>d",
        "<div><span hidden>a<span>b</div>c",
        "<p><span hidden>a</p><p>b</p>",
        "<p><span hidden>a<p>b</p>c</span>d",
        "<p>a<br><span hidden>b<span>c<ul><li>d</ul>",
        "<div><p>a <b><span hidden>b</b><h2>c</h2></div>",
        "<p>a</p><span hidden>b<p>c</p>d</span>e",
        "<p><span hidden>a<button><p>b</button>c</span>d",
        "<p><span hidden>a<template><p>b</template>c</span>d",
        "<div><svg><g>a</div>b",
        "<table><tr><td><span hidden>a<td>b<tr><td>c</table>d",
        "<table><tr><td><span hidden>a<table><tr><td>b</table>c</table>d",
        "<span hidden>a</div>b<td>c</span>d",
        "<div><table><tr><td><span hidden>a</div>b</span>c</table>",
        "<div><template>a</div>b</template>c",
        "<h1>a</h1><h2>b<h3>c</h2>d<dl><dt>e<dd>f</dl>",
        "a\r\nb\tc\fd\u00a0e",
        "<a href=x>a<a href=y>b</a>c",
        "<frameset><frame></frameset>",
        "<body><p>caf\u00e9 \u65e5\u672c</body>",
        "1 < 2 <3 <a",
    };
    struct sp_text *t = helper_text(SP_TEXT_ALL, 0);
    struct sp_buf ours = {0}, theirs = {0};
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        double d = difference(sp_view_str(pages[i]), t, &ours, &theirs);
        CU_ASSERT_EQUAL(d, 0);
        if (d > 0)
            printf("page %zu: %s\nours: %.*s\ntheirs: %.*s\n", i, pages[i], (int)ours.len,
                   ours.data, (int)theirs.len, theirs.data);
    }
    sp_buf_done(&ours);
    sp_buf_done(&theirs);
    sp_text_free(t);
}

/* Every step-th page of a file, at most `most`: at least 99 % of them differ by 1 % or less. */
static void compare_file(const char *file, size_t step, size_t most)
{
    char command[600];
    snprintf(command, sizeof command, "zstd -dcq --long=27 '%s/%s' 2>/dev/null",
             sp_test_shared_data(), file);
    FILE *in = popen(command, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(in);
    struct sp_text *t = helper_text(SP_TEXT_ALL, 0);
    struct sp_buf ours = {0}, theirs = {0};
    char *line = NULL;
    size_t cap = 0, lines = 0, pages = 0, equal = 0, near = 0;
    while (pages < most && getline(&line, &cap, in) > 0) {
        if (lines++ % step)
            continue;
        json_t *json = json_loads(line, 0, NULL);
        const json_t *content = json_object_get(json, "content");
        struct sp_view html = sp_view(json_string_value(content), json_string_length(content));
        /* Gumbo returns no text for pages in script templates. */
        if (html.len && is_shallow(html) && !memmem(html.data, html.len, "text/x-handlebars", 17)) {
            double d = difference(html, t, &ours, &theirs);
            pages++;
            equal += d == 0;
            near += d <= 0.01;
            if (d > 0.01 && getenv("SP_TEST_VERBOSE"))
                printf("%s: %.4f\n", json_string_value(json_object_get(json, "url")), d);
        }
        json_decref(json);
    }
    pclose(in);
    printf("%s: %zu pages, %zu equal, %zu within 1 %%\n", file, pages, equal, near);
    CU_ASSERT_TRUE(pages > 0);
    CU_ASSERT_TRUE((double)near >= 0.99 * (double)pages);
    free(line);
    sp_buf_done(&ours);
    sp_buf_done(&theirs);
    sp_text_free(t);
}

TEST(real_pages_have_the_words_of_a_real_parser)
{
    if (!sp_test_shared_data())
        SKIP("no shared data beside the checkout");
    compare_file("labelled-web-variants/pages.jsonl.zst", 7, 100);
    compare_file("trace-kafka-site/trace-kafka-site.jsonl.zst", 33, 1000);
    compare_file("trace-httpd/trace-httpd.jsonl.zst", 83, 500);
    compare_file("trace-ota-demo/trace-ota-demo.jsonl.zst", 101, 50);
}
