/* The boilerplate of a host, which it repeats on most of its pages: menus, legal notes, lists of
 * news. It is learned from a sample of the host's pages when 16 of them have been put, and whenever
 * their number has doubled since. So learning costs a constant for each page, and depends only on
 * the puts before it. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/url.h"
#include "contain/stage.h"

/* A count of a bucket reaches more than SAMPLE_PAGES without overflow. */
enum { FIRST_PAGES = 16, SAMPLE_PAGES = 64, BUCKETS = 1 << 16 };

struct sp_id sp_contain_host_id(const char *url)
{
    struct sp_buf canonical = {0};
    struct sp_view host = {0};
    if (sp_url_canonical(sp_view_str(url), &canonical) == SP_OK)
        host = sp_url_host(sp_buf_view(&canonical));
    struct sp_id id = sp_hash128(host.len ? host.data : "", host.len);
    sp_buf_done(&canonical);
    return id;
}

static struct sp_contain_host *get_host(struct sp_contain_stage *c, struct sp_id id)
{
    struct sp_contain_host *host = sp_map_get(&c->hosts, id);
    if (host)
        return host;
    host = sp_calloc(1, sizeof *host);
    host->id = id;
    sp_map_add(&c->hosts, host);
    c->stats.hosts++;
    return host;
}

void sp_contain_host_free(struct sp_contain_host *host)
{
    sp_free(host->boilerplate);
    sp_free(host);
}

static void changed(struct sp_contain_stage *c, struct sp_contain_host *host)
{
    if (!host->changed)
        sp_contain_keys_add(&c->changed_hosts, host->id);
    host->changed = true;
}

void sp_contain_host_join(struct sp_contain_stage *c, struct sp_id id, struct sp_contain_item *item)
{
    struct sp_contain_host *host = get_host(c, id);
    item->host = host;
    item->host_prev = NULL;
    item->host_next = host->items;
    if (host->items)
        host->items->host_prev = item;
    host->items = item;
    host->item_count++;
}

void sp_contain_host_leave(struct sp_contain_stage *c, struct sp_contain_item *item)
{
    struct sp_contain_host *host = item->host;
    if (item->host_prev)
        item->host_prev->host_next = item->host_next;
    else
        host->items = item->host_next;
    if (item->host_next)
        item->host_next->host_prev = item->host_prev;
    item->host = NULL;
    if (--host->item_count > 0)
        return;
    changed(c, host);
    sp_map_remove(&c->hosts, host->id);
    c->stats.hosts--;
    c->stats.boilerplate -= host->boilerplate_count;
    sp_contain_host_free(host);
}

/* ---- learning ---- */

/* Each of the page's shingles once. */
static void add_shingles(struct sp_contain_numbers *n, const struct sp_signature *s)
{
    sp_grow(&n->at, &n->cap, n->count + s->shingle_count);
    for (uint32_t i = 0; i < s->shingle_count; i++)
        if (i == 0 || s->hashes[i] != s->hashes[i - 1])
            n->at[n->count++] = s->hashes[i];
}

/* Drops shingles that occur too rarely: those whose bucket has too few. Sorting is what learning
 * takes its time for, and most shingles of a host are on one page. */
static void drop_rare(struct sp_contain_numbers *n, double often)
{
    size_t kept = 0;
    uint8_t *counts = sp_calloc(BUCKETS, sizeof *counts);
    for (size_t i = 0; i < n->count; i++)
        counts[sp_mix64(n->at[i]) % BUCKETS] += counts[sp_mix64(n->at[i]) % BUCKETS] < UINT8_MAX;
    for (size_t i = 0; i < n->count; i++)
        if (counts[sp_mix64(n->at[i]) % BUCKETS] > often)
            n->at[kept++] = n->at[i];
    n->count = kept;
    sp_free(counts);
}

/* Leaves those that occur more often. */
static void keep_frequent(struct sp_contain_numbers *n, double often)
{
    size_t kept = 0, end;
    drop_rare(n, often);
    if (n->count)
        qsort(n->at, n->count, sizeof *n->at, sp_by_u32);
    for (size_t i = 0; i < n->count; i = end) {
        for (end = i + 1; end < n->count && n->at[end] == n->at[i];)
            end++;
        if ((double)(end - i) > often)
            n->at[kept++] = n->at[i];
    }
    n->count = kept;
}

/* At even distances in the order of their puts. */
static uint32_t sample(struct sp_contain_stage *c, const struct sp_contain_host *host,
                       struct sp_contain_numbers *ret_shingles)
{
    struct sp_contain_list pages = {0};
    for (struct sp_contain_item *item = host->items; item; item = item->host_next)
        sp_contain_list_add(&pages, item);
    sp_contain_list_sort(&pages);
    uint32_t count = pages.count < SAMPLE_PAGES ? pages.count : SAMPLE_PAGES;
    for (uint32_t i = 0; i < count; i++) {
        struct sp_signature *s =
            sp_contain_signature(c, pages.at[(uint64_t)i * pages.count / count]);
        if (s)
            add_shingles(ret_shingles, s);
        sp_signature_unref(s);
    }
    sp_free(pages.at);
    return count;
}

/* What is in one of the two only, both ascending; ascending. */
static void add_differences(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                            struct sp_contain_numbers *out)
{
    sp_grow(&out->at, &out->cap, out->count + a_count + b_count + 1);
    while (a_count > 0 || b_count > 0) {
        bool in_a = a_count > 0 && (b_count == 0 || *a <= *b);
        bool in_b = b_count > 0 && (a_count == 0 || *b <= *a);
        if (in_a != in_b)
            out->at[out->count++] = in_a ? *a : *b;
        if (in_a)
            a++, a_count--;
        if (in_b)
            b++, b_count--;
    }
}

void sp_contain_host_learn(struct sp_contain_stage *c, struct sp_contain_host *host,
                           struct sp_contain_numbers *ret_changed)
{
    struct sp_contain_numbers found = {0};
    changed(c, host);
    host->ever++;
    if (host->ever < FIRST_PAGES || (host->ever & (host->ever - 1)) != 0 ||
        host->item_count < FIRST_PAGES || c->options.boilerplate >= 1)
        return;
    uint32_t pages = sample(c, host, &found);
    keep_frequent(&found, c->options.boilerplate * pages);
    if (c->err != SP_OK) {
        sp_free(found.at);
        return;
    }
    add_differences(host->boilerplate, host->boilerplate_count, found.at, found.count, ret_changed);
    c->stats.boilerplate += found.count - host->boilerplate_count;
    sp_free(host->boilerplate);
    host->boilerplate = found.at;
    host->boilerplate_count = (uint32_t)found.count;
}
