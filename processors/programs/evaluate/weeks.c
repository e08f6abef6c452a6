/* See weeks.h. Source: Zhu et al., WWW 2012, section 6.2, Figure 8.
 *
 * A group's representative is the signature of its winner; a page that is alone is its own
 * representative (section 5.1). Here it is the one at the end of the first week, from what was
 * published then, so the figure does not depend on how tier 1 finds it. */
#include "evaluate/weeks.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

const double sp_week_parts[SP_WEEK_STEPS] = {2.5, 5, 10, 15, 20, 25, 30};

/* ---- the two weeks ---- */

struct page {
    uint64_t hash;
    uint32_t number;
    size_t last[2]; /* number of the fetch; SIZE_MAX: none */
};

static int by_hash(const void *a, const void *b)
{
    const struct page *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int by_fetch(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

static void add_fetches(struct sp_crawl *crawl, const struct sp_trace *t, const struct page *pages,
                        int week)
{
    size_t *fetches = sp_alloc((t->page_count + 1) * sizeof *fetches), count = 0;
    for (size_t p = 0; p < t->page_count; p++)
        if (pages[p].last[week] != SIZE_MAX)
            fetches[count++] = pages[p].last[week];
    if (count)
        qsort(fetches, count, sizeof *fetches, by_fetch);
    for (size_t i = 0; i < count; i++) {
        struct sp_message *m = sp_trace_message(t, fetches[i]);
        sp_crawl_add(crawl, m);
        sp_message_free(m);
    }
    sp_free(fetches);
}

/* Makes half of the URLs common to both weeks; returns their number. */
static size_t overlap_by_half(struct page *pages, size_t count)
{
    size_t both = 0, new = 0;
    for (size_t p = 0; p < count; p++)
        if (pages[p].last[1] != SIZE_MAX)
            *(pages[p].last[0] != SIZE_MAX ? &both : &new) += 1;
    size_t made_new = both > new ? (both - new) / 2 : 0, left_out = new > both ? new - both : 0;
    both -= made_new;
    if (count)
        qsort(pages, count, sizeof *pages, by_hash);
    for (size_t p = 0; p < count; p++) {
        bool first = pages[p].last[0] != SIZE_MAX, second = pages[p].last[1] != SIZE_MAX;
        if (first && second && made_new) {
            pages[p].last[0] = SIZE_MAX;
            made_new--;
        } else if (!first && second && left_out) {
            pages[p].last[1] = SIZE_MAX;
            left_out--;
        }
    }
    return both;
}

struct sp_weeks sp_weeks_make(const struct sp_trace *t, const struct sp_trace_file *file)
{
    struct sp_weeks w = {.crawl = sp_crawl_new()};
    struct page *pages = sp_alloc((t->page_count + 1) * sizeof *pages);
    for (size_t p = 0; p < t->page_count; p++)
        pages[p] = (struct page){sp_mix64(t->pages[p].id.lo), (uint32_t)p, {SIZE_MAX, SIZE_MAX}};
    for (size_t i = 0; i < file->count; i++)
        pages[t->fetches[file->first + i].page].last[i >= file->count / 2] = file->first + i;
    w.both = overlap_by_half(pages, t->page_count);
    add_fetches(w.crawl, t, pages, 0);
    w.first = w.crawl->fetch_count;
    add_fetches(w.crawl, t, pages, 1);
    sp_free(pages);
    return w;
}

/* ---- counting ---- */

struct watch {
    const struct sp_weeks *weeks;
    uint32_t *representative; /* content, by page; SP_NO_NUMBER: none */
    uint32_t *content;        /* of the first week */
    uint64_t settled[1 + SP_WEEK_STEPS];
};

/* At the end of the first week. */
static void take_representatives(struct watch *w, const struct sp_said *said)
{
    const struct sp_crawl *c = w->weeks->crawl;
    for (size_t i = 0; i < w->weeks->first; i++)
        if (c->fetches[i].kind == SP_PAGE_CONTENT)
            w->content[c->fetches[i].page] = c->fetches[i].content;
    for (size_t p = 0; p < c->page_count; p++) {
        uint32_t winner = said[p].winner;
        w->representative[p] = winner != SP_NO_NUMBER && w->content[winner] != SP_NO_NUMBER
                                   ? w->content[winner]
                                   : w->content[p];
    }
}

static void look(void *arg, const struct sp_replay_moment *moment)
{
    struct watch *w = arg;
    w->settled[moment->point] = moment->stats.group.settled;
    if (moment->point == 0)
        take_representatives(w, moment->said);
}

static void count_updates(const struct watch *w, const struct sp_similarity_options *o,
                          const size_t *points, struct sp_week_counts *ret_counts)
{
    const struct sp_crawl *c = w->weeks->crawl;
    struct sp_week_counts n = {0};
    for (size_t step = 0, i = w->weeks->first; step < SP_WEEK_STEPS; step++) {
        for (; i < points[1 + step]; i++) {
            const struct sp_crawl_fetch *f = &c->fetches[i];
            uint32_t before = w->content[f->page];
            n.fetches++;
            if (f->kind != SP_PAGE_CONTENT || before == SP_NO_NUMBER || before == f->content)
                continue;
            const struct sp_signature *now = c->contents[f->content];
            n.updated++;
            n.self += sp_similar(o, c->contents[before], now, NULL);
            n.representative += sp_similar(o, c->contents[w->representative[f->page]], now, NULL);
        }
        n.settled = w->settled[1 + step] - w->settled[0];
        ret_counts[step] = n;
    }
}

enum sp_err sp_weeks_count(const struct sp_weeks *weeks, const struct sp_replay_options *options,
                           struct sp_week_counts ret_counts[SP_WEEK_STEPS])
{
    const struct sp_crawl *c = weeks->crawl;
    size_t points[1 + SP_WEEK_STEPS] = {weeks->first};
    size_t bytes = (c->page_count + 1) * sizeof(uint32_t);
    struct watch w = {
        .weeks = weeks, .representative = sp_alloc(bytes), .content = sp_alloc(bytes)};
    struct sp_replay_options o = *options;
    struct sp_replay_result result;
    memset(w.representative, 0xff, bytes); /* SP_NO_NUMBER */
    memset(w.content, 0xff, bytes);
    for (size_t i = 0; i < SP_WEEK_STEPS; i++)
        points[1 + i] = weeks->first +
                        (size_t)((double)(c->fetch_count - weeks->first) * sp_week_parts[i] / 30);
    o.points = points;
    o.point_count = 1 + SP_WEEK_STEPS;
    o.look = look;
    o.arg = &w;
    o.bus.group.mode = SP_MODE_FAST;
    enum sp_err err = sp_replay(c, &o, &result);
    if (err == SP_OK)
        count_updates(&w, &o.bus.group.similarity, points, ret_counts);
    sp_free(w.representative);
    sp_free(w.content);
    return err;
}
