/* See crawl.h. The maps number pages and contents; nothing depends on their iteration order. */
#include "replay/crawl.h"

#include "base/mem.h"

struct content {
    struct sp_id hash; /* key of the map: first */
    uint32_t number;
};

struct sp_crawl *sp_crawl_new(void)
{
    return sp_calloc(1, sizeof(struct sp_crawl));
}

void sp_crawl_free(struct sp_crawl *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->content_count; i++) {
        sp_free(sp_map_remove(&c->by_content, c->contents[i]->content_hash));
        sp_signature_unref(c->contents[i]);
    }
    for (size_t i = 0; i < c->page_count; i++) {
        sp_free(c->pages[i]->url);
        sp_free(c->pages[i]);
    }
    sp_map_done(&c->by_content);
    sp_map_done(&c->by_id);
    sp_free(c->contents);
    sp_free(c->pages);
    sp_free(c->fetches);
    sp_free(c);
}

static struct sp_crawl_page *page_of(struct sp_crawl *c, struct sp_id id, const char *url)
{
    struct sp_crawl_page *p = sp_map_get(&c->by_id, id);
    if (p)
        return p;
    sp_grow(&c->pages, &c->page_cap, c->page_count + 1);
    p = sp_alloc(sizeof *p);
    *p = (struct sp_crawl_page){.id = id,
                                .url_hash = sp_hash128(url, strlen(url)),
                                .number = (uint32_t)c->page_count,
                                .last = SP_NO_NUMBER,
                                .url = sp_strdup(url)};
    sp_map_add(&c->by_id, p);
    return c->pages[c->page_count++] = p;
}

static uint32_t content_number(struct sp_crawl *c, struct sp_signature *s)
{
    struct content *known = sp_map_get(&c->by_content, s->content_hash);
    if (known)
        return known->number;
    sp_grow(&c->contents, &c->content_cap, c->content_count + 1);
    known = sp_alloc(sizeof *known);
    *known = (struct content){s->content_hash, (uint32_t)c->content_count};
    sp_map_add(&c->by_content, known);
    c->contents[c->content_count++] = sp_signature_ref(s);
    return known->number;
}

/* Computes the version as the group stage does (stages/group/page.c). */
static int64_t version_of(const struct sp_crawl *c, const struct sp_crawl_page *page,
                          const struct sp_crawl_fetch *f)
{
    const struct sp_crawl_fetch *last = page->last == SP_NO_NUMBER ? NULL : &c->fetches[page->last];
    bool tie = last && f->version == page->version &&
               (last->kind != f->kind || last->content != f->content || last->target != f->target);
    if (f->version > 0 && !tie)
        return f->version;
    return page->version < INT64_MAX ? page->version + 1 : page->version;
}

void sp_crawl_add(struct sp_crawl *c, const struct sp_message *m)
{
    const struct sp_crawled *crawled = &m->crawled;
    struct sp_crawl_page *page = page_of(c, m->page, crawled->url);
    struct sp_crawl_fetch f = {.kind = crawled->page_kind,
                               .page = page->number,
                               .content = SP_NO_NUMBER,
                               .target = SP_NO_NUMBER,
                               .version = crawled->version,
                               .rank = crawled->rank};
    if (crawled->signature)
        f.content = content_number(c, crawled->signature);
    if (crawled->page_kind == SP_PAGE_REDIRECT)
        f.target = page_of(c, crawled->target, crawled->target_url)->number;
    int64_t version = version_of(c, page, &f);
    f.late = version <= page->version;
    if (!f.late) {
        page->version = version;
        page->last = (uint32_t)c->fetch_count;
    }
    sp_grow(&c->fetches, &c->fetch_cap, c->fetch_count + 1);
    c->fetches[c->fetch_count++] = f;
}

static struct sp_signature *copy_signature(const struct sp_signature *s)
{
    struct sp_signature *copy = sp_memdup(s, sp_signature_bytes(s));
    copy->refs = 1;
    return copy;
}

struct sp_message *sp_crawl_message(const struct sp_crawl *c, size_t fetch)
{
    const struct sp_crawl_fetch *f = &c->fetches[fetch];
    struct sp_message *m = sp_message_new(SP_MSG_CRAWLED);
    struct sp_crawled *crawled = &m->crawled;
    m->page = c->pages[f->page]->id;
    crawled->url = sp_strdup(c->pages[f->page]->url);
    crawled->version = f->version;
    crawled->page_kind = f->kind;
    crawled->rank = f->rank;
    if (f->content != SP_NO_NUMBER)
        crawled->signature = copy_signature(c->contents[f->content]);
    if (f->target != SP_NO_NUMBER) {
        crawled->target = c->pages[f->target]->id;
        crawled->target_url = sp_strdup(c->pages[f->target]->url);
    }
    return m;
}

void sp_crawl_latest(const struct sp_crawl *c, size_t fetch_count, uint32_t *ret_fetches)
{
    for (size_t i = 0; i < c->page_count; i++)
        ret_fetches[i] = SP_NO_NUMBER;
    for (size_t i = 0; i < fetch_count && i < c->fetch_count; i++)
        if (!c->fetches[i].late)
            ret_fetches[c->fetches[i].page] = (uint32_t)i;
}
