/* Merges the streams of the kinds into one crawl. The next kind is drawn in proportion to the
 * fetches that each has left, so all kinds end together and the shares are exact.
 *
 * Texts are plain, with words of the made-up vocabulary. A word that must belong to one page only
 * is made from the page's number: it ends in a vowel, which no word of the vocabulary does. */
#include "synth/skewed.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "synth/line.h"
#include "synth/plan.h"

enum { SENTENCE_WORDS = 14, PARAGRAPH_WORDS = 70, EDITS_MAX = 4096 };

/* The input for the random bits of the mix; no page has this number. */
static const uint64_t next_kind = UINT64_MAX - 1;

struct sp_skewed {
    struct sp_skew_plan plan;
    const struct sp_vocabulary *words;
    uint64_t fetches; /* made so far */
    uint64_t left;    /* of all kinds */
    uint64_t made[SP_SKEW_KINDS];
    struct sp_buf url;
    struct sp_buf target;
    struct sp_buf content;
    uint32_t edits; /* words of the content that the document did not have at first */
};

struct sp_skewed *sp_skewed_new(const struct sp_synth_options *options,
                                const struct sp_vocabulary *words)
{
    struct sp_skewed *s = sp_calloc(1, sizeof *s);
    SP_ASSERT(options->words >= SP_SKEW_WORDS_MIN);
    sp_skew_plan_make(&s->plan, options);
    s->words = words;
    s->left = options->pages;
    return s;
}

void sp_skewed_free(struct sp_skewed *s)
{
    if (!s)
        return;
    sp_skew_plan_done(&s->plan);
    sp_buf_done(&s->url);
    sp_buf_done(&s->target);
    sp_buf_done(&s->content);
    sp_free(s);
}

/* ---- texts ---- */

/* Writes a word of edit number `edit` that only this page has. */
static void put_own_word(struct sp_buf *out, uint64_t variant, uint32_t edit)
{
    static const char consonants[] = "bdfgklmn", vowels[] = "aeio";
    sp_buf_put_str(out, "zu");
    for (uint64_t x = variant * EDITS_MAX + edit; x > 0; x /= 32) {
        sp_buf_put_u8(out, (uint8_t)consonants[x % 8]);
        sp_buf_put_u8(out, (uint8_t)vowels[x / 8 % 4]);
    }
}

static void put_word(const struct sp_skewed *s, const struct sp_skew_text *t, uint32_t i,
                     uint64_t generation, struct sp_buf *out)
{
    uint64_t document = i < t->template_words ? t->template : t->document;
    uint64_t seed = s->plan.seed ^ generation * 0xa0761d6478bd642full;
    uint64_t random = sp_synth_random(seed, document, t->first + i);
    sp_word_put(out, sp_vocabulary_draw(s->words, SP_SCRIPT_LATIN, random));
}

static void put_address(const struct sp_skewed *s, const struct sp_skew_text *t, struct sp_buf *out)
{
    sp_buf_put_str(out, "the page ");
    if (t->variant % 2)
        sp_json_put_i64(out, (int64_t)t->variant);
    else
        sp_buf_put_view(out, sp_buf_view(&s->url));
    sp_buf_put_u8(out, ' ');
}

static void put_break(struct sp_buf *out, uint32_t i, uint32_t words)
{
    bool last = i + 1 == words;
    if (last || (i + 1) % SENTENCE_WORDS == 0)
        sp_buf_put_u8(out, '.');
    sp_buf_put_str(out, last ? "\n" : (i + 1) % PARAGRAPH_WORDS == 0 ? "\n\n" : " ");
}

/* Writes the text to s->content. */
static void make_text(struct sp_skewed *s, const struct sp_skew_text *t)
{
    struct sp_buf *out = &s->content;
    const uint64_t seed = s->plan.seed;
    const uint32_t words = t->words;
    uint32_t edit = 0, place = UINT32_MAX;
    if (t->edit == SP_EDIT_WORDS)
        place = sp_skew_plan_edit_place(seed, t, 0);
    s->edits = 0;
    for (uint32_t i = 0; i < words; i++) {
        uint64_t generation = 0;
        bool own = t->edit == SP_EDIT_PERCENT && sp_skew_plan_replaced(seed, t, i);
        for (; i == place; own = true)
            place = ++edit < words / 100 ? sp_skew_plan_edit_place(seed, t, edit) : UINT32_MAX;
        own |= t->edit == SP_EDIT_RUNS && sp_skew_plan_in_run(t, i);
        if (t->edit == SP_EDIT_ROLLING)
            generation = sp_skew_plan_generation(t, i);
        if (t->edit == SP_EDIT_ADDRESS && i == words / 2)
            put_address(s, t, out);
        if (own)
            put_own_word(out, t->variant, s->edits);
        else
            put_word(s, t, i, generation, out);
        s->edits += own || generation > 0 || t->first + i >= s->plan.words ||
                    (t->edit == SP_EDIT_ADDRESS && i == words / 2);
        put_break(out, i, words);
    }
}

/* ---- lines ---- */

static struct sp_view url_of(const struct sp_skew_fetch *f, uint64_t page, struct sp_buf *buf)
{
    char text[160];
    const char *name = sp_skew_name(f->kind);
    int n = page == SP_SKEW_NOWHERE
                ? snprintf(text, sizeof text, "https://%s-%" PRIu64 ".example/never-crawled", name,
                           f->family)
                : snprintf(text, sizeof text,
                           "https://%s-%" PRIu64 ".example/section-%" PRIu64 "/page-%0*" PRIu64,
                           name, f->family, page % 9, f->numbered ? 12 : 1, page);
    sp_buf_reset(buf);
    sp_buf_put(buf, text, (size_t)n);
    for (uint32_t i = 0; i < f->padding; i++)
        sp_buf_put_u8(buf, i == 0 ? '-' : 'x');
    sp_buf_put_str(buf, ".html");
    return sp_buf_view(buf);
}

static const char *kind_name(const struct sp_skewed *s, const struct sp_skew_fetch *f)
{
    if (f->status != 200)
        return f->status < 400 ? "redirect" : "gone";
    if (f->again)
        return "again";
    if (s->edits)
        return "near";
    return f->text.own || f->page == 0 ? "original" : "exact";
}

static void put_truth(const struct sp_skewed *s, const struct sp_skew_fetch *f,
                      const struct sp_line *line, struct sp_buf *out)
{
    char group[96];
    const char *name = sp_skew_name(f->kind);
    int n = snprintf(group, sizeof group, "%s-%" PRIu64, name, f->family);
    if (f->group != SP_GROUP_FAMILY)
        snprintf(group + n, sizeof group - (size_t)n, "/%" PRIu64,
                 f->group == SP_GROUP_PAGE ? f->group_page : f->page);
    sp_line_put_field(out, "{\"url\":", line->url);
    sp_buf_put_str(out, ",\"version_ms\":");
    sp_json_put_i64(out, line->time_ms);
    sp_line_put_field(out, ",\"kind\":", sp_view_str(kind_name(s, f)));
    if (f->status == 200) {
        sp_buf_put_str(out, ",\"document\":");
        sp_json_put_i64(out, (int64_t)f->text.document);
        sp_buf_put_str(out, ",\"edit_permille\":");
        sp_json_put_i64(out, (s->edits * INT64_C(1000) + f->text.words - 1) / f->text.words);
    } else if (f->status < 400) {
        sp_line_put_field(out, ",\"target\":", line->target);
    }
    sp_line_put_field(out, ",\"skew\":", sp_view_str(name));
    sp_line_put_field(out, ",\"group\":", sp_view_str(group));
    sp_buf_put_str(out, "}\n");
}

static enum sp_skew_kind draw_kind(const struct sp_skewed *s)
{
    uint64_t draw = sp_synth_random(s->plan.seed, next_kind, s->fetches) % s->left;
    int kind = 0;
    for (uint64_t left; draw >= (left = s->plan.counts[kind] - s->made[kind]); kind++)
        draw -= left;
    return (enum sp_skew_kind)kind;
}

bool sp_skewed_next(struct sp_skewed *s, struct sp_buf *line, struct sp_buf *truth)
{
    if (s->left == 0)
        return false;
    enum sp_skew_kind kind = draw_kind(s);
    struct sp_skew_fetch f = sp_skew_plan_fetch(&s->plan, kind, s->made[kind]++);
    struct sp_line l = {
        .url = url_of(&f, f.page, &s->url),
        .time_ms = SP_FIRST_FETCH_MS + (int64_t)s->fetches * SP_FETCH_STEP_MS + f.ahead_ms,
        .popularity = f.popularity,
        .status = f.status,
        .plain = true,
    };
    if (f.status == 301 || f.status == 302)
        l.target = url_of(&f, f.target, &s->target);
    sp_buf_reset(&s->content);
    if (f.status == 200)
        make_text(s, &f.text);
    l.content = sp_buf_view(&s->content);
    sp_line_put(line, &l);
    if (truth)
        put_truth(s, &f, &l, truth);
    s->fetches++;
    s->left--;
    return true;
}
