/* See feed.h. Rows are read where a note needs them and kept until they are written, at the next
 * flush. */
#include "contain/feed.h"

#include "base/assert.h"
#include "base/map.h"
#include "base/mem.h"

enum { FORMAT = 1, TOLD = 1 };

/* What is known of a page. */
struct fetches {
    struct sp_id page;     /* key of the map: first */
    struct sp_id named;    /* by its last status; zero: no content */
    struct sp_id *waiting; /* fetched since; zero: without content */
    size_t count;
    size_t cap;
    bool told;   /* the last word to it named a container */
    bool stored; /* there is a row */
    bool changed;
};

struct sp_contain_feed {
    struct sp_store *store;
    struct sp_contents *contents;
    struct sp_contain_stage *stage;
    struct sp_map pages; /* looked at since the last flush */
    struct sp_buf text;
    sp_contain_say *say;
    void *say_arg;
    enum sp_err err;
};

static bool note_error(struct sp_contain_feed *f, enum sp_err err)
{
    if (f->err == SP_OK)
        f->err = err;
    return f->err == SP_OK;
}

/* ---- rows ---- */

static bool decode(struct sp_view row, struct fetches *p)
{
    struct sp_reader r = sp_reader(row);
    bool good = sp_read_u8(&r) == FORMAT;
    p->told = sp_read_u8(&r) & TOLD;
    p->named = sp_read_id(&r);
    size_t left = sp_reader_left(&r);
    if (!good || r.failed || left % sizeof *p->waiting)
        return false;
    p->count = left / sizeof *p->waiting;
    sp_grow(&p->waiting, &p->cap, p->count);
    for (size_t i = 0; i < p->count; i++)
        p->waiting[i] = sp_read_id(&r);
    return true;
}

static void free_fetches(struct fetches *p)
{
    sp_free(p->waiting);
    sp_free(p);
}

/* NULL: the feed has an error. */
static struct fetches *fetches_of(struct sp_contain_feed *f, struct sp_id page)
{
    struct fetches *p = sp_map_get(&f->pages, page);
    char key[SP_ID_KEY_BYTES];
    struct sp_view row = {0};
    if (p)
        return p;
    enum sp_err err = sp_store_get(f->store, sp_id_key(key, 'P', page), &row);
    if (err != SP_OK && err != SP_NOT_FOUND && !note_error(f, err))
        return NULL;
    p = sp_calloc(1, sizeof *p);
    p->page = page;
    p->stored = err == SP_OK;
    if (p->stored && !decode(row, p)) {
        note_error(f, SP_CORRUPT);
        free_fetches(p);
        return NULL;
    }
    sp_map_add(&f->pages, p);
    return p;
}

static void write_row(struct sp_contain_feed *f, const struct fetches *p)
{
    char key[SP_ID_KEY_BYTES];
    bool empty = sp_id_is_zero(p->named) && !p->count && !p->told;
    if (empty && p->stored)
        sp_store_delete(f->store, sp_id_key(key, 'P', p->page));
    if (empty)
        return;
    sp_buf_reset(&f->text);
    sp_buf_put_u8(&f->text, FORMAT);
    sp_buf_put_u8(&f->text, p->told ? TOLD : 0);
    sp_buf_put_id(&f->text, p->named);
    sp_buf_put(&f->text, p->waiting, p->count * sizeof *p->waiting);
    sp_store_put(f->store, sp_id_key(key, 'P', p->page), sp_buf_view(&f->text));
}

static void forget_pages(struct sp_contain_feed *f, bool write)
{
    uint64_t cursor = 0;
    for (struct fetches *p; (p = sp_map_next(&f->pages, &cursor));) {
        if (write && p->changed)
            write_row(f, p);
        free_fetches(p);
    }
    sp_map_done(&f->pages);
}

/* ---- words ---- */

static void tell(struct sp_contain_feed *f, struct fetches *p, const char *url, float containment)
{
    if (!url && !p->told)
        return;
    p->changed |= p->told != (url != NULL);
    p->told = url != NULL;
    f->say(f->say_arg, p->page, url, containment);
}

static void on_say(void *arg, struct sp_id page, const char *url, float containment)
{
    struct sp_contain_feed *f = arg;
    struct fetches *p = fetches_of(f, page);
    if (p)
        tell(f, p, url, containment);
}

/* ---- notes ---- */

static size_t find(const struct fetches *p, struct sp_id content)
{
    size_t i = 0;
    while (i < p->count && !sp_id_eq(p->waiting[i], content))
        i++;
    return i;
}

static void on_fetched(struct sp_contain_feed *f, struct fetches *p, struct sp_signature *signature)
{
    struct sp_id content = signature ? signature->content_hash : (struct sp_id){0, 0};
    if (sp_id_eq(content, p->named) || find(p, content) < p->count)
        return;
    if (signature && !note_error(f, sp_contents_hold(f->contents, signature)))
        return;
    sp_grow(&p->waiting, &p->cap, p->count + 1);
    p->waiting[p->count++] = content;
    p->changed = true;
}

static void drop(struct sp_contain_feed *f, struct sp_id content)
{
    if (!sp_id_is_zero(content))
        note_error(f, sp_contents_drop(f->contents, content));
}

/* The page has this content now: earlier ones will not be named again. Content that never arrived
 * (its message was refused) counts as none. */
static void settle(struct sp_contain_feed *f, struct fetches *p, struct sp_id content)
{
    size_t at = find(p, content);
    bool same = sp_id_eq(content, p->named);
    if (same && !p->count)
        return;
    for (size_t i = 0; i < p->count; i++)
        if (i != at)
            drop(f, p->waiting[i]);
    if (!same) {
        drop(f, p->named);
        p->named = at < p->count ? content : (struct sp_id){0, 0};
    }
    p->count = 0;
    p->changed = true;
}

/* A page that had another content in between, without a status about it, has forgotten what it was
 * told, so it is put again. */
static void on_said(struct sp_contain_feed *f, struct fetches *p, const struct sp_note *note)
{
    bool between = p->count > 0 && sp_id_eq(note->content, p->named);
    settle(f, p, note->content);
    if (f->err == SP_OK && (!note->url || between))
        note_error(f, sp_contain_stage_remove(f->stage, p->page));
    if (f->err == SP_OK && note->url)
        note_error(f, sp_contain_stage_put(f->stage, p->page, note->url, p->named));
    else if (f->err == SP_OK && sp_id_is_zero(p->named))
        tell(f, p, NULL, 0);
}

enum sp_err sp_contain_feed_step(struct sp_contain_feed *f, const struct sp_note *note)
{
    SP_ASSERT(note->kind != SP_NOTE_FOUND);
    struct fetches *p = f->err == SP_OK ? fetches_of(f, note->page) : NULL;
    if (p && note->kind == SP_NOTE_FETCHED)
        on_fetched(f, p, note->signature);
    else if (p)
        on_said(f, p, note);
    return f->err;
}

/* ---- the whole ---- */

struct sp_contain_feed *sp_contain_feed_new(const struct sp_contain_options *options,
                                            struct sp_store *store, size_t cache_bytes,
                                            sp_contain_say *say, void *arg)
{
    struct sp_contain_feed *f = sp_calloc(1, sizeof *f);
    f->store = store;
    f->say = say;
    f->say_arg = arg;
    f->contents = sp_contents_new(store, 1, cache_bytes);
    f->stage = sp_contain_stage_new(options, store, f->contents, on_say, f);
    return f;
}

void sp_contain_feed_free(struct sp_contain_feed *f)
{
    if (!f)
        return;
    forget_pages(f, false);
    sp_contain_stage_free(f->stage);
    sp_contents_free(f->contents);
    sp_buf_done(&f->text);
    sp_free(f);
}

enum sp_err sp_contain_feed_load(struct sp_contain_feed *f)
{
    note_error(f, sp_contain_stage_load(f->stage));
    return f->err;
}

enum sp_err sp_contain_feed_flush(struct sp_contain_feed *f)
{
    if (f->err != SP_OK || !note_error(f, sp_contain_stage_flush(f->stage)))
        return f->err;
    forget_pages(f, true);
    sp_contents_flush(f->contents);
    return f->err;
}

void sp_contain_feed_stats(const struct sp_contain_feed *f, struct sp_contain_stats *ret_stats)
{
    sp_contain_stage_stats(f->stage, ret_stats);
}
