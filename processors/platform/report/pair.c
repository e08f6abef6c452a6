/* Shows two texts side by side and marks the words that only one of them has. */
#include "base/hash.h"
#include "base/mem.h"
#include "report/internal.h"

enum {
    WORDS_SHOWN = 4000, /* of each text: as much as a reader will scroll through */
    DIFFERENCES = 1000  /* searched for; diff.c says what they cost */
};

struct words {
    struct sp_view *words;
    uint64_t *hashes;
    bool *only; /* the word is not in the other text */
    size_t count;
    bool more; /* the text continues */
};

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static struct words split(struct sp_view text)
{
    struct words w = {sp_alloc(WORDS_SHOWN * sizeof *w.words),
                      sp_alloc(WORDS_SHOWN * sizeof *w.hashes),
                      sp_calloc(WORDS_SHOWN, sizeof *w.only), 0, false};
    for (size_t i = 0; i < text.len;) {
        size_t start = i;
        while (i < text.len && !is_space(text.data[i]))
            i++;
        if (i > start && w.count == WORDS_SHOWN) {
            w.more = true;
            break;
        }
        if (i > start) {
            w.words[w.count] = sp_view(text.data + start, i - start);
            w.hashes[w.count++] = sp_hash64(text.data + start, i - start);
        }
        while (i < text.len && is_space(text.data[i]))
            i++;
    }
    return w;
}

static void words_done(struct words *w)
{
    sp_free(w->words);
    sp_free(w->hashes);
    sp_free(w->only);
}

/* Writes the white space between this word and the one before it: a space or a line break, as in
 * the text. */
static void put_gap(struct sp_buf *out, const struct words *w, size_t i)
{
    const char *end = w->words[i - 1].data + w->words[i - 1].len;
    bool line = memchr(end, '\n', (size_t)(w->words[i].data - end)) != NULL;
    sp_buf_put_u8(out, line ? '\n' : ' ');
}

static void put_text(struct sp_buf *out, const struct words *w, const char *title, const char *tag)
{
    sp_buf_put_str(out, "<div tabindex=\"0\" role=\"region\" aria-label=\"");
    sp_html_put_str(out, title);
    sp_buf_put_str(out, "\"><b>");
    sp_html_put_str(out, title);
    sp_buf_put_str(out, "</b>\n");
    for (size_t i = 0; i < w->count; i++) {
        bool begins = w->only[i] && (i == 0 || !w->only[i - 1]);
        bool ends = w->only[i] && (i + 1 == w->count || !w->only[i + 1]);
        if (i)
            put_gap(out, w, i);
        if (begins)
            sp_html_putf(out, "<%s>", tag);
        sp_html_put(out, w->words[i]);
        if (ends)
            sp_html_putf(out, "</%s>", tag);
    }
    if (w->more)
        sp_html_putf(out, "\n[the first %d words; the text continues]", WORDS_SHOWN);
    sp_buf_put_str(out, "</div>\n");
}

void sp_report_pair(struct sp_report *r, const struct sp_pair *pair)
{
    struct words a = split(pair->a), b = split(pair->b);
    sp_diff_words(a.hashes, a.count, b.hashes, b.count, DIFFERENCES, a.only, b.only);
    sp_html_putf(&r->body, "<p class=\"%s\">", pair->good ? "good" : "bad");
    sp_html_put_str(&r->body, pair->verdict);
    sp_buf_put_str(&r->body, "</p>\n<div class=\"pair\">\n");
    put_text(&r->body, &a, pair->title_a, "del");
    put_text(&r->body, &b, pair->title_b, "ins");
    sp_buf_put_str(&r->body, "</div>\n");
    words_done(&a);
    words_done(&b);
}
