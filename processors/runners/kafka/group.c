/* The group stage as a worker runs it: tier 1. */
#include "base/assert.h"
#include "base/mem.h"
#include "codec/note.h"
#include "kafka/sender.h"
#include "kafka/stages.h"

struct group_stage {
    struct sp_sender sender;
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
    struct sp_outbox outbox = {sp_sender_send, sp_sender_publish, &s->sender};
    s->sender.worker = w;
    s->sender.maps = &o->compare.maps;
    uint32_t id = o->status_schema_id;
    struct sp_fault fault;
    if (o->schemas && sp_schemas_id(o->schemas, SP_TOPIC_STATUS, &id, &fault) != SP_OK)
        SP_ASSERT(!"prepared"); /* group_prepare has asked the registry */
    s->sender.statuses = sp_wire_format_of_id(id);
    s->sender.contains = o->contain.threshold > 0;
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
    /* No status follows a late fetch, so the contain stage would never drop its content. */
    if (s->sender.contains && m->kind == SP_MSG_CRAWLED && !sp_group_stage_is_late(s->group, m))
        sp_sender_note_fetch(&s->sender, m);
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
    sp_sender_post(&((struct group_stage *)stage)->sender, m);
}

/* Of all partitions of an instance; small enough to leave most of a transaction to the stream. */
enum { TOLD_PER_TRANSACTION = 2000, TOLD_IDLE = 32000, INDEXED_PER_TRANSACTION = 2000 };

/* While no messages come, statuses are not held up by the index, which nobody waits for. */
static bool group_upkeep(void *stage, bool idle, uint32_t sharers)
{
    struct sp_group_stage *group = ((struct group_stage *)stage)->group;
    uint32_t told = idle ? TOLD_IDLE : TOLD_PER_TRANSACTION;
    bool owes = sp_group_stage_work(group, told / sharers + 1);
    if (!owes || !idle)
        owes |= sp_group_stage_prepare(group, INDEXED_PER_TRANSACTION / sharers + 1);
    return !owes;
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
    sp_sender_done(&s->sender);
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
