/* See texts.h. */
#include "evaluate/texts.h"

#include <string.h>

#include "base/mem.h"
#include "evaluate/again.h"

/* The place of the fetch, or where it belongs. */
static uint32_t place_of(const struct sp_trace_texts *t, uint32_t fetch)
{
    uint32_t at = 0;
    while (at < t->count && t->fetches[at] < fetch)
        at++;
    return at;
}

void sp_trace_texts_want(struct sp_trace_texts *t, uint32_t fetch)
{
    uint32_t at = place_of(t, fetch);
    if (at < t->count && t->fetches[at] == fetch)
        return;
    sp_grow(&t->fetches, &t->cap, t->count + 1);
    memmove(t->fetches + at + 1, t->fetches + at, (t->count - at) * sizeof *t->fetches);
    t->fetches[at] = fetch;
    t->count++;
}

struct reading {
    struct sp_trace_texts *texts;
    struct sp_text *reader;
};

static void read_text(void *arg, size_t number, const struct sp_page_record *page)
{
    const struct reading *r = arg;
    sp_text_extract(r->reader, page->content_type, page->content, page->content_is_utf8,
                    &r->texts->texts[number]);
}

enum sp_err sp_trace_texts_read(struct sp_trace_texts *t, const struct sp_trace *trace,
                                const struct sp_text_options *options, struct sp_fault *fault)
{
    if (t->count == 0)
        return SP_OK;
    struct reading r = {t, sp_text_new(options)};
    t->texts = sp_calloc(t->count, sizeof *t->texts);
    enum sp_err err = sp_trace_again(trace, t->fetches, t->count, read_text, &r, fault);
    sp_text_free(r.reader);
    return err;
}

struct sp_view sp_trace_texts_of(const struct sp_trace_texts *t, uint32_t fetch)
{
    return sp_buf_view(&t->texts[place_of(t, fetch)]);
}

void sp_trace_texts_done(struct sp_trace_texts *t)
{
    for (uint32_t i = 0; t->texts && i < t->count; i++)
        sp_buf_done(&t->texts[i]);
    sp_free(t->texts);
    sp_free(t->fetches);
    *t = (struct sp_trace_texts){0};
}
