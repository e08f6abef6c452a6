/* Contents of a trace, read again: see trace.h. */
#include <stdio.h>
#include <string.h>

#include "evaluate/evaluate.h"
#include "evaluate/trace.h"
#include "input/input.h"

struct again {
    const struct sp_trace *trace;
    const uint32_t *fetches;
    size_t next; /* number of the first one not found yet */
    size_t end;  /* of those in this file */
    void (*each)(void *arg, size_t number, const struct sp_page_record *page);
    void *arg;
};

static void each_item(void *arg, const struct sp_input_item *item)
{
    struct again *a = arg;
    if (a->next == a->end || item->number != a->trace->fetches[a->fetches[a->next]].record ||
        item->err != SP_OK)
        return;
    a->each(a->arg, a->next++, &item->page);
}

/* Reads on until the last wanted record of the file. */
static enum sp_err read_file(const struct sp_evaluate_options *o, const struct sp_trace_file *file,
                             struct again *a, const char **ret_message)
{
    struct sp_input *input = NULL;
    struct sp_chunk *chunk;
    enum sp_err err = sp_input_open(&file->path, 1, &o->run.input, &input, ret_message);
    if (err != SP_OK)
        return err;
    struct sp_parser *parser = sp_parser_new(&o->run.input);
    uint64_t total = sp_input_total_bytes(input);
    err = sp_input_skip(input, a->trace->fetches[a->fetches[a->next]].record);
    while (err == SP_OK && a->next < a->end) {
        err = sp_input_next_chunk(input, &chunk, ret_message);
        if (err != SP_OK)
            break;
        sp_chunk_parse(parser, chunk, each_item, a);
        sp_chunk_free(chunk);
        sp_evaluate_say(o, file->name, sp_input_read_bytes(input), total);
    }
    sp_parser_free(parser);
    sp_input_close(input);
    return err;
}

enum sp_err sp_trace_again(const struct sp_evaluate_options *o, const struct sp_trace *t,
                           const uint32_t *fetches, size_t count,
                           void (*each)(void *arg, size_t number,
                                        const struct sp_page_record *page),
                           void *arg, const char **ret_message)
{
    static _Thread_local char text[640];
    struct again a = {.trace = t, .fetches = fetches, .each = each, .arg = arg};
    enum sp_err err = SP_OK;
    while (a.next < count && err == SP_OK) {
        const struct sp_trace_file *file = &t->files[t->fetches[fetches[a.next]].file];
        for (a.end = a.next; a.end < count && fetches[a.end] < file->first + file->count;)
            a.end++;
        err = read_file(o, file, &a, ret_message);
        if (err != SP_END)
            continue;
        snprintf(text, sizeof text,
                 "%s: record %llu cannot be read again: the experiment needs a file that does not "
                 "change, and not standard input",
                 file->path, (unsigned long long)t->fetches[fetches[a.next]].record);
        *ret_message = text;
        err = SP_IO;
    }
    return err;
}

struct wanted {
    struct sp_text *text;
    struct sp_buf *out;
    enum sp_err err;
};

static void extract(void *arg, size_t number, const struct sp_page_record *page)
{
    struct wanted *w = arg;
    (void)number;
    w->err =
        sp_text_extract(w->text, page->content_type, page->content, page->content_is_utf8, w->out);
}

enum sp_err sp_trace_text(const struct sp_evaluate_options *o, const struct sp_trace *t,
                          size_t fetch, struct sp_buf *out, const char **ret_message)
{
    uint32_t number = (uint32_t)fetch;
    struct wanted w = {.text = sp_text_new(&o->run.text), .out = out};
    enum sp_err err = sp_trace_again(o, t, &number, 1, extract, &w, ret_message);
    sp_text_free(w.text);
    if (err == SP_OK && w.err != SP_OK) {
        *ret_message = "a content that was read before cannot be read again";
        err = w.err;
    }
    return err;
}
