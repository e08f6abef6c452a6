/* Components and winners from scratch: see baseline.h. Shares F and the rank of a URL with the
 * stages and nothing else, as local/verify.c does for a stored state. */
#include "replay/baseline.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/sets.h"
#include "local/covered.h"
#include "similarity/connected.h"

struct work {
    const struct sp_crawl *crawl;
    struct sp_baseline *b;
    uint32_t *set;        /* union-find over pages */
    uint32_t *first_page; /* of each distinct content alive, in order of appearance */
    struct sp_signature **signatures;
    uint32_t count;
};

/* The root of y becomes the root of both. */
static void unite(struct work *w, uint32_t x, uint32_t y)
{
    w->set[sp_sets_root(w->set, x)] = sp_sets_root(w->set, y);
}

/* Pages of equal content are near duplicates of one another, unless it has no words. */
static void note_alive(struct work *w)
{
    const struct sp_crawl *t = w->crawl;
    uint32_t *owner = sp_alloc((t->content_count + 1) * sizeof *owner);
    memset(owner, 0xff, t->content_count * sizeof *owner);
    sp_sets_init(w->set, t->page_count);
    for (uint32_t p = 0; p < t->page_count; p++) {
        w->b->content[p] = SP_NO_NUMBER;
        uint32_t f = w->b->fetch[p];
        if (f == SP_NO_NUMBER || t->fetches[f].kind != SP_PAGE_CONTENT)
            continue;
        uint32_t content = w->b->content[p] = t->fetches[f].content;
        w->b->alive++;
        if (owner[content] == SP_NO_NUMBER) {
            owner[content] = p;
            w->first_page[w->count] = p;
            w->signatures[w->count++] = t->contents[content];
        } else if (t->contents[content]->shingle_total) {
            unite(w, p, owner[content]);
        }
    }
    w->b->contents = w->count;
    sp_free(owner);
}

static enum sp_err connect(struct work *w, const struct sp_similarity_options *o)
{
    uint32_t *first = sp_alloc((w->count + 1ull) * sizeof *first);
    struct sp_connected_stats stats = {0};
    enum sp_err err = sp_connected(o, w->signatures, w->count, first, &stats);
    w->b->compared = stats.compared;
    for (uint32_t i = 0; err == SP_OK && i < w->count; i++)
        unite(w, w->first_page[i], w->first_page[first[i]]);
    sp_free(first);
    return err;
}

bool sp_baseline_outranks(const struct sp_crawl *t, const struct sp_baseline *b, uint32_t page_a,
                          uint32_t page_b)
{
    const struct sp_rank *x = &t->fetches[b->fetch[page_a]].rank;
    const struct sp_rank *y = &t->fetches[b->fetch[page_b]].rank;
    if (x->popularity != y->popularity)
        return x->popularity > y->popularity;
    if (x->dynamic != y->dynamic)
        return x->dynamic < y->dynamic;
    if (x->url_bytes != y->url_bytes)
        return x->url_bytes < y->url_bytes;
    if (x->unfavoured != y->unfavoured)
        return x->unfavoured < y->unfavoured;
    return sp_id_cmp(t->pages[page_a]->id, t->pages[page_b]->id) < 0;
}

static int by_component_and_rank(const void *a, const void *b, void *arg)
{
    const struct work *w = arg;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint32_t cx = w->b->component[x], cy = w->b->component[y];
    if (cx != cy)
        return cx < cy ? -1 : 1;
    if (x == y)
        return 0;
    return sp_baseline_outranks(w->crawl, w->b, x, y) ? -1 : 1;
}

/* The winners of the pages of one component, which are in rank order. */
static enum sp_err cover(const struct work *w, const struct sp_covered_options *o,
                         const uint32_t *pages, uint32_t count)
{
    uint32_t *contents = sp_alloc((count + 1ull) * sizeof *contents);
    uint32_t *winners = sp_alloc((count + 1ull) * sizeof *winners);
    double *similarity = sp_alloc((count + 1ull) * sizeof *similarity);
    struct sp_connected_stats stats = {0};
    for (uint32_t i = 0; i < count; i++)
        contents[i] = w->b->content[pages[i]];
    enum sp_err err = sp_covered(o, contents, count, winners, similarity, &stats);
    for (uint32_t i = 0; err == SP_OK && i < count; i++)
        w->b->winner[pages[i]] = pages[winners[i]];
    sp_free(contents);
    sp_free(winners);
    sp_free(similarity);
    return err;
}

static enum sp_err cover_all(const struct work *w, const struct sp_similarity_options *o)
{
    const struct sp_crawl *t = w->crawl;
    uint32_t *order = sp_alloc((w->b->alive + 1) * sizeof *order);
    struct sp_finder *finder = sp_finder_new(o, t->contents, t->content_count);
    const struct sp_covered_options options = {
        .similarity = o, .signatures = t->contents, .finder = finder};
    enum sp_err err = SP_OK;
    size_t count = 0;
    for (uint32_t p = 0; p < t->page_count; p++) {
        w->b->winner[p] = SP_NO_NUMBER;
        if (w->b->component[p] != SP_NO_NUMBER)
            order[count++] = p;
    }
    if (count)
        qsort_r(order, count, sizeof *order, by_component_and_rank, (void *)(uintptr_t)w);
    for (size_t from = 0, to; from < count && err == SP_OK; from = to) {
        for (to = from; to < count && w->b->component[order[to]] == w->b->component[order[from]];)
            to++;
        err = cover(w, &options, order + from, (uint32_t)(to - from));
    }
    sp_finder_free(finder);
    sp_free(order);
    return err;
}

enum sp_err sp_baseline_make(const struct sp_crawl *crawl, size_t fetch_count,
                             const struct sp_similarity_options *similarity,
                             struct sp_baseline *ret_baseline)
{
    size_t pages = crawl->page_count, room = (pages + 1) * sizeof(uint32_t);
    struct sp_baseline b = {.page_count = crawl->page_count,
                            .fetch = sp_alloc(room),
                            .content = sp_alloc(room),
                            .component = sp_alloc(room),
                            .winner = sp_alloc(room)};
    struct work w = {.crawl = crawl,
                     .b = &b,
                     .set = sp_alloc(room),
                     .first_page = sp_alloc(room),
                     .signatures = sp_alloc((pages + 1) * sizeof(struct sp_signature *))};
    double start = sp_clock_thread_seconds();
    sp_crawl_latest(crawl, fetch_count, b.fetch);
    note_alive(&w);
    enum sp_err err = connect(&w, similarity);
    for (uint32_t p = 0; p < pages; p++)
        b.component[p] = b.content[p] == SP_NO_NUMBER ? SP_NO_NUMBER : sp_sets_root(w.set, p);
    b.cpu_seconds = sp_clock_thread_seconds() - start;
    if (err == SP_OK)
        err = cover_all(&w, similarity);
    sp_free(w.set);
    sp_free(w.first_page);
    sp_free(w.signatures);
    if (err != SP_OK)
        sp_baseline_done(&b);
    else
        *ret_baseline = b;
    return err;
}

void sp_baseline_done(struct sp_baseline *b)
{
    sp_free(b->fetch);
    sp_free(b->content);
    sp_free(b->component);
    sp_free(b->winner);
    *b = (struct sp_baseline){0};
}
