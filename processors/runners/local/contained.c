/* See contained.h. All shingles of all pages are in one sorted array. For each page, its counted
 * shingles are looked up one by one, and the hits of all other pages are counted. */
#include "local/contained.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"

struct posting {
    uint32_t shingle;
    uint32_t page;
};

struct learned {
    struct sp_id id; /* key of the map: first */
    uint32_t *boilerplate;
    uint32_t count;
};

struct check {
    const struct sp_contain_options *options;
    const struct sp_contained_page *pages;
    size_t page_count;
    struct posting *postings; /* by shingle, then page */
    size_t posting_count;
    struct sp_map hosts;
    uint32_t *hits; /* by page; of the page in work */
    uint32_t *found;
    size_t found_count;
    uint32_t *counted; /* of the current page */
    uint32_t counted_count;
    double best;
    double named;
};

static int by_shingle_and_page(const void *a, const void *b)
{
    const struct posting *x = a, *y = b;
    if (x->shingle != y->shingle)
        return x->shingle < y->shingle ? -1 : 1;
    return (x->page > y->page) - (x->page < y->page);
}

static void note_host(void *arg, struct sp_id id, const uint32_t *boilerplate, uint32_t count)
{
    struct check *x = arg;
    struct learned *host = sp_alloc(sizeof *host);
    *host = (struct learned){id, count ? sp_memdup(boilerplate, count * sizeof *boilerplate) : NULL,
                             count};
    sp_map_add(&x->hosts, host);
}

static void free_host(void *object)
{
    struct learned *host = object;
    sp_free(host->boilerplate);
    sp_free(host);
}

static void collect(struct check *x)
{
    size_t all = 0;
    for (size_t i = 0; i < x->page_count; i++)
        all += x->pages[i].signature->shingle_count;
    x->postings = sp_alloc((all + 1) * sizeof *x->postings);
    for (size_t i = 0; i < x->page_count; i++)
        for (uint32_t k = 0; k < x->pages[i].signature->shingle_count; k++)
            x->postings[x->posting_count++] =
                (struct posting){x->pages[i].signature->hashes[k], (uint32_t)i};
    qsort(x->postings, all, sizeof *x->postings, by_shingle_and_page);
}

static bool is_boilerplate(const struct learned *host, uint32_t shingle)
{
    for (uint32_t i = 0; host && i < host->count; i++)
        if (host->boilerplate[i] == shingle)
            return true;
    return false;
}

static size_t first_of(const struct check *x, uint32_t shingle)
{
    size_t low = 0, high = x->posting_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (x->postings[middle].shingle < shingle)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Counts the pages that have the shingle, which the page has `times` times. */
static void add_hits(struct check *x, uint32_t shingle, uint32_t times)
{
    size_t end;
    for (size_t at = first_of(x, shingle);
         at < x->posting_count && x->postings[at].shingle == shingle; at = end) {
        uint32_t page = x->postings[at].page;
        for (end = at + 1; end < x->posting_count && x->postings[end].shingle == shingle &&
                           x->postings[end].page == page;)
            end++;
        if (!x->hits[page])
            x->found[x->found_count++] = page;
        x->hits[page] += end - at < times ? (uint32_t)(end - at) : times;
    }
}

static void count_shingles(struct check *x, const struct sp_contained_page *page)
{
    const struct learned *host = sp_map_get(&x->hosts, sp_contain_host_id(page->url));
    const struct sp_signature *s = page->signature;
    x->counted_count = 0;
    for (uint32_t i = 0; i < s->shingle_count; i++)
        if (!is_boilerplate(host, s->hashes[i]))
            x->counted[x->counted_count++] = s->hashes[i];
    for (uint32_t i = 0, end; i < x->counted_count; i = end) {
        for (end = i + 1; end < x->counted_count && x->counted[end] == x->counted[i];)
            end++;
        add_hits(x, x->counted[i], end - i);
    }
}

static void weigh(struct check *x, const struct sp_contained_page *page, uint32_t other)
{
    const struct sp_signature *s = x->pages[other].signature;
    uint32_t of = 0;
    if (s->shingle_total <= page->signature->shingle_total)
        return;
    bool capped = s->shingle_count < s->shingle_total;
    for (uint32_t i = 0; i < x->counted_count; i++)
        of += !capped || x->counted[i] <= s->hashes[s->shingle_count - 1];
    double share = of >= SP_CONTAIN_LEAST ? (double)x->hits[other] / of : 0;
    if (share + 1e-9 < x->options->threshold)
        return;
    if (share > x->best)
        x->best = share;
    if (sp_id_eq(page->contained_in, x->pages[other].page))
        x->named = share;
}

static void check_page(struct check *x, size_t number,
                       void (*differ)(void *arg, size_t page, const char *what), void *arg)
{
    const struct sp_contained_page *page = &x->pages[number];
    char what[128];
    x->best = x->named = 0;
    x->found_count = 0;
    if (page->signature->shingle_count >= SP_CONTAIN_LEAST)
        count_shingles(x, page);
    for (size_t i = 0; i < x->found_count; i++) {
        weigh(x, page, x->found[i]);
        x->hits[x->found[i]] = 0;
    }
    if (page->containment == (float)x->best && (float)x->named == (float)x->best)
        return;
    snprintf(what, sizeof what,
             "published containment %.9g, should be %.9g; that of its contained_in is %.9g",
             (double)page->containment, x->best, x->named);
    differ(arg, number, what);
}

enum sp_err sp_contained_check(struct sp_store *store, const struct sp_contain_options *options,
                               const struct sp_contained_page *pages, size_t count,
                               void (*differ)(void *arg, size_t page, const char *what), void *arg)
{
    struct check x = {.options = options, .pages = pages, .page_count = count};
    enum sp_err err = sp_contain_each_host(store, note_host, &x);
    x.hits = sp_calloc(count + 1, sizeof *x.hits);
    x.found = sp_alloc((count + 1) * sizeof *x.found);
    x.counted = sp_alloc(SP_MAX_SHINGLES_LIMIT * sizeof *x.counted);
    if (err == SP_OK)
        collect(&x);
    for (size_t i = 0; i < count && err == SP_OK; i++)
        check_page(&x, i, differ, arg);
    sp_map_free_objects_by(&x.hosts, free_host);
    sp_free(x.postings);
    sp_free(x.hits);
    sp_free(x.found);
    sp_free(x.counted);
    return err;
}
