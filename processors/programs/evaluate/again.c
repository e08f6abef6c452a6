/* See again.h. */
#include "evaluate/again.h"

#include <inttypes.h>

#include "input/source.h"

struct again {
    const struct sp_trace *trace;
    const uint32_t *fetches;
    size_t next; /* end of the records of this file */
    size_t end;  /* end of the records of this file */
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

/* Reads up to the last wanted record of the file. */
static enum sp_err read_file(struct again *a, const struct sp_trace_file *file,
                             struct sp_fault *fault)
{
    const struct sp_trace_options *o = &a->trace->options;
    struct sp_input *input = NULL;
    struct sp_chunk *chunk;
    if (sp_source_is_stream(file->path))
        return SP_END; /* opening a pipe again could wait without end */
    enum sp_err err = sp_input_open(&file->path, 1, &o->input, &input, fault);
    if (err != SP_OK)
        return err;
    struct sp_parser *parser = sp_parser_new(&o->input);
    uint64_t total = sp_input_total_bytes(input);
    err = sp_input_skip(input, a->trace->fetches[a->fetches[a->next]].record);
    while (err == SP_OK && a->next < a->end) {
        err = sp_input_next_chunk(input, &chunk, fault);
        if (err != SP_OK)
            break;
        sp_chunk_parse(parser, chunk, each_item, a);
        sp_chunk_free(chunk);
        if (o->progress)
            o->progress(o->progress_arg, file->name, sp_input_read_bytes(input), total);
    }
    sp_parser_free(parser);
    sp_input_close(input);
    return err;
}

enum sp_err sp_trace_again(const struct sp_trace *t, const uint32_t *fetches, size_t count,
                           void (*each)(void *arg, size_t number,
                                        const struct sp_page_record *page),
                           void *arg, struct sp_fault *fault)
{
    struct again a = {.trace = t, .fetches = fetches, .each = each, .arg = arg};
    enum sp_err err = SP_OK;
    while (a.next < count && err == SP_OK) {
        const struct sp_trace_file *file = &t->files[t->fetches[fetches[a.next]].file];
        for (a.end = a.next; a.end < count && fetches[a.end] < file->first + file->count;)
            a.end++;
        err = read_file(&a, file, fault);
        if (err == SP_END)
            err = sp_fault_set(fault, SP_IO,
                               "%s: record %" PRIu64 " cannot be read again: the experiment needs "
                               "a file that does not change, and not standard input or a pipe",
                               file->path, t->fetches[fetches[a.next]].record);
    }
    return err;
}
