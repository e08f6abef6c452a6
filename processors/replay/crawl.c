/* See crawl.h. The maps number pages and contents; nothing is ever walked in their order. */
#include "replay/crawl.h"

#include "base/mem.h"

struct content {
    struct sp_id hash; /* key of the map: first */
    uint32_t number;
};

static void *grown(void *old, size_t count, size_t size, size_t *cap)
{
    if (count < *cap)
        return old;
    *cap = *cap ? *cap * 2 : 64;
    return sp_realloc(old, *cap * size);
}

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
    c->pages = grown(c->pages, c->page_count, sizeof *c->pages, &c->page_cap);
    p = sp_alloc(sizeof *p);
    *p = (struct sp_crawl_page){.id = id,
                                .url_hash = sp_hash128(url, strlen(url)),
                                .number = (uint32_t)c->page_count,
                                .url = sp_strdup(url)};
    sp_map_add(&c->by_id, p);
    return c->pages[c->page_count++] = p;
}

static uint32_t content_number(struct sp_crawl *c, struct sp_signature *s)
{
    struct content *known = sp_map_get(&c->by_content, s->content_hash);
    if (known)
        return known->number;
    c->contents = grown(c->contents, c->content_count, sizeof *c->contents, &c->content_cap);
    known = sp_alloc(sizeof *known);
    *known = (struct content){s->content_hash, (uint32_t)c->content_count};
    sp_map_add(&c->by_content, known);
    c->contents[c->content_count++] = sp_signature_ref(s);
    return known->number;
}

void sp_crawl_add(struct sp_crawl *c, const struct sp_message *m)
{
    struct sp_crawl_page *page = page_of(c, m->page, m->url);
    int64_t version = m->version > 0 ? m->version : page->version + 1;
    struct sp_crawl_fetch f = {.kind = m->page_kind,
                               .page = page->number,
                               .content = SP_NO_NUMBER,
                               .target = SP_NO_NUMBER,
                               .version = m->version,
                               .late = version <= page->version,
                               .rank = m->rank};
    if (!f.late)
        page->version = version;
    if (m->signature)
        f.content = content_number(c, m->signature);
    if (m->page_kind == SP_PAGE_REDIRECT)
        f.target = page_of(c, m->target, m->target_url)->number;
    c->fetches = grown(c->fetches, c->fetch_count, sizeof *c->fetches, &c->fetch_cap);
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
    m->page = c->pages[f->page]->id;
    m->url = sp_strdup(c->pages[f->page]->url);
    m->version = f->version;
    m->page_kind = f->kind;
    m->rank = f->rank;
    if (f->content != SP_NO_NUMBER)
        m->signature = copy_signature(c->contents[f->content]);
    if (f->target != SP_NO_NUMBER) {
        m->target = c->pages[f->target]->id;
        m->target_url = sp_strdup(c->pages[f->target]->url);
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
