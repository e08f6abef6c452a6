/* The plan of the crawl: the kind of each page, when it is fetched again, and the JSON line of a
 * fetch.
 *
 * Copies are made of an earlier page; following these leads to an original in a few steps (7 of 10
 * pages are originals). Some copies are of a few popular pages, so that some groups are large. */
#include "synth/synth.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/json_write.h"
#include "base/mem.h"
#include "synth/line.h"
#include "synth/page.h"
#include "synth/skewed.h"

enum kind { ORIGINAL, NEAR, EXACT, REDIRECT };

/* What the random bits of a page are for. */
enum purpose {
    ROLE = 1 << 24,
    SOURCE,
    LENGTH,
    SITE,
    POPULARITY,
    FORMAT,
    AGAIN,
    AGAIN_PAGE,
    TARGET
};

struct sp_synth {
    struct sp_synth_options options;
    struct sp_vocabulary words;
    struct sp_skewed *skewed; /* NULL: the crawl is not skewed */
    struct sp_buf content;
    struct sp_buf url;
    struct sp_buf target;
    uint64_t next;  /* page whose first fetch is next */
    uint64_t clock; /* fetches so far */
    /* Fetches of earlier pages made between the first fetches of pages next-1 and next. */
    uint64_t again;
};

/* One fetch. */
struct fetch {
    uint64_t page;
    const char *kind;
    int status;
    struct sp_document document;
    uint64_t target; /* of a redirect; UINT64_MAX: a page that is never crawled */
};

void sp_synth_options_default(struct sp_synth_options *ret_options)
{
    *ret_options = (struct sp_synth_options){.pages = 1000,
                                             .seed = 1,
                                             .words = 300,
                                             .near_permille = 200,
                                             .exact_permille = 100,
                                             .redirect_permille = 30,
                                             .recrawl_permille = 150,
                                             .plain_permille = 100};
}

struct sp_synth *sp_synth_new(const struct sp_synth_options *options)
{
    struct sp_synth *s = sp_calloc(1, sizeof *s);
    s->options = *options;
    s->options.words = options->words ? options->words : 1;
    s->next = options->from;
    s->again = UINT64_MAX; /* no earlier page is fetched again before the first page */
    sp_vocabulary_make(&s->words);
    if (sp_skew_wanted(&options->skew))
        s->skewed = sp_skewed_new(&s->options, &s->words);
    return s;
}

void sp_synth_free(struct sp_synth *s)
{
    if (!s)
        return;
    sp_skewed_free(s->skewed);
    sp_vocabulary_done(&s->words);
    sp_buf_done(&s->content);
    sp_buf_done(&s->url);
    sp_buf_done(&s->target);
    sp_free(s);
}

static uint64_t random_of(const struct sp_synth *s, uint64_t page, enum purpose purpose)
{
    return sp_synth_random(s->options.seed, page, purpose);
}

static enum kind kind_of(const struct sp_synth *s, uint64_t page)
{
    const struct sp_synth_options *o = &s->options;
    uint64_t draw = random_of(s, page, ROLE) % 1000;
    if (page == 0)
        return ORIGINAL;
    if (draw < o->redirect_permille)
        return REDIRECT;
    draw -= o->redirect_permille;
    if (draw < o->exact_permille)
        return EXACT;
    return draw < o->exact_permille + o->near_permille ? NEAR : ORIGINAL;
}

/* Returns the original whose text this page has. */
static uint64_t root_of(const struct sp_synth *s, uint64_t page)
{
    while (page > 0 && kind_of(s, page) != ORIGINAL) {
        uint64_t random = random_of(s, page, SOURCE);
        if (random % 16 == 0)
            page -= 1 + (random >> 8) % 3 < page ? 1 + (random >> 8) % 3 : page;
        else if (random % 16 == 1)
            page = page / 1000 * 1000 < page ? page / 1000 * 1000 : 0; /* a popular one */
        else
            page = (random >> 8) % page;
    }
    return page;
}

static struct sp_document document_of(const struct sp_synth *s, uint64_t page)
{
    static const uint32_t edits[] = {5, 10, 10, 20, 30, 60, 100};
    uint64_t root = root_of(s, page);
    uint64_t length = random_of(s, root, LENGTH), role = random_of(s, page, ROLE);
    struct sp_document d = {.number = root};
    /* From a quarter of the mean to three times the mean. */
    static const uint32_t quarters[] = {1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 8, 8, 12, 4};
    d.words = (uint32_t)((uint64_t)s->options.words * quarters[length % 16] / 4);
    d.words += (uint32_t)((length >> 8) % (d.words / 4 + 1));
    uint64_t site = random_of(s, root, SITE) >> 32;
    d.script = site % 32 == 0   ? SP_SCRIPT_HAN
               : site % 16 == 1 ? SP_SCRIPT_CYRILLIC
               : site % 8 == 2  ? SP_SCRIPT_ACCENTED
                                : SP_SCRIPT_LATIN;
    if (kind_of(s, page) == NEAR) {
        d.edit = page + 1;
        d.edit_permille = edits[(role >> 16) % (sizeof edits / sizeof *edits)];
    }
    return d;
}

static uint64_t site_of(const struct sp_synth *s, uint64_t page)
{
    return random_of(s, page, SITE) % (s->options.pages / 200 + 5);
}

/* ---- one fetch ---- */

static struct fetch first_fetch(const struct sp_synth *s, uint64_t page)
{
    static const char *const names[] = {"original", "near", "exact", "redirect"};
    enum kind kind = kind_of(s, page);
    struct fetch f = {.page = page, .kind = names[kind], .status = 200};
    if (kind != REDIRECT) {
        f.document = document_of(s, page);
        return f;
    }
    uint64_t random = random_of(s, page, TARGET);
    f.status = random % 2 ? 301 : 302;
    if (random % 20 == 2)
        f.target = UINT64_MAX;
    else if (random % 20 == 3) /* to the next page, which may redirect back: loops */
        f.target = page + 1 < s->options.pages ? page + 1 : page - 1;
    else if (random % 20 == 4)
        f.target = page - 1;
    else
        f.target = (random >> 8) % page;
    return f;
}

/* The fetch number `turn` of those between the first fetches of pages `after` and after + 1. */
static struct fetch later_fetch(const struct sp_synth *s, uint64_t after, uint64_t turn)
{
    uint64_t random = random_of(s, after ^ turn << 48, AGAIN_PAGE);
    struct fetch f = first_fetch(s, (random >> 16) % (after + 1));
    uint64_t draw = random % 100;
    f.kind = "again";
    if (f.status != 200 || draw < 50)
        return f; /* unchanged */
    if (draw < 80) {
        f.document.edit = ((after + 1) << 32) + turn;
        f.document.edit_permille = draw < 70 ? 10 : 80;
    } else if (draw < 90) {
        f.document.number = s->options.pages * (turn + 1) + after; /* rewritten */
        f.document.edit_permille = 0;
    } else if (draw < 97) {
        f.status = draw < 95 ? 404 : 410;
        f.kind = "gone";
    } else {
        f.status = 301;
        f.kind = "redirect";
        f.target = (random >> 32) % (after + 1);
    }
    return f;
}

static struct sp_view url_of(const struct sp_synth *s, struct sp_buf *buf, uint64_t page)
{
    char text[160];
    uint64_t random = random_of(s, page, POPULARITY);
    int n =
        page == UINT64_MAX
            ? snprintf(text, sizeof text, "https://elsewhere.example/never-crawled.html")
            : snprintf(text, sizeof text,
                       "https://site-%" PRIu64 ".example/section-%" PRIu64 "/page-%" PRIu64 ".html",
                       site_of(s, page), random % 9, page);
    if (page != UINT64_MAX && random % 16 == 5)
        n += snprintf(text + n, sizeof text - (size_t)n, "?session=%08" PRIx64, random >> 32);
    sp_buf_reset(buf);
    sp_buf_put(buf, text, (size_t)n);
    return sp_buf_view(buf);
}

/* The views are valid until the next call. */
static struct sp_line line_of(struct sp_synth *s, const struct fetch *f, int64_t time_ms)
{
    uint64_t popularity = random_of(s, f->page, POPULARITY) >> 16;
    struct sp_line line = {
        .url = url_of(s, &s->url, f->page),
        .time_ms = time_ms,
        .popularity = popularity % 4 == 0 ? (int64_t)(popularity >> 8) % 1000 : -1,
        .status = f->status,
        .plain = random_of(s, f->page, FORMAT) % 1000 < s->options.plain_permille,
    };
    if (f->status == 301 || f->status == 302)
        line.target = url_of(s, &s->target, f->target);
    sp_buf_reset(&s->content);
    if (f->status == 200 && line.plain)
        sp_page_put_plain(&s->content, &s->words, s->options.seed, &f->document);
    else if (f->status == 200)
        sp_page_put_html(&s->content, &s->words, s->options.seed, site_of(s, f->page),
                         &f->document);
    line.content = sp_buf_view(&s->content);
    return line;
}

static void put_truth(const struct fetch *f, const struct sp_line *line, struct sp_buf *out)
{
    sp_line_put_field(out, "{\"url\":", line->url);
    sp_buf_put_str(out, ",\"version_ms\":");
    sp_json_put_i64(out, line->time_ms);
    sp_line_put_field(out, ",\"kind\":", sp_view_str(f->kind));
    if (f->status == 200) {
        sp_buf_put_str(out, ",\"document\":");
        sp_json_put_i64(out, (int64_t)f->document.number);
        sp_buf_put_str(out, ",\"edit_permille\":");
        sp_json_put_i64(out, f->document.edit_permille);
    } else if (f->status < 400) {
        sp_line_put_field(out, ",\"target\":", line->target);
    }
    sp_buf_put_str(out, "}\n");
}

/* Returns how many fetches of earlier pages follow the first fetch of this one. */
static uint64_t fetches_again(const struct sp_synth *s, uint64_t page)
{
    uint32_t permille = s->options.recrawl_permille;
    return permille / 1000 + (random_of(s, page, AGAIN) % 1000 < permille % 1000);
}

uint64_t sp_synth_fetches(const struct sp_synth *s)
{
    const struct sp_synth_options *o = &s->options;
    if (s->skewed)
        return o->pages;
    uint64_t count = 0;
    for (uint64_t page = o->from; page < o->pages; page++)
        count += 1 + fetches_again(s, page);
    return count;
}

bool sp_synth_next(struct sp_synth *s, struct sp_buf *line, struct sp_buf *truth)
{
    struct fetch f;
    uint64_t last = s->next - 1;
    if (s->skewed)
        return sp_skewed_next(s->skewed, line, truth);
    if (s->next > 0 && s->again < fetches_again(s, last)) {
        f = later_fetch(s, last, s->again++);
    } else if (s->next < s->options.pages) {
        s->again = 0;
        f = first_fetch(s, s->next++);
    } else {
        return false;
    }
    struct sp_line l = line_of(s, &f, SP_FIRST_FETCH_MS + (int64_t)s->clock++ * SP_FETCH_STEP_MS);
    sp_line_put(line, &l);
    if (truth)
        put_truth(&f, &l, truth);
    return true;
}
