/* Generates pages like those of real sites: the furniture depends on the site, the text on the
 * document. */
#include "synth/page.h"

#include <stdio.h>

enum { SENTENCE_WORDS = 14, PARAGRAPH_SENTENCES = 5, WORDS_A_HEADING = 160 };

static void put_words(struct sp_buf *out, const struct sp_vocabulary *w, uint64_t seed,
                      uint64_t what, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            sp_buf_put_u8(out, ' ');
        sp_word_put(out, sp_vocabulary_draw(w, SP_SCRIPT_LATIN, sp_synth_random(seed, what, i)));
    }
}

static void put_links(struct sp_buf *out, const struct sp_vocabulary *w, uint64_t seed,
                      uint64_t what, uint32_t count)
{
    char text[96];
    sp_buf_put_str(out, "<ul>");
    for (uint32_t i = 0; i < count; i++) {
        int n = snprintf(text, sizeof text, "<li><a href=\"/section-%u/\">", i);
        sp_buf_put(out, text, (size_t)n);
        put_words(out, w, seed, what + i, 1 + i % 3);
        sp_buf_put_str(out, "</a></li>\n");
    }
    sp_buf_put_str(out, "</ul>\n");
}

static void put_head(struct sp_buf *out, const struct sp_vocabulary *w, uint64_t seed,
                     uint64_t site, const struct sp_document *d)
{
    sp_buf_put_str(out, "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n<title>");
    for (uint32_t i = 0; i < 5 && i < d->words; i++) {
        sp_word_put(out, sp_document_word(w, seed, d, i));
        sp_buf_put_u8(out, ' ');
    }
    sp_buf_put_str(out, "&ndash; ");
    put_words(out, w, seed, site << 20, 2);
    sp_buf_put_str(out, "</title>\n<style>body { margin: 0 } nav li { display: inline }</style>\n"
                        "<script>window.dataLayer = window.dataLayer || [];</script>\n</head>\n"
                        "<body>\n<header><h2>");
    put_words(out, w, seed, site << 20, 2);
    sp_buf_put_str(out, "</h2><nav>");
    put_links(out, w, seed, (site << 20) + 100, 6 + (uint32_t)(site % 7));
    sp_buf_put_str(out, "</nav></header>\n");
}

static void put_foot(struct sp_buf *out, const struct sp_vocabulary *w, uint64_t seed,
                     uint64_t site)
{
    sp_buf_put_str(out, "<aside>");
    put_links(out, w, seed, (site << 20) + 200, 4 + (uint32_t)(site % 5));
    sp_buf_put_str(out, "</aside>\n<footer><p>&copy; ");
    put_words(out, w, seed, (site << 20) + 300, 20);
    sp_buf_put_str(out, "</p></footer>\n</body>\n</html>\n");
}

/* Writes the words with separators between them; `markup` turns paragraphs and headings into HTML.
 */
static void put_text(struct sp_buf *out, const struct sp_vocabulary *w, uint64_t seed,
                     const struct sp_document *d, bool markup)
{
    sp_buf_put_str(out, markup ? "<p>" : "");
    for (uint32_t i = 0; i < d->words; i++) {
        sp_word_put(out, sp_document_word(w, seed, d, i));
        bool last = i + 1 == d->words;
        if (last || (i + 1) % SENTENCE_WORDS == 0)
            sp_buf_put_u8(out, '.');
        if (!last && (i + 1) % WORDS_A_HEADING == 0 && markup)
            sp_buf_put_str(out, "</p>\n<h3>");
        else if (!last && i > WORDS_A_HEADING && i % WORDS_A_HEADING == 3 && markup)
            sp_buf_put_str(out, "</h3>\n<p>");
        else if (!last && (i + 1) % (SENTENCE_WORDS * PARAGRAPH_SENTENCES) == 0 &&
                 i % WORDS_A_HEADING > 3)
            sp_buf_put_str(out, markup ? "</p>\n<p>" : "\n\n");
        else if (markup && i % 97 == 50)
            sp_buf_put_str(out, "&nbsp;");
        else if (d->script != SP_SCRIPT_HAN)
            sp_buf_put_u8(out, ' ');
    }
    sp_buf_put_str(out, markup ? "</p>\n" : "\n");
}

void sp_page_put_html(struct sp_buf *out, const struct sp_vocabulary *w, uint64_t seed,
                      uint64_t site, const struct sp_document *d)
{
    static const char *const open[] = {"<main>\n<article>\n", "<div id=\"content\">\n",
                                       "<div class=\"page\"><div class=\"body\">\n"};
    static const char *const close[] = {"</article>\n</main>\n", "</div>\n", "</div></div>\n"};
    put_head(out, w, seed, site, d);
    sp_buf_put_str(out, open[site % 3]);
    put_text(out, w, seed, d, true);
    sp_buf_put_str(out, close[site % 3]);
    put_foot(out, w, seed, site);
}

void sp_page_put_plain(struct sp_buf *out, const struct sp_vocabulary *w, uint64_t seed,
                       const struct sp_document *d)
{
    put_text(out, w, seed, d, false);
}
