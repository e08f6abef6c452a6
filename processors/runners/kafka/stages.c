/* This file alone chooses the partitions of messages and statuses: a message goes to the partition
 * of its page or founder (tier 1), or of its cell's machine (tier 2); a status goes to the
 * partition of its page; notes for the contain stage all go to one partition, and so do the fetches
 * for the audit. All messages from one input partition to another keep their order, because they
 * have one producer and one log. */
#include "kafka/stages.h"

#include "base/assert.h"
#include "base/mem.h"
#include "base/url.h"
#include "codec/codec.h"
#include "codec/note.h"
#include "kafka/aside.h"
#include "kafka/notes.h"
#include "kafka/page_reader.h"
#include "shadow/shadow.h"

/* ---- what all stages send ---- */

struct mouth {
    struct sp_worker *worker;
    const struct sp_maps *maps;
    struct sp_wire_format statuses;
    bool contains; /* notes go to the contain stage */
    struct sp_buf bytes;
    struct sp_buf key;
};

static void dispatch(struct mouth *mouth, struct sp_message *m, bool may_keep)
{
    bool tier1 = sp_message_tier(m) == SP_TIER_1;
    enum sp_topic topic = tier1 ? SP_TOPIC_TIER1 : SP_TOPIC_TIER2;
    struct sp_id home = tier1 ? sp_message_home(m) : (struct sp_id){0, sp_message_cell(m)};
    uint64_t at = tier1 ? home.lo : sp_maps_machine(mouth->maps, (uint32_t)home.lo);
    uint64_t partitions = (uint64_t)sp_worker_partitions(mouth->worker, topic);
    int32_t partition = (int32_t)(at % partitions);
    if (may_keep)
        sp_worker_count(mouth->worker, m->kind);
    if (may_keep && sp_worker_keep(mouth->worker, topic, partition, m))
        return;
    sp_buf_reset(&mouth->bytes);
    sp_message_encode(m, &mouth->bytes);
    sp_worker_emit(mouth->worker, topic, partition, sp_view(&home, sizeof home),
                   sp_buf_view(&mouth->bytes));
    sp_message_free(m);
}

static void on_send(void *arg, struct sp_message *m)
{
    dispatch(arg, m, true);
}

/* A fetch that found the page unchanged does not concern the contain stage. */
static void note_fetch(struct mouth *mouth, const struct sp_message *m)
{
    if (!mouth->contains || m->kind != SP_MSG_CRAWLED || m->crawled.page_kind == SP_PAGE_UNSEEN)
        return;
    sp_notes_send(mouth->worker, SP_TOPIC_CONTAIN, &mouth->bytes,
                  &(struct sp_note){
                      .kind = SP_NOTE_FETCHED, .page = m->page, .signature = m->crawled.signature});
}

static void note_status(struct mouth *mouth, const struct sp_status_event *event)
{
    bool kept = event->status == SP_STATUS_UNIQUE || event->status == SP_STATUS_WINNER;
    if (mouth->contains)
        sp_notes_send(mouth->worker, SP_TOPIC_CONTAIN, &mouth->bytes,
                      &(struct sp_note){.kind = SP_NOTE_SAID,
                                        .page = event->page,
                                        .content = event->content,
                                        .url = kept ? event->url : NULL});
}

/* The page's id was made from this URL, unless another program wrote the message that named it. */
static void put_key(struct mouth *mouth, struct sp_view url)
{
    sp_buf_reset(&mouth->key);
    if (sp_url_canonical(url, &mouth->key) == SP_OK)
        return;
    sp_buf_reset(&mouth->key);
    sp_buf_put_view(&mouth->key, url);
}

/* Also deletes the status under the URL as it was spelled, which was the key of statuses before
 * 0.2. */
static void take_back(struct mouth *mouth, const struct sp_status_event *event, int32_t partition)
{
    struct sp_view url = sp_view_str(event->url), nothing = {0};
    put_key(mouth, url);
    sp_worker_emit(mouth->worker, SP_TOPIC_STATUS, partition, sp_buf_view(&mouth->key), nothing);
    if (!sp_view_eq(sp_buf_view(&mouth->key), url))
        sp_worker_emit(mouth->worker, SP_TOPIC_STATUS, partition, url, nothing);
}

/* The key is the page's name, whatever the spelling in its last fetch, so that the topic keeps one
 * event for each page. */
static void on_publish(void *arg, const struct sp_status_event *event)
{
    struct mouth *mouth = arg;
    uint64_t partitions = (uint64_t)sp_worker_partitions(mouth->worker, SP_TOPIC_STATUS);
    int32_t partition = (int32_t)(event->page.lo % partitions);
    note_status(mouth, event);
    if (event->status == SP_STATUS_NONE) {
        take_back(mouth, event, partition);
        return;
    }
    sp_buf_reset(&mouth->bytes);
    sp_status_encode(event, &mouth->statuses, &mouth->bytes);
    put_key(mouth, sp_view_str(event->url));
    sp_worker_emit(mouth->worker, SP_TOPIC_STATUS, partition, sp_buf_view(&mouth->key),
                   sp_buf_view(&mouth->bytes));
}

static void close_mouth(struct mouth *mouth)
{
    sp_buf_done(&mouth->bytes);
    sp_buf_done(&mouth->key);
}

/* ---- signature ---- */

struct signature_stage {
    struct mouth mouth;
    struct sp_page_reader *reader;
    uint64_t audited; /* bound of the draws of pages in the sample; 0: there is none */
    uint64_t cut;     /* pages */
};

static enum sp_err signature_open(void *arg, struct sp_worker *w, struct sp_store *store,
                                  void **ret_stage)
{
    const struct sp_stage_options *o = arg;
    struct signature_stage *s = sp_calloc(1, sizeof *s);
    (void)store;
    s->mouth.worker = w;
    s->mouth.maps = &o->compare.maps;
    s->reader = sp_page_reader_new(o);
    s->audited = sp_shadow_limit(o->audit_share);
    *ret_stage = s;
    return SP_OK;
}

static void *signature_reader(void *arg)
{
    return sp_page_reader_new(arg);
}

static void signature_reader_free(void *reader)
{
    sp_page_reader_free(reader);
}

static enum sp_err signature_prepare(void *arg, struct sp_fault *fault)
{
    const struct sp_stage_options *o = arg;
    return o->schemas ? sp_schemas_reach(o->schemas, fault) : SP_OK;
}

/* A copy for the audit (watch.h), in the same transaction. An erased page is deleted there, sampled
 * or not: what it said before is not known here. A fetch without a time is not watched. */
static void send_fetch(struct signature_stage *s, struct sp_message *m)
{
    struct sp_id page = m->page;
    bool erased = m->kind == SP_MSG_ERASE;
    bool copied =
        s->audited > 0 && !erased && m->crawled.version > 0 && sp_shadow_draws(s->audited, m);
    on_send(&s->mouth, m);
    if (copied || (erased && s->audited > 0))
        sp_worker_emit(s->mouth.worker, SP_TOPIC_AUDIT, 0, sp_view(&page, sizeof page),
                       erased ? (struct sp_view){0} : sp_buf_view(&s->mouth.bytes));
}

static enum sp_err signature_read(void *reader, struct sp_view key, struct sp_view value,
                                  struct sp_worker_reading *ret_reading)
{
    return sp_page_reader_read(reader, key, value, ret_reading);
}

static void signature_pass(void *stage, const struct sp_worker_reading *reading)
{
    struct signature_stage *s = stage;
    s->cut += reading->cut;
    if (reading->message)
        send_fetch(s, reading->message);
}

static enum sp_err signature_step(void *stage, struct sp_view key, struct sp_view value,
                                  const char **ret_why)
{
    struct sp_worker_reading r;
    enum sp_err err =
        sp_page_reader_read(((struct signature_stage *)stage)->reader, key, value, &r);
    *ret_why = r.why;
    if (err == SP_OK)
        signature_pass(stage, &r);
    return err;
}

static void signature_measure(void *stage, struct sp_stage_measure *sum)
{
    const struct signature_stage *s = stage;
    sum->cut += s->cut;
}

static enum sp_err nothing_to_flush(void *stage)
{
    (void)stage;
    return SP_OK;
}

static void signature_close(void *stage)
{
    struct signature_stage *s = stage;
    sp_page_reader_free(s->reader);
    close_mouth(&s->mouth);
    sp_free(s);
}

struct sp_worker_stage sp_stage_signature(const struct sp_stage_options *options)
{
    return (struct sp_worker_stage){.name = "signature",
                                    .input = SP_TOPIC_PAGES,
                                    .outputs = {SP_TOPIC_TIER1, SP_TOPIC_AUDIT},
                                    .output_count = 1 + (options->audit_share > 0),
                                    .prepare = signature_prepare,
                                    .open = signature_open,
                                    .step = signature_step,
                                    .read = signature_read,
                                    .pass = signature_pass,
                                    .reader_new = signature_reader,
                                    .reader_free = signature_reader_free,
                                    .measure = signature_measure,
                                    .flush = nothing_to_flush,
                                    .close = signature_close,
                                    .arg = (void *)(uintptr_t)options};
}

/* ---- group ---- */

struct group_stage {
    struct mouth mouth;
    struct sp_group_stage *group;
};

static enum sp_err group_prepare(void *arg, struct sp_fault *fault)
{
    const struct sp_stage_options *o = arg;
    uint32_t id;
    return o->schemas ? sp_schemas_id(o->schemas, SP_TOPIC_STATUS, &id, fault) : SP_OK;
}

static enum sp_err group_open(void *arg, struct sp_worker *w, struct sp_store *store,
                              void **ret_stage)
{
    const struct sp_stage_options *o = arg;
    struct group_stage *s = sp_calloc(1, sizeof *s);
    struct sp_outbox outbox = {on_send, on_publish, &s->mouth};
    s->mouth.worker = w;
    s->mouth.maps = &o->compare.maps;
    uint32_t id = o->status_schema_id;
    struct sp_fault fault;
    if (o->schemas && sp_schemas_id(o->schemas, SP_TOPIC_STATUS, &id, &fault) != SP_OK)
        SP_ASSERT(!"prepared"); /* group_prepare has asked the registry */
    s->mouth.statuses = sp_wire_format_of_id(id);
    s->mouth.contains = o->contain.threshold > 0;
    s->group = sp_group_stage_new(&o->group, store, &outbox);
    *ret_stage = s;
    return sp_group_stage_error(s->group);
}

/* Handles what the contain stage found. */
static enum sp_err group_found(struct group_stage *s, struct sp_view value)
{
    struct sp_note note;
    enum sp_err err = sp_note_decode(value, &note);
    if (err != SP_OK)
        return err;
    if (note.kind == SP_NOTE_FOUND)
        err = sp_group_stage_contained(s->group, note.page, note.url, note.containment);
    else
        err = SP_MALFORMED;
    sp_note_done(&note);
    return err;
}

static enum sp_err group_take(void *stage, struct sp_message *m)
{
    struct group_stage *s = stage;
    note_fetch(&s->mouth, m);
    return sp_group_stage_step(s->group, m);
}

static enum sp_err group_step(void *stage, struct sp_view key, struct sp_view value,
                              const char **ret_why)
{
    struct group_stage *s = stage;
    (void)key;
    struct sp_message *m = NULL;
    *ret_why = "not a message of tier 1";
    if (sp_note_is(value))
        return group_found(s, value);
    enum sp_err err = sp_message_decode(value, &m);
    if (err == SP_OK && sp_message_tier(m) != SP_TIER_1) {
        sp_message_free(m);
        err = SP_MALFORMED;
    }
    if (err != SP_OK)
        return err;
    *ret_why = NULL;
    return group_take(s, m);
}

static void group_post(void *stage, struct sp_message *m)
{
    dispatch(&((struct group_stage *)stage)->mouth, m, false);
}

/* Large enough to tell a million pages of one partition their statuses in a few minutes, small
 * enough to leave most of a transaction to the stream. */
enum { TOLD_PER_TRANSACTION = 2000 };

static bool group_upkeep(void *stage)
{
    return !sp_group_stage_work(((struct group_stage *)stage)->group, TOLD_PER_TRANSACTION);
}

static void group_measure(void *stage, struct sp_stage_measure *sum)
{
    struct sp_group_stage_stats stats;
    sp_group_stage_stats(((struct group_stage *)stage)->group, &stats);
    sum->discarded += stats.late + stats.again_unknown;
    sum->put_off += stats.put_off;
    sum->bounces += stats.bounces;
    sum->settled += stats.settled;
    sum->rechecks += stats.rechecks;
}

static enum sp_err group_flush(void *stage)
{
    return sp_group_stage_flush(((struct group_stage *)stage)->group);
}

static void group_close(void *stage)
{
    struct group_stage *s = stage;
    sp_group_stage_free(s->group);
    close_mouth(&s->mouth);
    sp_free(s);
}

struct sp_worker_stage sp_stage_group(const struct sp_stage_options *options)
{
    enum { OTHERS = 3 }; /* outputs without the contain stage's */
    return (struct sp_worker_stage){
        .name = "group",
        .input = SP_TOPIC_TIER1,
        .stateful = true,
        .changelog = SP_TOPIC_TIER1_CHANGELOG,
        .outputs = {SP_TOPIC_TIER1, SP_TOPIC_TIER2, SP_TOPIC_STATUS, SP_TOPIC_CONTAIN},
        .output_count = OTHERS + (options->contain.threshold > 0),
        .prepare = group_prepare,
        .open = group_open,
        .step = group_step,
        .take = group_take,
        .post = group_post,
        .upkeep = group_upkeep,
        .measure = group_measure,
        .flush = group_flush,
        .close = group_close,
        .arg = (void *)(uintptr_t)options};
}

/* ---- compare ---- */

struct compare_stage {
    struct mouth mouth;
    struct sp_compare_stage *compare;
    const struct sp_maps *maps;
    struct sp_aside aside;
};

static enum sp_err compare_open(void *arg, struct sp_worker *w, struct sp_store *store,
                                void **ret_stage)
{
    const struct sp_stage_options *o = arg;
    struct compare_stage *s = sp_calloc(1, sizeof *s);
    struct sp_outbox outbox = {on_send, on_publish, &s->mouth};
    s->mouth.worker = w;
    s->mouth.maps = &o->compare.maps;
    s->compare = sp_compare_stage_new(&o->compare, store, &outbox);
    s->maps = &o->compare.maps;
    *ret_stage = s;
    enum sp_err err = sp_compare_stage_load(s->compare);
    return err == SP_OK ? sp_aside_load(&s->aside, store, s->maps) : err;
}

static enum sp_err compare_handle(void *stage, struct sp_message *m)
{
    enum sp_err err = sp_compare_stage_step(((struct compare_stage *)stage)->compare, m);
    sp_message_free(m);
    return err;
}

static bool compare_set_aside(void *stage, struct sp_view value)
{
    return sp_aside_put(&((struct compare_stage *)stage)->aside, value);
}

static enum sp_err compare_take(void *stage, struct sp_message *m)
{
    struct compare_stage *s = stage;
    enum sp_err err = sp_aside_take(&s->aside, compare_handle, s);
    if (err == SP_OK)
        return compare_handle(s, m);
    sp_message_free(m);
    return err;
}

static void compare_post(void *stage, struct sp_message *m)
{
    dispatch(&((struct compare_stage *)stage)->mouth, m, false);
}

static enum sp_err compare_step(void *stage, struct sp_view key, struct sp_view value,
                                const char **ret_why)
{
    struct compare_stage *s = stage;
    (void)key;
    struct sp_message *m = NULL;
    *ret_why = "not a message of tier 2, or for a cell that the map does not have";
    enum sp_err err = sp_message_decode(value, &m);
    if (err == SP_OK && (sp_message_tier(m) != SP_TIER_2 ||
                         sp_maps_standing(s->maps, sp_message_cell(m)) == SP_CELL_NONE))
        err = SP_MALFORMED;
    if (err != SP_OK) {
        sp_message_free(m);
        return err;
    }
    *ret_why = NULL;
    return compare_take(s, m);
}

/* Large enough to move a million pages of one partition in a few minutes, small enough to leave
 * most of a transaction to the stream. */
enum { MOVES_PER_TRANSACTION = 500, WORK_PER_TRANSACTION = 2000 };

static bool compare_upkeep(void *stage)
{
    struct compare_stage *s = stage;
    struct sp_compare_stage *compare = s->compare;
    struct sp_compare_stage_stats stats;
    if (sp_aside_take(&s->aside, compare_handle, s) != SP_OK)
        return false; /* and the flush fails */
    sp_compare_stage_move(compare, MOVES_PER_TRANSACTION);
    bool owes = sp_compare_stage_work(compare, WORK_PER_TRANSACTION);
    sp_compare_stage_stats(compare, &stats);
    return stats.rows_to_move == 0 && !owes;
}

static void compare_measure(void *stage, struct sp_stage_measure *sum)
{
    struct sp_compare_stage_stats stats;
    sp_compare_stage_stats(((struct compare_stage *)stage)->compare, &stats);
    sum->rows_to_move += stats.rows_to_move;
    sum->aside += ((struct compare_stage *)stage)->aside.count;
}

static enum sp_err compare_flush(void *stage)
{
    struct compare_stage *s = stage;
    return s->aside.err == SP_OK ? sp_compare_stage_flush(s->compare) : s->aside.err;
}

static void compare_close(void *stage)
{
    struct compare_stage *s = stage;
    sp_compare_stage_free(s->compare);
    close_mouth(&s->mouth);
    sp_free(s);
}

struct sp_worker_stage sp_stage_compare(const struct sp_stage_options *options)
{
    return (struct sp_worker_stage){.name = "compare",
                                    .input = SP_TOPIC_TIER2,
                                    .stateful = true,
                                    .changelog = SP_TOPIC_TIER2_CHANGELOG,
                                    .outputs = {SP_TOPIC_TIER1, SP_TOPIC_TIER2},
                                    .output_count = 2,
                                    .open = compare_open,
                                    .step = compare_step,
                                    .set_aside = compare_set_aside,
                                    .take = compare_take,
                                    .post = compare_post,
                                    .upkeep = compare_upkeep,
                                    .measure = compare_measure,
                                    .flush = compare_flush,
                                    .close = compare_close,
                                    .arg = (void *)(uintptr_t)options};
}
