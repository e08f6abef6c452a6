/* See catalogue.h. The URLs are stored one after the other, each NUL-terminated, with 8 more bytes
 * each that say where. They are sorted from the host on, so the http and https URLs of a host are
 * neighbours. */
#include "serve/catalogue.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/url.h"

struct entry {
    uint32_t at;  /* in texts */
    uint16_t len; /* a URL has at most SP_URL_MAX_BYTES */
    uint8_t host; /* offset of its host */
    uint8_t status;
};

struct sp_catalogue {
    struct sp_buf texts;
    struct entry *entries;
    uint32_t count;
    uint32_t cap;
    struct sp_catalogue_host *hosts; /* those with the most losers first */
    uint32_t host_count;
    uint32_t host_cap;
    size_t most_bytes;
    bool cut;
    bool cut_hosts;
    uint32_t references; /* atomic */
};

/* ---- filling */

struct sp_catalogue *sp_catalogue_new(size_t most_bytes)
{
    struct sp_catalogue *c = sp_calloc(1, sizeof *c);
    c->most_bytes = most_bytes;
    c->references = 1;
    return c;
}

static uint8_t host_place(struct sp_view url)
{
    struct sp_view host = sp_url_host(url);
    size_t place = host.len ? (size_t)(host.data - url.data) : 0;
    return place <= UINT8_MAX ? (uint8_t)place : 0;
}

void sp_catalogue_note(void *catalogue, const struct sp_page_view *page)
{
    struct sp_catalogue *c = catalogue;
    struct sp_view url = sp_view_str(page->url);
    size_t bytes = c->texts.len + url.len + 1 + (c->count + 1) * sizeof *c->entries;
    if (page->status == SP_STATUS_NONE)
        return;
    if (bytes > c->most_bytes || url.len > SP_URL_MAX_BYTES) {
        c->cut = true;
        return;
    }
    sp_grow(&c->entries, &c->cap, c->count + 1);
    c->entries[c->count++] = (struct entry){(uint32_t)c->texts.len, (uint16_t)url.len,
                                            host_place(url), (uint8_t)page->status};
    sp_buf_put(&c->texts, page->url, url.len + 1);
}

static const char *text_of(const struct sp_catalogue *c, const struct entry *e)
{
    return c->texts.data + e->at;
}

static int by_host(const char *a, size_t a_host, const char *b, size_t b_host)
{
    int order = strcmp(a + a_host, b + b_host);
    return order ? order : strcmp(a, b);
}

static int by_url(const void *a, const void *b, void *catalogue)
{
    const struct entry *x = a, *y = b;
    return by_host(text_of(catalogue, x), x->host, text_of(catalogue, y), y->host);
}

static int by_losers(const void *a, const void *b)
{
    const struct sp_catalogue_host *x = a, *y = b;
    if (x->pages[SP_STATUS_LOSER] != y->pages[SP_STATUS_LOSER])
        return x->pages[SP_STATUS_LOSER] > y->pages[SP_STATUS_LOSER] ? -1 : 1;
    if (x->all != y->all)
        return x->all > y->all ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static struct sp_view host_of(const struct sp_catalogue *c, const struct entry *e)
{
    return sp_url_host(sp_view(text_of(c, e), e->len));
}

/* Returns the host of the URL at that place, after the URLs before it were counted; NULL if there
 * are too many hosts. */
static struct sp_catalogue_host *host_at(struct sp_catalogue *c, struct sp_view name, uint32_t at)
{
    if (c->host_count && sp_view_eq(c->hosts[c->host_count - 1].name, name))
        return &c->hosts[c->host_count - 1];
    if (c->host_count == SP_CATALOGUE_HOSTS)
        return NULL;
    sp_grow(&c->hosts, &c->host_cap, c->host_count + 1);
    c->hosts[c->host_count++] = (struct sp_catalogue_host){.name = name, .first = at};
    return &c->hosts[c->host_count - 1];
}

static void count_hosts(struct sp_catalogue *c)
{
    if (!c->entries)
        return;
    for (uint32_t i = 0; i < c->count && !c->cut_hosts; i++) {
        const struct entry *e = &c->entries[i];
        struct sp_view name = host_of(c, e);
        struct sp_catalogue_host *h = name.len ? host_at(c, name, i) : NULL;
        c->cut_hosts = name.len && !h;
        if (!h)
            continue;
        h->pages[e->status]++;
        h->all++;
    }
    if (c->hosts)
        qsort(c->hosts, c->host_count, sizeof *c->hosts, by_losers);
}

void sp_catalogue_sort(struct sp_catalogue *c)
{
    if (c->entries)
        qsort_r(c->entries, c->count, sizeof *c->entries, by_url, c);
    count_hosts(c);
}

struct sp_catalogue *sp_catalogue_ref(struct sp_catalogue *c)
{
    if (c)
        __atomic_add_fetch(&c->references, 1, __ATOMIC_SEQ_CST);
    return c;
}

void sp_catalogue_unref(struct sp_catalogue *c)
{
    if (!c || __atomic_sub_fetch(&c->references, 1, __ATOMIC_SEQ_CST) > 0)
        return;
    sp_buf_done(&c->texts);
    sp_free(c->entries);
    sp_free(c->hosts);
    sp_free(c);
}

/* ---- looking */

/* Returns the place of the first URL after that one. */
static uint32_t place_behind(const struct sp_catalogue *c, const char *url)
{
    size_t host = host_place(sp_view_str(url));
    uint32_t low = 0, high = c->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct entry *e = &c->entries[middle];
        if (by_host(text_of(c, e), e->host, url, host) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the place of the first URL that, from its host on, is not before the text. */
static uint32_t place_from(const struct sp_catalogue *c, const char *text)
{
    uint32_t low = 0, high = c->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct entry *e = &c->entries[middle];
        if (strcmp(text_of(c, e) + e->host, text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool fits(const struct sp_catalogue *c, const struct sp_catalogue_query *query,
                 const struct entry *e)
{
    return (query->status == SP_STATUS_NONE || query->status == e->status) &&
           (!query->text || strcasestr(text_of(c, e), query->text));
}

size_t sp_catalogue_find(const struct sp_catalogue *c, const struct sp_catalogue_query *query,
                         size_t most, const char **ret_urls)
{
    uint32_t behind = query->after ? place_behind(c, query->after) : 0;
    uint32_t first = query->host ? place_from(c, query->host) : 0;
    struct sp_view host = sp_view_str(query->host);
    size_t found = 0;
    for (uint32_t i = first > behind ? first : behind; i < c->count && found < most; i++) {
        const struct entry *e = &c->entries[i];
        if (query->host && !sp_view_eq(host_of(c, e), host)) {
            if (strncmp(text_of(c, e) + e->host, query->host, host.len) != 0)
                break;
            continue; /* another host whose name begins with this one's */
        }
        if (fits(c, query, e))
            ret_urls[found++] = text_of(c, e);
    }
    return found;
}

size_t sp_catalogue_hosts(const struct sp_catalogue *c, const char *text, size_t offset,
                          size_t most, const struct sp_catalogue_host **ret_hosts,
                          size_t *ret_count)
{
    struct sp_buf lower = {0};
    size_t found = 0, count = 0;
    for (const char *at = text; at && *at; at++)
        sp_buf_put_u8(&lower, (uint8_t)tolower((unsigned char)*at));
    for (uint32_t i = 0; i < c->host_count; i++) {
        const struct sp_catalogue_host *h = &c->hosts[i];
        if (lower.len && !memmem(h->name.data, h->name.len, lower.data, lower.len))
            continue;
        if (count++ >= offset && found < most)
            ret_hosts[found++] = h;
    }
    sp_buf_done(&lower);
    *ret_count = count;
    return found;
}

size_t sp_catalogue_pages(const struct sp_catalogue *c)
{
    return c->count;
}

bool sp_catalogue_is_cut(const struct sp_catalogue *c)
{
    return c->cut || c->cut_hosts;
}
