/* Components and winners from scratch: see baseline.h. Shares F and the rank of a URL with the
 * stages and nothing else, as local/verify.c does for a stored state. */
#include "replay/baseline.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "similarity/join.h"

struct work {
    const struct sp_crawl *crawl;
    struct sp_baseline *b;
    uint32_t *set;        /* union-find over pages */
    uint32_t *first_page; /* of each distinct content alive, in order of appearance */
    struct sp_signature **signatures;
    uint32_t count;
};

static uint32_t find(uint32_t *set, uint32_t n)
{
    while (set[n] != n) {
        set[n] = set[set[n]];
        n = set[n];
    }
    return n;
}

static void note_pair(void *arg, size_t i, size_t j, double similarity)
{
    struct work *w = arg;
    (void)similarity;
    w->b->edges++;
    w->set[find(w->set, w->first_page[i])] = find(w->set, w->first_page[j]);
}

/* Pages of equal content are near duplicates of one another, unless it has no words. */
static void note_alive(struct work *w)
{
    const struct sp_crawl *t = w->crawl;
    uint32_t *owner = sp_alloc((t->content_count + 1) * sizeof *owner);
    memset(owner, 0xff, t->content_count * sizeof *owner);
    for (uint32_t p = 0; p < t->page_count; p++) {
        w->set[p] = p;
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
            w->set[find(w->set, p)] = find(w->set, owner[content]);
        }
    }
    w->b->contents = w->count;
    sp_free(owner);
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

/* Pages of one component in rank order: a page is covered by the first winner before it that it is
 * similar to, and pages of one content by the same one. */
static void cover(const struct work *w, const struct sp_similarity_options *o,
                  const uint32_t *pages, size_t count, uint32_t *by_content)
{
    const struct sp_crawl *t = w->crawl;
    uint32_t *winners = sp_alloc(count * sizeof *winners);
    size_t winner_count = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t p = pages[i], content = w->b->content[p];
        const struct sp_signature *s = t->contents[content];
        uint32_t winner = s->shingle_total ? by_content[content] : SP_NO_NUMBER;
        for (size_t k = 0; k < winner_count && winner == SP_NO_NUMBER; k++)
            if (sp_similar(o, t->contents[w->b->content[winners[k]]], s, NULL))
                winner = winners[k];
        if (winner == SP_NO_NUMBER) {
            winner = p;
            winners[winner_count++] = p;
        }
        by_content[content] = w->b->winner[p] = winner;
    }
    sp_free(winners);
}

static void cover_all(const struct work *w, const struct sp_similarity_options *o)
{
    const struct sp_crawl *t = w->crawl;
    uint32_t *order = sp_alloc((w->b->alive + 1) * sizeof *order);
    uint32_t *by_content = sp_alloc((t->content_count + 1) * sizeof *by_content);
    size_t count = 0;
    memset(by_content, 0xff, t->content_count * sizeof *by_content);
    for (uint32_t p = 0; p < t->page_count; p++) {
        w->b->winner[p] = SP_NO_NUMBER;
        if (w->b->component[p] != SP_NO_NUMBER)
            order[count++] = p;
    }
    if (count)
        qsort_r(order, count, sizeof *order, by_component_and_rank, (void *)(uintptr_t)w);
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from; to < count && w->b->component[order[to]] == w->b->component[order[from]];)
            to++;
        cover(w, o, order + from, to - from, by_content);
    }
    sp_free(order);
    sp_free(by_content);
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
    enum sp_err err = sp_join(similarity, w.signatures, w.count, true, note_pair, &w);
    for (uint32_t p = 0; p < pages; p++)
        b.component[p] = b.content[p] == SP_NO_NUMBER ? SP_NO_NUMBER : find(w.set, p);
    b.cpu_seconds = sp_clock_thread_seconds() - start;
    if (err == SP_OK)
        cover_all(&w, similarity);
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
