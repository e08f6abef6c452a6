/* See digests.h. The store cannot read its open batch, so rows of the batch are also in `open`. */
#include "local/digests.h"

#include "base/map.h"
#include "base/mem.h"

struct entry {
    struct sp_id digest; /* key of the map: first */
    struct sp_id content;
    struct entry *next;
};

struct sp_digests {
    struct sp_store *store;
    struct sp_map open;
    struct entry *entries;
};

struct sp_digests *sp_digests_new(struct sp_store *store)
{
    struct sp_digests *d = sp_calloc(1, sizeof *d);
    d->store = store;
    return d;
}

void sp_digests_committed(struct sp_digests *d)
{
    for (struct entry *e = d->entries, *next; e; e = next) {
        next = e->next;
        sp_free(e);
    }
    d->entries = NULL;
    sp_map_done(&d->open);
    d->open = (struct sp_map){0};
}

void sp_digests_free(struct sp_digests *d)
{
    if (!d)
        return;
    sp_digests_committed(d);
    sp_free(d);
}

/* The content last noted for the digest, or SP_NOT_FOUND. */
static enum sp_err find(struct sp_digests *d, struct sp_id digest, struct sp_id *ret_content)
{
    char key[SP_ID_KEY_BYTES];
    struct sp_view value;
    const struct entry *e = sp_map_get(&d->open, digest);
    if (e) {
        *ret_content = e->content;
        return SP_OK;
    }
    enum sp_err err = sp_store_get(d->store, sp_id_key(key, 'D', digest), &value);
    if (err == SP_OK && value.len != sizeof *ret_content)
        err = SP_CORRUPT;
    if (err == SP_OK)
        memcpy(ret_content, value.data, sizeof *ret_content);
    return err;
}

static void note(struct sp_digests *d, struct sp_id digest, struct sp_id content)
{
    char key[SP_ID_KEY_BYTES];
    struct entry *e = sp_map_get(&d->open, digest);
    if (e && sp_id_eq(e->content, content))
        return;
    if (!e) {
        e = sp_calloc(1, sizeof *e);
        e->digest = digest;
        e->next = d->entries;
        d->entries = e;
        sp_map_add(&d->open, e);
    }
    e->content = content;
    sp_store_put(d->store, sp_id_key(key, 'D', digest), sp_view(&content, sizeof content));
}

enum sp_err sp_digests_use(struct sp_digests *d, struct sp_local_bus *bus, struct sp_id digest,
                           struct sp_crawled *c)
{
    struct sp_id content;
    struct sp_signature *s = NULL;
    if (c->page_kind == SP_PAGE_CONTENT && c->signature->shingle_total > 0)
        note(d, digest, c->signature->content_hash);
    if (c->page_kind != SP_PAGE_UNSEEN)
        return SP_OK;
    enum sp_err err = find(d, digest, &content);
    if (err == SP_OK)
        err = sp_local_bus_signature(bus, content, &s);
    if (err != SP_OK)
        return err == SP_NOT_FOUND ? SP_OK : err;
    c->page_kind = SP_PAGE_CONTENT;
    c->signature = sp_signature_ref(s);
    c->as_of = 0;
    return SP_OK;
}

struct sweep {
    const struct sp_map *contents;
    struct sp_id *digests; /* of rows to delete */
    size_t count;
    size_t cap;
};

static bool note_row(void *arg, struct sp_view key, struct sp_view value)
{
    struct sweep *s = arg;
    struct sp_id content;
    if (key.len != SP_ID_KEY_BYTES || value.len != sizeof content)
        return true;
    memcpy(&content, value.data, sizeof content);
    if (!sp_map_get(s->contents, content))
        return true;
    sp_grow(&s->digests, &s->cap, s->count + 1);
    memcpy(&s->digests[s->count++], key.data + 1, sizeof *s->digests);
    return true;
}

enum sp_err sp_digests_forget(struct sp_digests *d, const struct sp_map *contents)
{
    char key[SP_ID_KEY_BYTES];
    struct sweep s = {.contents = contents};
    enum sp_err err = sp_store_scan(d->store, sp_view("D", 1), sp_view(NULL, 0), note_row, &s);
    for (size_t i = 0; i < s.count && err == SP_OK; i++)
        sp_store_delete(d->store, sp_id_key(key, 'D', s.digests[i]));
    sp_free(s.digests);
    return err;
}
