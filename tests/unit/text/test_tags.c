/* Classes and ids: words found by bitmaps of 64 bytes are those found byte by byte. Tags and runs
 * of tags: what was read before changes nothing. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "harness.h"
#include "text/elements.h"
#include "text/html.h"
#include "text/runs.h"
#include "text/tags.h"
#include "text_helper.h"

static unsigned context_of(const char *value)
{
    return sp_tag_class_context(sp_view_str(value), strlen(value));
}

TEST(furniture_is_a_word_of_a_class)
{
    CU_ASSERT_EQUAL(context_of("sidebar"), SP_IN_HINT);
    CU_ASSERT_EQUAL(context_of("page-sidebar wide"), SP_IN_HINT);
    CU_ASSERT_EQUAL(context_of("topNav"), SP_IN_HINT);
    CU_ASSERT_EQUAL(context_of("NAV"), SP_IN_HINT);
    CU_ASSERT_EQUAL(context_of("NavBar"), SP_IN_HINT); /* the whole run, after its last word */
    CU_ASSERT_EQUAL(context_of("navigate"), 0);
    CU_ASSERT_EQUAL(context_of("sidebars"), 0);
    CU_ASSERT_EQUAL(context_of(""), 0);
    CU_ASSERT_EQUAL(context_of(" -\n"), 0);
}

TEST(a_negation_holds_for_its_class_only)
{
    CU_ASSERT_EQUAL(context_of("has-sidebar"), 0);
    CU_ASSERT_EQUAL(context_of("sidebar-no"), 0);
    CU_ASSERT_EQUAL(context_of("has-text sidebar"), SP_IN_HINT);
    CU_ASSERT_EQUAL(context_of("sidebar\thas-text"), SP_IN_HINT);
}

/* What the words mean, one byte after the other. Hints that stand for all: "ad" and "menu"; of the
 * negations "no". */
static unsigned plainly(const char *v, size_t len)
{
    unsigned context = 0, token = 0;
    bool negated = false;
    size_t run = 0, word = 0;
    for (size_t i = 0; i < len; i++) {
        if (isspace((unsigned char)v[i])) {
            context |= token;
            token = 0;
            negated = false;
        }
        if (!isalpha((unsigned char)v[i]))
            continue;
        bool in_run = i > 0 && isalpha((unsigned char)v[i - 1]);
        if (!in_run)
            run = i;
        if (!in_run || (isupper((unsigned char)v[i]) && !isupper((unsigned char)v[i - 1])))
            word = i;
        bool ends = i + 1 == len || !isalpha((unsigned char)v[i + 1]) ||
                    (isupper((unsigned char)v[i + 1]) && !isupper((unsigned char)v[i]));
        if (!ends)
            continue;
        for (size_t from = word;; from = run) {
            size_t n = i + 1 - from;
            bool no = n == 2 && strncasecmp(v + from, "no", 2) == 0;
            bool hint = (n == 2 && strncasecmp(v + from, "ad", 2) == 0) ||
                        (n == 4 && strncasecmp(v + from, "menu", 4) == 0);
            if (no) {
                negated = true;
                token = 0;
            } else if (hint && !negated) {
                token = SP_IN_HINT;
            }
            if (no || hint || from == run)
                break;
        }
    }
    return context | token;
}

TEST(words_lie_anywhere_in_a_value_of_any_length)
{
    static const char *const pieces[] = {"ad", "menu", "no", "Ad", "MENU", "-", " ",
                                         "\t", "x",    "Ze", "_",  "\xe9", "9", "zzzzzzzzzzz"};
    enum { PIECES = sizeof pieces / sizeof *pieces, READ = 128 };
    uint32_t state = 1;
    unsigned hints = 0, wrong = 0;
    for (int n = 0; n < 20000; n++) {
        char text[256];
        size_t len = 0, most = (size_t)n % 200;
        while (len < most) {
            state = state * 1664525 + 1013904223;
            const char *piece = pieces[(state >> 16) % PIECES];
            memcpy(text + len, piece, strlen(piece));
            len += strlen(piece);
        }
        char *exact = sp_alloc(len + 1); /* a read behind it is seen by the address sanitizer */
        memcpy(exact, text, len);
        unsigned want = plainly(text, len < READ ? len : READ);
        wrong += sp_tag_class_context(sp_view(exact, len), len) != want;
        wrong += sp_tag_class_context(sp_view(text, len), sizeof text) != want;
        hints += want != 0;
        sp_free(exact);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(hints > 2000 && hints < 18000);
}

TEST(names_are_compared_without_case)
{
    CU_ASSERT_EQUAL(sp_tag_find("SpAn", 4, 4), SP_TAG_span);
    CU_ASSERT_EQUAL(sp_tag_find("spanx>  ", 4, 8), SP_TAG_span);
    CU_ASSERT_EQUAL(sp_tag_find("spanx>  ", 5, 8), SP_TAG_OTHER);
    CU_ASSERT_EQUAL(sp_tag_find("blockquote", 10, 10), SP_TAG_blockquote);
    CU_ASSERT_EQUAL(sp_tag_find("blockquote        ", 10, 18), SP_TAG_blockquote);
    CU_ASSERT_EQUAL(sp_tag_find("textarea", 8, 8), SP_TAG_textarea);
    CU_ASSERT_EQUAL(sp_tag_find("averyveryverylongname", 21, 21), SP_TAG_OTHER);
}

/* Tags that differ little, some with a '>' in an attribute, some that do not end. */
static void put_random_tag(uint64_t *state, struct sp_buf *out)
{
    static const char *const names[] = {"<div",    "<td", "<a",       "<span",
                                        "<script", "<p",  "<B",       "</div",
                                        "</a",     "</p", "<section", "<custom-element"};
    static const char *const attributes[] = {" class=\"nav\"",
                                             " class='menu top'",
                                             " class=\"text\"",
                                             " id=\"toc\"",
                                             " hidden",
                                             " style=\"display:none\"",
                                             " href=x",
                                             " href=\"x\"",
                                             " href=\"a>'b\"",
                                             " href=\"",
                                             " title=\"a>b\"",
                                             " role='main'",
                                             " type=\"text/template\"",
                                             " x=\"",
                                             " class=navy",
                                             " CLASS=\"Nav\"",
                                             " data-a=\"0123456789abcdef\"",
                                             "/"};
    sp_buf_put_str(out, names[next_random(state) % (sizeof names / sizeof *names)]);
    for (uint64_t n = next_random(state) % 4; n > 0; n--)
        sp_buf_put_str(out,
                       attributes[next_random(state) % (sizeof attributes / sizeof *attributes)]);
    sp_buf_put_str(out, next_random(state) % 16 ? ">" : next_random(state) % 2 ? "<" : " t ");
}

/* A link that begins with its address is read in its own way. */
static void check_link(const struct sp_markup *markup, size_t at, const struct sp_element *element,
                       size_t end)
{
    struct sp_attributes attributes = {0};
    if (element->tag != SP_TAG_a || element->ends)
        return;
    CU_ASSERT_EQUAL_FATAL(sp_markup_tag_end(markup, at + 2, SP_WANT_OWN, &attributes), end);
    CU_ASSERT_EQUAL_FATAL(element->attributes.has_href, attributes.has_href);
    CU_ASSERT_EQUAL_FATAL(element->closed, markup->data[end - 2] == '/');
}

/* Names of attributes of all lengths, with one byte that may be no letter: where the tag ends is
 * the same whether attributes are skipped or read. */
TEST(skipped_attributes_end_where_read_ones_do)
{
    static const char odd[] = "aZz{`@[-:_= \n\t/\"'\x80\xe1>";
    for (size_t len = 1; len < 14; len++)
        for (size_t at = 0; at < len; at++)
            for (size_t k = 0; k + 1 < sizeof odd; k++) {
                char page[128] = "<a href=\"x\" ";
                size_t name = strlen(page);
                memset(page + name, 'n', len);
                page[name + at] = odd[k];
                memcpy(page + name + len, "=\"a>b\" c='>'>d\">'>", 19);
                size_t size = strlen(page);
                uint64_t bits[4][4] = {{0}};
                sp_scan_kernel()->markup(
                    page, size, &(struct sp_scan_markup){bits[0], bits[1], bits[2], bits[3]});
                struct sp_markup m = {page, size, bits[0], bits[1], bits[2], bits[3]};
                struct sp_attributes skipped = {0}, read = {0};
                size_t end = sp_markup_tag_end(&m, 2, SP_WANT_OWN, &read);
                CU_ASSERT_EQUAL(sp_markup_tag_end(&m, 2, SP_WANT_NONE, &skipped), end);
                CU_ASSERT_EQUAL(sp_elements_link(&m, 0), end);
            }
}

TEST(what_was_read_before_does_not_change_a_tag)
{
    struct sp_elements *all = sp_elements_new();
    struct sp_buf page = {0};
    uint64_t state = 3, tags = 0;
    for (int round = 0; round < 200; round++) {
        uint64_t bits[4][4096 / 64 + 1] = {{0}};
        sp_buf_reset(&page);
        while (page.len < 3000)
            put_random_tag(&state, &page);
        size_t len = page.len - next_random(&state) % 64;
        sp_scan_kernel()->markup(page.data, len,
                                 &(struct sp_scan_markup){bits[0], bits[1], bits[2], bits[3]});
        struct sp_markup markup = {page.data, len, bits[0], bits[1], bits[2], bits[3]};
        for (size_t at = 0; at + 3 < len; at++) {
            struct sp_element known, read;
            size_t letter = at + 1 + (page.data[at + 1] == '/');
            if (page.data[at] != '<' || (unsigned)((page.data[letter] | 0x20) - 'a') >= 26)
                continue;
            struct sp_elements *none = sp_elements_new();
            size_t end = sp_elements_read(none, &markup, at, &read);
            CU_ASSERT_EQUAL_FATAL(sp_elements_read(all, &markup, at, &known), end);
            CU_ASSERT_EQUAL_FATAL(known.tag, read.tag);
            CU_ASSERT_EQUAL_FATAL(known.ends, read.ends);
            CU_ASSERT_EQUAL_FATAL(known.closed, read.closed);
            CU_ASSERT_EQUAL_FATAL(known.attributes.context, read.attributes.context);
            CU_ASSERT_EQUAL_FATAL(known.attributes.has_href, read.attributes.has_href);
            CU_ASSERT_EQUAL_FATAL(known.attributes.hidden, read.attributes.hidden);
            CU_ASSERT_EQUAL_FATAL(known.attributes.is_template, read.attributes.is_template);
            check_link(&markup, at, &read, end);
            sp_elements_free(none);
            tags++;
        }
    }
    CU_ASSERT(tags > 10000);
    sp_elements_free(all);
    sp_buf_done(&page);
}

/* Tags as they follow one another, few enough for runs to occur often. */
static void put_random_run(uint64_t *state, struct sp_buf *out)
{
    static const char *const pieces[] = {"<div class=\"nav\">",
                                         "<td class=\"menu\">",
                                         "<script type=\"text/template\">",
                                         "<div>",
                                         "</div>",
                                         "<div hidden>",
                                         "<td>",
                                         "</td>",
                                         "</tr>\n  <tr>",
                                         "<table>",
                                         "</table>",
                                         "<h2>",
                                         "</h2>",
                                         "<b>",
                                         "</b>",
                                         "<a name=\"x\">",
                                         "<a href=\"y\">",
                                         "<a>",
                                         "</a>",
                                         "<br>",
                                         "<p>",
                                         "</p>",
                                         "<li>",
                                         "</li>",
                                         "<ul>",
                                         "</ul>",
                                         "<!-- note -->",
                                         "<!-- a > b -->",
                                         "<!--",
                                         "-->",
                                         "<header>",
                                         "</header>",
                                         "<main>",
                                         "</main>",
                                         "<svg>",
                                         "</svg>",
                                         "<script>",
                                         "</script>",
                                         "<title>",
                                         "</title>",
                                         "<math>",
                                         "</math>",
                                         "<![CDATA[x]]>",
                                         "<p title=\"a > b\">",
                                         "<span style=\"display:none\">",
                                         "</span>",
                                         "<img src=x>",
                                         "<a title=\"x\" href=\"y\" rel=\"z\">",
                                         "<i",
                                         "&lt;",
                                         "&nbsp;&"};
    uint64_t kinds = next_random(state) % 4 ? 28 : sizeof pieces / sizeof *pieces;
    for (uint64_t n = next_random(state) % 6; n > 0; n--) {
        sp_buf_put_str(out, pieces[next_random(state) % kinds]);
        sp_buf_put_str(out, next_random(state) % 3 ? "" : " \n");
    }
    sp_buf_put_str(out, next_random(state) % 4 ? "some words" : " text ");
}

static bool same_blocks(const struct sp_blocks *a, const struct sp_blocks *b)
{
    bool same = a->count == b->count && sp_view_eq(sp_buf_view(&a->text), sp_buf_view(&b->text));
    for (size_t i = 0; same && i < a->count; i++)
        same = a->items[i].start == b->items[i].start && a->items[i].end == b->items[i].end &&
               a->items[i].link_bytes == b->items[i].link_bytes &&
               a->items[i].context == b->items[i].context;
    return same;
}

TEST(what_was_read_before_does_not_change_a_page)
{
    struct sp_html *all = sp_html_new();
    struct sp_blocks known = {0}, read = {0};
    struct sp_buf page = {0};
    uint64_t state = 5, wrong = 0, blocks = 0;
    for (int round = 0; round < 3000; round++) {
        sp_buf_reset(&page);
        for (uint64_t n = next_random(&state) % 40; n > 0; n--)
            put_random_run(&state, &page);
        struct sp_html *none = sp_html_new();
        sp_html_scan(none, sp_buf_view(&page), false, &read);
        sp_html_scan(all, sp_buf_view(&page), false, &known);
        wrong += !same_blocks(&known, &read);
        blocks += read.count;
        sp_html_free(none);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(blocks > 10000);
    sp_html_free(all);
    sp_blocks_done(&known);
    sp_blocks_done(&read);
    sp_buf_done(&page);
}

/* Also with containers nested deeper than they are counted. */
TEST(deep_pages_do_not_depend_on_what_was_read_before)
{
    struct sp_html *all = sp_html_new();
    struct sp_blocks known = {0}, read = {0};
    struct sp_buf page = {0};
    for (unsigned depth = 230; depth < 280; depth++) {
        sp_buf_reset(&page);
        for (unsigned i = 0; i < depth; i++)
            sp_buf_put_str(&page, i % 7 ? "<div> <ul>x" : "<nav> <p>x");
        for (unsigned i = 0; i < depth; i++)
            sp_buf_put_str(&page, "y</ul></div>\n</nav>");
        struct sp_html *none = sp_html_new();
        sp_html_scan(none, sp_buf_view(&page), false, &read);
        sp_html_scan(all, sp_buf_view(&page), false, &known);
        CU_ASSERT_TRUE(same_blocks(&known, &read));
        sp_html_free(none);
    }
    sp_html_free(all);
    sp_blocks_done(&known);
    sp_blocks_done(&read);
    sp_buf_done(&page);
}

/* Scans the page with a scanner that may know its runs and with one that does not. */
static void check_known(struct sp_html *all, struct sp_view page)
{
    struct sp_blocks known = {0}, read = {0};
    struct sp_html *none = sp_html_new();
    sp_html_scan(none, page, false, &read);
    sp_html_scan(all, page, false, &known);
    CU_ASSERT_TRUE(same_blocks(&known, &read));
    sp_html_free(none);
    sp_blocks_done(&known);
    sp_blocks_done(&read);
}

/* A cell without content ends the cell before it. */
TEST(an_empty_cell_is_not_nothing)
{
    struct sp_html *all = sp_html_new();
    struct sp_buf page = {0};
    for (unsigned i = 0; i < 20; i++)
        sp_buf_put_str(&page, "<td class=\"menu\">a<td></td>b");
    for (unsigned i = 0; i < 3; i++)
        check_known(all, sp_buf_view(&page));
    sp_html_free(all);
    sp_buf_done(&page);
}

/* An end tag of a container that was not counted does not end one that was. */
TEST(a_run_does_not_cancel_what_the_stack_would_not)
{
    struct sp_html *all = sp_html_new();
    struct sp_buf page = {0};
    for (unsigned i = 0; i < 256; i++)
        sp_buf_put_str(&page, "<div>x");
    sp_buf_put_str(&page, "<nav>y<nav>y");
    for (unsigned i = 0; i < 40; i++)
        sp_buf_put_str(&page, "</div>x");
    for (unsigned i = 0; i < 5; i++)
        sp_buf_put_str(&page, "<nav></nav>z");
    for (unsigned i = 0; i < 30; i++)
        sp_buf_put_str(&page, " some words at the end");
    for (unsigned i = 0; i < 3; i++)
        check_known(all, sp_buf_view(&page));
    sp_html_free(all);
    sp_buf_done(&page);
}

/* A comment that the end of one page cuts goes on in another page with the same bytes. */
TEST(a_comment_that_is_cut_is_not_known)
{
    static const char run[] = "<b><!-- 0123456789 0123456789 0123456789 0123456789 0123456789 >";
    _Static_assert(sizeof run - 1 == 64, "what is compared");
    struct sp_html *all = sp_html_new();
    struct sp_buf page = {0};
    sp_buf_put_str(&page, "some words ");
    sp_buf_put_str(&page, run);
    for (unsigned i = 0; i < 3; i++)
        check_known(all, sp_buf_view(&page));
    sp_buf_put_str(&page, "hidden --> and shown");
    check_known(all, sp_buf_view(&page));
    sp_html_free(all);
    sp_buf_done(&page);
}

TEST(runs_are_known_from_the_third_time_on)
{
    struct sp_buf page = {0};
    struct sp_runs *runs = sp_runs_new();
    struct sp_elements *elements = sp_elements_new();
    size_t end, ends[3], found[3];
    for (unsigned n = 1; n < 4; n++) {
        sp_buf_reset(&page);
        for (unsigned i = 0; i < 10; i++)
            sp_buf_put_str(&page, n == 2 ? "text <b></i></p>\n <td>" : "text <b></p>\n <td>");
        uint64_t bits[4][8] = {{0}};
        struct sp_scan_markup marks = {bits[0], bits[1], bits[2], bits[3]};
        sp_scan_kernel()->markup(page.data, page.len, &marks);
        struct sp_markup markup = {page.data, page.len, bits[0], bits[1], bits[2], bits[3]};
        found[n - 1] = 0;
        for (size_t i = 0; i < page.len; i++)
            if (page.data[i] == '<' && i >= 8 && page.data[i - 1] == ' ' && page.data[i + 1] == 'b')
                found[n - 1] += sp_runs_find(runs, elements, &markup, i, &end) != NULL;
        ends[n - 1] = end;
    }
    CU_ASSERT_TRUE(found[0] >= 4 && found[0] <= 8); /* not the last: a block cannot be read there */
    CU_ASSERT_EQUAL(found[2], found[0] + 1);        /* the second was known then */
    CU_ASSERT_EQUAL(ends[0], 10 * strlen("text <b></p>\n <td>"));
    sp_runs_free(runs);
    sp_elements_free(elements);
    sp_buf_done(&page);
}
