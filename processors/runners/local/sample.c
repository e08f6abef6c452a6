/* Reads a sample: see sample.h. Only the words of a page's last fetch are kept. Its id alone
 * decides whether a page is in the sample, so all its fetches are treated alike. */
#include "local/sample.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "signature/signature.h"

struct sampled {
    struct sp_id page; /* key of the map: first */
    struct sp_id content;
    struct sp_bag *bag;
    struct sp_lengths lengths;
    bool alive; /* neither gone nor a redirect */
};

struct reading {
    const struct sp_sample_options *options;
    struct sp_sample sample;
    struct sp_text *text;
    struct sp_buf scratch;
    struct sp_map by_page;
    struct sampled **pages;
    size_t count;
    size_t cap;
    uint64_t limit; /* of page ids */
    uint64_t left;  /* records of this input still to be read */
    uint64_t earlier_bytes;
    uint64_t total_bytes;
};

static void drop_content(struct sampled *p)
{
    sp_free(p->bag);
    p->bag = NULL;
    p->alive = false;
}

/* Halves the sample until it is small enough. */
static void thin_out(struct reading *r)
{
    while (r->count > r->options->most && r->limit > 0) {
        size_t kept = 0;
        r->limit /= 2;
        for (size_t i = 0; i < r->count; i++) {
            struct sampled *p = r->pages[i];
            if (p->page.hi <= r->limit) {
                r->pages[kept++] = p;
                continue;
            }
            sp_map_remove(&r->by_page, p->page);
            drop_content(p);
            sp_free(p);
        }
        r->count = kept;
    }
}

static struct sampled *page_of(struct reading *r, struct sp_id id)
{
    struct sampled *p = sp_map_get(&r->by_page, id);
    if (p)
        return p;
    sp_grow(&r->pages, &r->cap, r->count + 1);
    p = sp_calloc(1, sizeof *p);
    p->page = id;
    r->pages[r->count++] = p;
    sp_map_add(&r->by_page, p);
    return p;
}

static void note_message(struct reading *r, const struct sp_message *m)
{
    if (m->page.hi > r->limit || m->crawled.page_kind == SP_PAGE_UNSEEN)
        return;
    struct sampled *p = page_of(r, m->page);
    if (m->crawled.page_kind != SP_PAGE_CONTENT) {
        drop_content(p);
        return;
    }
    if (p->alive && sp_id_eq(p->content, m->crawled.signature->content_hash))
        return;
    drop_content(p);
    p->alive = true;
    p->content = m->crawled.signature->content_hash;
    if (r->options->text.signature.dictionary) {
        memcpy(p->lengths.at, m->crawled.signature->length, sizeof p->lengths.at);
    } else {
        uint64_t *words;
        size_t count = sp_text_first_words(r->text, &words);
        p->bag = sp_bag_new(words, count);
    }
    thin_out(r);
}

static void on_item(void *arg, const struct sp_input_item *item)
{
    struct reading *r = arg;
    struct sp_message *m = NULL;
    const char *why = item->why;
    if (r->left == 0)
        return;
    r->left--;
    r->sample.records += item->records;
    bool good = item->err == SP_OK &&
                sp_record_message(r->text, &item->page, &r->scratch, &m, &why) == SP_OK;
    sp_readings_add(r->options->readings, item->records, good ? NULL : why);
    sp_readings_cut(r->options->readings, sp_text_take_cut(r->text) > 0);
    if (m)
        note_message(r, m);
    sp_message_free(m);
}

static enum sp_err read_input(struct reading *r, const char *name, struct sp_fault *fault)
{
    const struct sp_sample_options *o = r->options;
    struct sp_input *input;
    struct sp_chunk *chunk;
    uint64_t before = r->sample.records;
    enum sp_err err = sp_input_open(&name, 1, &o->input, &input, fault);
    if (err != SP_OK)
        return err;
    struct sp_parser *parser = sp_parser_new(&o->input);
    r->left = o->records ? o->records : UINT64_MAX;
    err = o->skip ? sp_input_skip(input, o->skip) : SP_OK;
    while (err == SP_OK && r->left > 0 &&
           (err = sp_input_next_chunk(input, &chunk, fault)) == SP_OK) {
        sp_chunk_parse(parser, chunk, on_item, r);
        sp_chunk_free(chunk);
        if (o->progress)
            o->progress(o->progress_arg, r->sample.records,
                        r->earlier_bytes + sp_input_read_bytes(input), r->total_bytes);
    }
    r->earlier_bytes += sp_input_read_bytes(input);
    sp_parser_free(parser);
    sp_input_close(input);
    sp_readings_end_input(o->readings, name, o->skip ? 1 : r->sample.records - before);
    return err == SP_END ? SP_OK : err;
}

static int by_content(const void *a, const void *b)
{
    const struct sampled *x = *(struct sampled *const *)a, *y = *(struct sampled *const *)b;
    return sp_id_cmp(x->content, y->content);
}

/* Moves the distinct contents to the sample and frees the rest. */
static void collect(struct reading *r)
{
    struct sp_sample *s = &r->sample;
    size_t alive = 0;
    for (size_t i = 0; i < r->count; i++) {
        struct sampled *p = r->pages[i];
        if (p->alive)
            r->pages[alive++] = p;
        else
            sp_free(p);
    }
    if (alive > 0)
        qsort(r->pages, alive, sizeof *r->pages, by_content);
    s->pages = alive;
    s->part = r->limit < UINT64_MAX;
    if (r->options->text.signature.dictionary)
        s->lengths = sp_alloc(alive * sizeof *s->lengths + 1);
    else
        s->bags = sp_alloc(alive * sizeof *s->bags + 1);
    for (size_t i = 0; i < alive; i++) {
        struct sampled *p = r->pages[i];
        bool last = i + 1 == alive || !sp_id_eq(p->content, r->pages[i + 1]->content);
        if (last && s->lengths)
            s->lengths[s->count] = p->lengths;
        else if (last)
            s->bags[s->count] = p->bag;
        else
            sp_free(p->bag);
        s->count += last;
        sp_free(p);
    }
    sp_map_done(&r->by_page);
    sp_free(r->pages);
}

enum sp_err sp_sample_read(const char *const *inputs, size_t input_count,
                           const struct sp_sample_options *options, struct sp_sample *ret_sample,
                           struct sp_fault *fault)
{
    struct reading r = {.options = options, .limit = UINT64_MAX};
    enum sp_err err = SP_OK;
    r.text = sp_text_new(&options->text);
    r.total_bytes = options->progress ? sp_input_size_of(inputs, input_count, &options->input) : 0;
    for (size_t i = 0; i < input_count && err == SP_OK; i++)
        err = read_input(&r, inputs[i], fault);
    sp_text_free(r.text);
    sp_buf_done(&r.scratch);
    collect(&r);
    *ret_sample = r.sample;
    if (err != SP_OK)
        sp_sample_done(ret_sample);
    return err;
}

void sp_sample_done(struct sp_sample *sample)
{
    for (size_t i = 0; sample->bags && i < sample->count; i++)
        sp_free(sample->bags[i]);
    sp_free(sample->bags);
    sp_free(sample->lengths);
    *sample = (struct sp_sample){0};
}

struct sp_lengths *sp_sample_lengths(const struct sp_sample *sample,
                                     const struct sp_dictionary *dictionary)
{
    struct sp_lengths *lengths = sp_alloc(sample->count * sizeof *lengths + 1);
    for (size_t i = 0; i < sample->count; i++)
        sp_bag_lengths(sample->bags[i], dictionary, lengths[i].at);
    return lengths;
}
