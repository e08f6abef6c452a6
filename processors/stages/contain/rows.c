/* The stored form. Inner state: a format byte first, damaged rows are SP_CORRUPT.
 *
 *   'I' page   -> order, URL, content, container and share
 *   'H' host   -> pages ever put, boilerplate
 *   'S' zero   -> puts ever, entries of long lists that searches let pass
 *
 * Indexes are rebuilt from these and from the signatures: the shingles that a page waits under are
 * chosen again. The stage's results do not depend on that choice. */
#include <stdlib.h>

#include "base/mem.h"
#include "contain/stage.h"

enum { FORMAT = 1 };

/* ---- writing ---- */

static void encode_item(const struct sp_contain_item *item, struct sp_buf *out)
{
    struct sp_id best = item->best ? item->best->page : (struct sp_id){0, 0};
    size_t len = strlen(item->url);
    sp_buf_put_u8(out, FORMAT);
    sp_buf_put_varint(out, item->order);
    sp_buf_put_varint(out, len);
    sp_buf_put(out, item->url, len);
    sp_buf_put_id(out, item->content);
    sp_buf_put_varint(out, item->share.of);
    if (!item->best)
        return;
    sp_buf_put_varint(out, item->share.hits);
    sp_buf_put_id(out, best);
}

static void encode_host(const struct sp_contain_host *host, struct sp_buf *out)
{
    sp_buf_put_u8(out, FORMAT);
    sp_buf_put_varint(out, host->ever);
    sp_buf_put(out, host->boilerplate, host->boilerplate_count * sizeof *host->boilerplate);
}

static void write_items(struct sp_contain_stage *c)
{
    char key[SP_ID_KEY_BYTES];
    for (uint32_t i = 0; i < c->changed_items.count; i++) {
        struct sp_id id = c->changed_items.at[i];
        struct sp_contain_item *item = sp_map_get(&c->items, id);
        if (!item) {
            sp_store_delete(c->store, sp_id_key(key, 'I', id));
        } else if (item->changed) {
            sp_buf_reset(&c->text);
            encode_item(item, &c->text);
            sp_store_put(c->store, sp_id_key(key, 'I', id), sp_buf_view(&c->text));
            item->changed = false;
        }
    }
    c->changed_items.count = 0;
}

static void write_hosts(struct sp_contain_stage *c)
{
    char key[SP_ID_KEY_BYTES];
    for (uint32_t i = 0; i < c->changed_hosts.count; i++) {
        struct sp_id id = c->changed_hosts.at[i];
        struct sp_contain_host *host = sp_map_get(&c->hosts, id);
        if (!host) {
            sp_store_delete(c->store, sp_id_key(key, 'H', id));
        } else if (host->changed) {
            sp_buf_reset(&c->text);
            encode_host(host, &c->text);
            sp_store_put(c->store, sp_id_key(key, 'H', id), sp_buf_view(&c->text));
            host->changed = false;
        }
    }
    c->changed_hosts.count = 0;
}

static void write_account(struct sp_contain_stage *c)
{
    char key[SP_ID_KEY_BYTES];
    if (!c->account_changed)
        return;
    c->account_changed = false;
    if (c->stats.pages == 0) {
        sp_store_delete(c->store, sp_id_key(key, 'S', (struct sp_id){0, 0}));
        return;
    }
    sp_buf_reset(&c->text);
    sp_buf_put_u8(&c->text, FORMAT);
    sp_buf_put_varint(&c->text, c->puts);
    sp_buf_put_varint(&c->text, c->dear);
    sp_store_put(c->store, sp_id_key(key, 'S', (struct sp_id){0, 0}), sp_buf_view(&c->text));
}

void sp_contain_write(struct sp_contain_stage *c)
{
    write_items(c);
    write_hosts(c);
    write_account(c);
}

/* ---- reading ---- */

struct row {
    struct sp_id page;
    struct sp_id content;
    struct sp_id best;
    struct sp_contain_share share;
    uint64_t order;
    char *url;
};

struct rows {
    struct row *at;
    size_t count;
    size_t cap;
    enum sp_err err;
};

static bool read_row(void *arg, struct sp_view key, struct sp_view value)
{
    struct rows *rows = arg;
    struct sp_reader r = sp_reader(value);
    struct row row = {0};
    bool good = key.len == SP_ID_KEY_BYTES && sp_read_u8(&r) == FORMAT;
    if (good)
        memcpy(&row.page, key.data + 1, sizeof row.page);
    row.order = sp_read_varint(&r);
    struct sp_view url = sp_read_bytes(&r, sp_read_varint(&r));
    row.content = sp_read_id(&r);
    uint64_t of = sp_read_varint(&r), hits = of ? sp_read_varint(&r) : 0;
    if (of)
        row.best = sp_read_id(&r);
    if (!good || r.failed || sp_reader_left(&r) || of > UINT32_MAX || hits > of || (of && !hits)) {
        rows->err = SP_CORRUPT;
        return false;
    }
    row.share = (struct sp_contain_share){(uint32_t)hits, (uint32_t)of};
    row.url = sp_view_dup(url);
    sp_grow(&rows->at, &rows->cap, rows->count + 1);
    rows->at[rows->count++] = row;
    return true;
}

static int by_order(const void *a, const void *b)
{
    uint64_t x = ((const struct row *)a)->order, y = ((const struct row *)b)->order;
    return (x > y) - (x < y);
}

static void make_item(struct sp_contain_stage *c, const struct row *row)
{
    struct sp_signature *s = NULL;
    if (!sp_contain_note(c, sp_contents_get(c->contents, row->content, &s)))
        return;
    struct sp_contain_item *item = sp_contain_item_new(c, row->page, row->url, s, row->order);
    sp_contain_host_join(c, sp_contain_host_id(row->url), item);
    item->slot = c->slots.count;
    sp_contain_list_add(&c->slots, item);
    c->next_order = row->order + 1;
    sp_contents_trim(c->contents);
}

static void make_items(struct sp_contain_stage *c, const struct rows *rows)
{
    for (size_t i = 0; i < rows->count && c->err == SP_OK; i++)
        make_item(c, &rows->at[i]);
    for (size_t i = 0; i < rows->count && c->err == SP_OK; i++) {
        const struct row *row = &rows->at[i];
        struct sp_contain_item *best = row->share.of ? sp_map_get(&c->items, row->best) : NULL;
        if (best)
            sp_contain_attach(c, sp_map_get(&c->items, row->page), best, row->share);
        else if (row->share.of)
            sp_contain_note(c, SP_CORRUPT);
    }
}

struct host_walk {
    void (*each)(void *arg, struct sp_id host, const uint32_t *boilerplate, uint32_t count);
    void *arg;
    struct sp_contain_stage *stage; /* or NULL */
    enum sp_err err;
};

static void take_host(struct sp_contain_stage *c, struct sp_id id, uint64_t ever,
                      struct sp_view boilerplate)
{
    struct sp_contain_host *host = sp_map_get(&c->hosts, id);
    if (!host) {
        sp_contain_note(c, SP_CORRUPT);
        return;
    }
    host->ever = ever;
    host->boilerplate_count = (uint32_t)(boilerplate.len / sizeof(uint32_t));
    c->stats.boilerplate += host->boilerplate_count;
    if (boilerplate.len)
        host->boilerplate = sp_memdup(boilerplate.data, boilerplate.len);
}

static bool read_host(void *arg, struct sp_view key, struct sp_view value)
{
    struct host_walk *w = arg;
    struct sp_reader r = sp_reader(value);
    struct sp_id id = {0, 0};
    bool good = key.len == SP_ID_KEY_BYTES && sp_read_u8(&r) == FORMAT;
    uint64_t ever = sp_read_varint(&r);
    size_t left = sp_reader_left(&r);
    if (!good || r.failed || left % sizeof(uint32_t) || left / sizeof(uint32_t) > UINT32_MAX) {
        w->err = SP_CORRUPT;
        return false;
    }
    memcpy(&id, key.data + 1, sizeof id);
    struct sp_view boilerplate = sp_read_bytes(&r, left);
    if (w->stage) {
        take_host(w->stage, id, ever, boilerplate);
        return true;
    }
    uint32_t *copy = boilerplate.len ? sp_memdup(boilerplate.data, boilerplate.len) : NULL;
    w->each(w->arg, id, copy, (uint32_t)(left / sizeof *copy));
    sp_free(copy);
    return true;
}

static enum sp_err walk_hosts(struct sp_store *store, struct host_walk *w)
{
    enum sp_err err = sp_store_scan(store, sp_view("H", 1), sp_view(NULL, 0), read_host, w);
    return err != SP_OK ? err : w->err;
}

enum sp_err sp_contain_each_host(struct sp_store *store,
                                 void (*each)(void *arg, struct sp_id host,
                                              const uint32_t *boilerplate, uint32_t count),
                                 void *arg)
{
    struct host_walk w = {each, arg, NULL, SP_OK};
    return walk_hosts(store, &w);
}

static void read_account(struct sp_contain_stage *c)
{
    char key[SP_ID_KEY_BYTES];
    struct sp_view value;
    enum sp_err err = sp_store_get(c->store, sp_id_key(key, 'S', (struct sp_id){0, 0}), &value);
    if (err == SP_NOT_FOUND)
        return;
    struct sp_reader r = sp_reader(value);
    if (err == SP_OK && sp_read_u8(&r) == FORMAT) {
        c->puts = sp_read_varint(&r);
        c->dear = sp_read_varint(&r);
    } else if (err == SP_OK) {
        err = SP_CORRUPT;
    }
    if (err == SP_OK && (r.failed || sp_reader_left(&r)))
        err = SP_CORRUPT;
    sp_contain_note(c, err);
}

enum sp_err sp_contain_read(struct sp_contain_stage *c)
{
    struct rows rows = {.err = SP_OK};
    struct host_walk w = {.stage = c, .err = SP_OK};
    sp_contain_note(c, sp_store_scan(c->store, sp_view("I", 1), sp_view(NULL, 0), read_row, &rows));
    sp_contain_note(c, rows.err);
    if (rows.count)
        qsort(rows.at, rows.count, sizeof *rows.at, by_order);
    make_items(c, &rows);
    for (size_t i = 0; i < rows.count; i++)
        sp_free(rows.at[i].url);
    sp_free(rows.at);
    sp_contain_note(c, walk_hosts(c->store, &w));
    read_account(c);
    return c->err;
}
