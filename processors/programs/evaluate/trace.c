/* Reading traces: see trace.h. */
#include "evaluate/trace.h"

#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "local/pipeline.h"

struct known_page {
    struct sp_id id; /* key of the map: first */
    uint32_t number;
};

struct known_content {
    struct sp_id key; /* content hash */
    struct sp_signature *signature;
};

struct reading {
    struct sp_trace *trace;
    struct sp_map pages;
    struct sp_map contents;
    struct sp_trace_file *file;
    size_t fetch_cap;
    size_t page_cap;
};

/* Returns the page's number. If the page is new, takes ownership of *url and sets it to NULL. */
static uint32_t page_number(struct reading *r, struct sp_id id, char **url)
{
    struct known_page *known = sp_map_get(&r->pages, id);
    if (known)
        return known->number;
    struct sp_trace *t = r->trace;
    sp_grow(&t->pages, &r->page_cap, t->page_count + 1);
    known = sp_alloc(sizeof *known);
    *known = (struct known_page){id, (uint32_t)t->page_count};
    t->pages[t->page_count++] = (struct sp_trace_page){id, *url};
    *url = NULL;
    sp_map_add(&r->pages, known);
    return known->number;
}

/* Returns one signature for all fetches of equal content; language and length follow from the
 * content. */
static struct sp_signature *shared(struct reading *r, struct sp_signature *s)
{
    struct known_content *known = sp_map_get(&r->contents, s->content_hash);
    if (!known) {
        known = sp_alloc(sizeof *known);
        *known = (struct known_content){s->content_hash, sp_signature_ref(s)};
        sp_map_add(&r->contents, known);
        r->trace->distinct++;
        r->trace->shingles += s->shingle_count;
    }
    return sp_signature_ref(known->signature);
}

static void add_fetch(struct reading *r, struct sp_message *m, uint64_t record, uint64_t bytes)
{
    struct sp_trace *t = r->trace;
    struct sp_crawled *c = &m->crawled;
    bool redirect = c->page_kind == SP_PAGE_REDIRECT;
    sp_grow(&t->fetches, &r->fetch_cap, t->fetch_count + 1);
    struct sp_fetch f = {.file = (uint32_t)(r->file - t->files),
                         .kind = c->page_kind,
                         .version = c->version,
                         .rank = c->rank,
                         .record = record,
                         .bytes = bytes};
    f.page = page_number(r, m->page, &c->url);
    f.target = redirect ? page_number(r, c->target, &c->target_url) : SP_NO_PAGE;
    f.signature = c->signature ? shared(r, c->signature) : NULL;
    t->fetches[t->fetch_count++] = f;
    r->file->count++;
}

static void take_batch(struct reading *r, struct sp_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct sp_batch_item *item = &batch->items[i];
        sp_batch_item_count(item, r->trace->options.readings);
        r->file->content_bytes += item->content_bytes;
        r->file->dead_letters += item->err != SP_OK;
        const struct sp_message *m = item->message;
        bool told = m && m->crawled.page_kind != SP_PAGE_UNSEEN;
        r->file->ignored += item->err == SP_OK && !told;
        if (told)
            add_fetch(r, item->message, item->number, item->content_bytes);
        sp_message_free(item->message);
        item->message = NULL;
    }
}

static enum sp_err read_file(struct reading *r, struct sp_fault *fault)
{
    const struct sp_trace_options *o = &r->trace->options;
    struct sp_input *input = NULL;
    enum sp_err err = sp_input_open(&r->file->path, 1, &o->input, &input, fault);
    if (err != SP_OK)
        return err;
    struct sp_batch *batch;
    struct sp_pipeline *pipeline =
        sp_pipeline_start(input, &o->input, &o->text, sp_pipeline_workers(o->threads));
    uint64_t total = sp_input_total_bytes(input);
    while ((err = sp_pipeline_next(pipeline, &batch, fault)) == SP_OK) {
        take_batch(r, batch);
        if (o->progress)
            o->progress(o->progress_arg, r->file->name, batch->read_bytes, total);
    }
    sp_pipeline_stop(pipeline);
    sp_input_close(input);
    sp_readings_end_input(o->readings, r->file->path,
                          r->file->count + r->file->ignored + r->file->dead_letters);
    return err == SP_END ? SP_OK : err;
}

/* Frees the objects of the maps, which are found by the pages' ids and the fetches' contents. */
static void forget(struct reading *r)
{
    struct sp_trace *t = r->trace;
    for (size_t i = 0; i < t->page_count; i++)
        sp_free(sp_map_remove(&r->pages, t->pages[i].id));
    for (size_t i = 0; i < t->fetch_count; i++) {
        struct sp_signature *s = t->fetches[i].signature;
        struct known_content *known = s ? sp_map_remove(&r->contents, s->content_hash) : NULL;
        if (!known)
            continue;
        sp_signature_unref(known->signature);
        sp_free(known);
    }
    sp_map_done(&r->pages);
    sp_map_done(&r->contents);
}

enum sp_err sp_trace_read(const struct sp_trace_options *o, struct sp_trace **ret_trace,
                          struct sp_fault *fault)
{
    struct sp_trace *t = sp_calloc(1, sizeof *t);
    struct reading r = {.trace = t};
    enum sp_err err = SP_OK;
    t->options = *o;
    t->files = sp_calloc(o->file_count + 1, sizeof *t->files);
    for (size_t i = 0; i < o->file_count && err == SP_OK; i++) {
        const char *slash = strrchr(o->files[i], '/');
        r.file = &t->files[t->file_count++];
        *r.file = (struct sp_trace_file){
            .path = o->files[i], .name = slash ? slash + 1 : o->files[i], .first = t->fetch_count};
        err = read_file(&r, fault);
    }
    forget(&r);
    if (err == SP_OK)
        *ret_trace = t;
    else
        sp_trace_free(t);
    return err;
}

void sp_trace_free(struct sp_trace *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->fetch_count; i++)
        sp_signature_unref(t->fetches[i].signature);
    for (size_t i = 0; i < t->page_count; i++)
        sp_free(t->pages[i].url);
    sp_free(t->fetches);
    sp_free(t->pages);
    sp_free(t->files);
    sp_free(t);
}

/* ---- views of a trace ---- */

/* Computes the version as the group stage does (stages/group/page.c); `last` is the fetch with that
 * version. */
static int64_t version_of(const struct sp_fetch *f, const struct sp_fetch *last, int64_t version)
{
    bool tie =
        version > 0 && f->version == version &&
        (last->kind != f->kind || last->signature != f->signature || last->target != f->target);
    if (f->version > 0 && !tie)
        return f->version;
    return version < INT64_MAX ? version + 1 : version;
}

size_t sp_trace_alive(const struct sp_trace *t, size_t first, size_t end, uint32_t *ret_fetches)
{
    int64_t *version = sp_calloc(t->page_count + 1, sizeof *version);
    uint32_t *last = sp_calloc(t->page_count + 1, sizeof *last);
    size_t count = 0;
    for (size_t i = first; i < end; i++) {
        const struct sp_fetch *f = &t->fetches[i];
        int64_t v = version_of(f, &t->fetches[last[f->page]], version[f->page]);
        if (v <= version[f->page])
            continue;
        version[f->page] = v;
        last[f->page] = (uint32_t)i;
    }
    for (size_t i = first; i < end; i++) {
        const struct sp_fetch *f = &t->fetches[i];
        if (f->kind == SP_PAGE_CONTENT && version[f->page] && last[f->page] == i)
            ret_fetches[count++] = (uint32_t)i;
    }
    sp_free(version);
    sp_free(last);
    return count;
}

void sp_trace_signatures(const struct sp_trace *t, const uint32_t *fetches, size_t count,
                         struct sp_signature **ret_signatures)
{
    for (size_t i = 0; i < count; i++)
        ret_signatures[i] = t->fetches[fetches[i]].signature;
}

struct sp_message *sp_trace_message(const struct sp_trace *t, size_t fetch)
{
    const struct sp_fetch *f = &t->fetches[fetch];
    struct sp_message *m = sp_message_new(SP_MSG_CRAWLED);
    struct sp_crawled *c = &m->crawled;
    m->page = t->pages[f->page].id;
    c->url = sp_strdup(t->pages[f->page].url);
    c->page_kind = f->kind;
    c->version = f->version;
    c->rank = f->rank;
    c->signature = f->signature ? sp_signature_ref(f->signature) : NULL;
    if (f->target != SP_NO_PAGE) {
        c->target = t->pages[f->target].id;
        c->target_url = sp_strdup(t->pages[f->target].url);
    }
    return m;
}
