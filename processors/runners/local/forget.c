/* See forget.h. A content is gone when no member and no row holds its signature. */
#include "local/forget.h"

#include "base/mem.h"
#include "local/watching.h"
#include "signature/signature.h"

struct content {
    struct sp_id hash; /* key of the map: first */
};

struct contents {
    struct sp_map map;
    struct content **list;
    size_t count;
    size_t cap;
};

static void note_content(void *arg, const struct sp_page_view *page)
{
    struct contents *c = arg;
    if (page->kind != SP_PAGE_CONTENT || sp_map_get(&c->map, page->content))
        return;
    struct content *content = sp_calloc(1, sizeof *content);
    content->hash = page->content;
    sp_map_add(&c->map, content);
    sp_grow(&c->list, &c->cap, c->count + 1);
    c->list[c->count++] = content;
}

static enum sp_err forget_page(const struct sp_forgetting *f, struct sp_message *m,
                               struct contents *contents)
{
    uint16_t store = (uint16_t)(SP_BUS_STORE_TIER1 + m->page.lo % f->tier1);
    enum sp_err err =
        sp_group_read_page(sp_db_store(f->db, store), m->page, note_content, contents);
    if (err == SP_OK || err == SP_NOT_FOUND)
        return sp_local_bus_feed(f->bus, m);
    sp_message_free(m);
    return err;
}

/* Digests that other pages have as well are kept. */
static enum sp_err forget_digests(const struct sp_forgetting *f, struct contents *c)
{
    struct sp_signature *s;
    enum sp_err err = SP_OK;
    for (size_t i = 0; i < c->count && err == SP_OK; i++) {
        err = sp_local_bus_signature(f->bus, c->list[i]->hash, &s);
        if (err == SP_OK)
            sp_map_remove(&c->map, c->list[i]->hash);
        else if (err == SP_NOT_FOUND)
            err = SP_OK;
    }
    return err == SP_OK && c->map.count ? sp_digests_forget(f->digests, &c->map) : err;
}

enum sp_err sp_forget(const struct sp_forgetting *f, const char *const *urls, size_t count,
                      uint64_t *ret_unusable)
{
    struct contents contents = {0};
    struct sp_buf scratch = {0};
    struct sp_id *pages = sp_alloc((count + 1) * sizeof *pages);
    size_t usable = 0;
    enum sp_err err = SP_OK;
    *ret_unusable = 0;
    for (size_t i = 0; i < count && err == SP_OK; i++) {
        struct sp_message *m;
        if (sp_erase_message(sp_view_str(urls[i]), &scratch, &m) != SP_OK) {
            ++*ret_unusable;
            continue;
        }
        pages[usable++] = m->page;
        err = forget_page(f, m, &contents);
    }
    if (err == SP_OK)
        err = forget_digests(f, &contents);
    if (err == SP_OK)
        err = sp_watching_forget(sp_db_store(f->db, SP_BUS_STORE_META), pages, usable);
    sp_free(pages);
    for (size_t i = 0; i < contents.count; i++)
        sp_free(contents.list[i]);
    sp_free(contents.list);
    sp_map_done(&contents.map);
    sp_buf_done(&scratch);
    return err;
}
