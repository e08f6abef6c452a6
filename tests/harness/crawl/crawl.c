/* A small crawl for the tests of the bus: see crawl.h. */
#include "crawl.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/assert.h"
#include "codec/lines.h"
#include "local/pipeline.h"

static void write_crawl(const struct sp_synth_options *options, int fd)
{
    struct sp_synth *synth = sp_synth_new(options);
    struct sp_buf lines = {0};
    while (sp_synth_next(synth, &lines, NULL))
        ;
    FILE *out = fdopen(fd, "w");
    SP_ASSERT(out && fwrite(lines.data, 1, lines.len, out) == lines.len && fclose(out) == 0);
    sp_buf_done(&lines);
    sp_synth_free(synth);
}

static void take_messages(struct crawl *crawl, struct sp_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        SP_ASSERT(batch->items[i].message);
        crawl->messages =
            sp_realloc(crawl->messages, (crawl->count + 1) * sizeof(struct sp_message *));
        crawl->messages[crawl->count++] = batch->items[i].message;
        batch->items[i].message = NULL;
    }
}

void crawl_make(struct crawl *crawl, const struct sp_synth_options *synth)
{
    char name[] = "/tmp/samepage-crawl-XXXXXX";
    const char *file = name;
    struct sp_fault fault = {""};
    struct sp_input_options options;
    struct sp_text_options text;
    struct sp_input *input;
    struct sp_batch *batch;
    *crawl = (struct crawl){0};
    int fd = mkstemp(name);
    SP_ASSERT(fd >= 0);
    write_crawl(synth, fd);
    sp_input_options_default(&options);
    sp_text_options_default(&text);
    SP_ASSERT(sp_input_open(&file, 1, &options, &input, &fault) == SP_OK);
    struct sp_pipeline *pipeline = sp_pipeline_start(input, &options, &text, 0);
    while (sp_pipeline_next(pipeline, &batch, &fault) == SP_OK)
        take_messages(crawl, batch);
    sp_pipeline_stop(pipeline);
    sp_input_close(input);
    unlink(name);
}

void crawl_done(struct crawl *crawl)
{
    for (size_t i = 0; i < crawl->count; i++)
        sp_message_free(crawl->messages[i]);
    sp_free(crawl->messages);
}

void crawl_run_cache(struct crawl_run *run, size_t bytes)
{
    struct sp_local_bus_options *o = &run->options;
    o->group.cache_bytes = o->compare.cache_bytes = o->contents_cache_bytes = bytes;
}

void crawl_run_init(struct crawl_run *run, uint32_t cells)
{
    *run = (struct crawl_run){.barrier = 100, .move_max = 200};
    SP_ASSERT(sp_partition_default(cells, &run->map) == SP_OK);
    struct sp_local_bus_options *o = &run->options;
    sp_similarity_options_default(&o->group.similarity);
    o->compare.similarity = o->group.similarity;
    o->group.mode = SP_MODE_EXACT;
    crawl_run_cache(run, 1 << 20);
    o->compare.routing = SP_ROUTING_LOSSLESS;
    o->compare.rho = 1.1;
    o->tier1 = o->tier2 = 1;
}

void crawl_run_done(struct crawl_run *run)
{
    sp_buf_done(&run->events);
    sp_partition_done(&run->map);
}

static void on_status(void *arg, const struct sp_status_event *event)
{
    struct crawl_run *run = arg;
    sp_lines_put_status(&run->events, event);
}

static char *copy_text(const char *text)
{
    return text ? sp_memdup(text, strlen(text) + 1) : NULL;
}

static struct sp_message *copy_crawled(const struct sp_message *m)
{
    struct sp_message *copy = sp_message_new(SP_MSG_CRAWLED);
    const struct sp_crawled *from = &m->crawled;
    struct sp_crawled *to = &copy->crawled;
    copy->page = m->page;
    to->version = from->version;
    to->page_kind = from->page_kind;
    to->signature = from->signature ? sp_signature_ref(from->signature) : NULL;
    to->target = from->target;
    to->rank = from->rank;
    to->url = copy_text(from->url);
    to->target_url = copy_text(from->target_url);
    return copy;
}

static enum sp_err barrier(struct crawl_run *run, struct sp_local_bus *bus, struct sp_db *db,
                           size_t records)
{
    enum sp_err err = sp_local_bus_move(bus, run->move_max, &run->left_to_move);
    if (err == SP_OK)
        err = sp_local_bus_flush(bus);
    if (err == SP_OK)
        err = sp_db_commit(db);
    if (err == SP_OK) {
        run->committed = records;
        run->committed_events = run->events.len;
    }
    return err;
}

enum sp_err crawl_feed(struct crawl_run *run, const struct crawl *crawl, struct sp_db *db)
{
    struct sp_local_bus *bus;
    run->options.group.maps = run->options.compare.maps =
        (struct sp_maps){.now = &run->map, .before = run->before};
    run->events.len = run->committed_events;
    enum sp_err err = sp_local_bus_new(&run->options, db, on_status, run, &bus);
    if (err != SP_OK)
        return err;
    for (size_t i = run->committed; i < crawl->count && err == SP_OK; i++) {
        err = sp_local_bus_feed(bus, copy_crawled(crawl->messages[i]));
        if (err == SP_OK && i + 1 == crawl->count)
            err = sp_local_bus_settle(bus);
        if (err == SP_OK && ((i + 1) % run->barrier == 0 || i + 1 == crawl->count))
            err = barrier(run, bus, db, i + 1);
    }
    sp_local_bus_free(bus);
    return err;
}
