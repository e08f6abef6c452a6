/* The contain stage as a worker runs it: it reads notes and writes what it found
 * (docs/CONTAINMENT.md). */
#include "base/mem.h"
#include "contain/feed.h"
#include "kafka/notes.h"
#include "kafka/stages.h"

void sp_notes_send(struct sp_worker *w, enum sp_topic topic, struct sp_buf *bytes,
                   const struct sp_note *note)
{
    uint64_t partitions = (uint64_t)sp_worker_partitions(w, topic);
    uint64_t at = topic == SP_TOPIC_CONTAIN ? 0 : note->page.lo % partitions;
    sp_buf_reset(bytes);
    sp_note_encode(note, bytes);
    sp_worker_emit(w, topic, (int32_t)at, sp_view(&note->page, sizeof note->page),
                   sp_buf_view(bytes));
}

struct contain_stage {
    struct sp_worker *worker;
    struct sp_buf bytes;
    struct sp_contain_feed *feed;
};

static void on_found(void *arg, struct sp_id page, const char *url, float containment)
{
    struct contain_stage *s = arg;
    sp_notes_send(s->worker, SP_TOPIC_TIER1, &s->bytes,
                  &(struct sp_note){
                      .kind = SP_NOTE_FOUND, .page = page, .url = url, .containment = containment});
}

static enum sp_err contain_open(void *arg, struct sp_worker *w, struct sp_store *store,
                                void **ret_stage)
{
    const struct sp_stage_options *o = arg;
    struct contain_stage *s = sp_calloc(1, sizeof *s);
    s->worker = w;
    s->feed = sp_contain_feed_new(&o->contain, store, o->contents_cache_bytes, on_found, s);
    *ret_stage = s;
    return sp_contain_feed_load(s->feed);
}

static enum sp_err contain_step(void *stage, struct sp_view key, struct sp_view value,
                                const char **ret_why)
{
    struct contain_stage *s = stage;
    struct sp_note note;
    (void)key;
    *ret_why = "not a note for the contain stage";
    enum sp_err err = sp_note_decode(value, &note);
    if (err != SP_OK)
        return err;
    if (note.kind == SP_NOTE_FOUND) {
        err = SP_MALFORMED;
    } else {
        *ret_why = NULL;
        err = sp_contain_feed_step(s->feed, &note);
    }
    sp_note_done(&note);
    return err;
}

static void contain_measure(void *stage, struct sp_stage_measure *sum)
{
    struct sp_contain_stats stats;
    sp_contain_feed_stats(((struct contain_stage *)stage)->feed, &stats);
    sum->contain_pages += stats.pages;
    sum->contained += stats.contained;
    sum->contain_index_bytes += stats.index_bytes;
}

static enum sp_err contain_flush(void *stage)
{
    return sp_contain_feed_flush(((struct contain_stage *)stage)->feed);
}

static void contain_close(void *stage)
{
    struct contain_stage *s = stage;
    sp_contain_feed_free(s->feed);
    sp_buf_done(&s->bytes);
    sp_free(s);
}

struct sp_worker_stage sp_stage_contain(const struct sp_stage_options *options)
{
    return (struct sp_worker_stage){.name = "contain",
                                    .input = SP_TOPIC_CONTAIN,
                                    .stateful = true,
                                    .changelog = SP_TOPIC_CONTAIN_CHANGELOG,
                                    .outputs = {SP_TOPIC_TIER1},
                                    .output_count = 1,
                                    .open = contain_open,
                                    .step = contain_step,
                                    .measure = contain_measure,
                                    .flush = contain_flush,
                                    .close = contain_close,
                                    .arg = (void *)(uintptr_t)options};
}
