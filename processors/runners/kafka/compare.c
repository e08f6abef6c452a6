/* The compare stage as a worker runs it: tier 2. */
#include "base/mem.h"
#include "kafka/aside.h"
#include "kafka/sender.h"
#include "kafka/stages.h"

struct compare_stage {
    struct sp_sender sender;
    struct sp_compare_stage *compare;
    struct sp_aside aside;
};

static enum sp_err compare_open(void *arg, struct sp_worker *w, struct sp_store *store,
                                void **ret_stage)
{
    const struct sp_stage_options *o = arg;
    struct compare_stage *s = sp_calloc(1, sizeof *s);
    struct sp_outbox outbox = {sp_sender_send, sp_sender_publish, &s->sender};
    s->sender.worker = w;
    s->sender.maps = &o->compare.maps;
    s->compare = sp_compare_stage_new(&o->compare, store, &outbox);
    *ret_stage = s;
    enum sp_err err = sp_compare_stage_load(s->compare);
    return err == SP_OK ? sp_aside_load(&s->aside, store, s->sender.maps) : err;
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
    sp_sender_post(&((struct compare_stage *)stage)->sender, m);
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
                         sp_maps_standing(s->sender.maps, sp_message_cell(m)) == SP_CELL_NONE))
        err = SP_MALFORMED;
    if (err != SP_OK) {
        sp_message_free(m);
        return err;
    }
    *ret_why = NULL;
    return compare_take(s, m);
}

/* Of all partitions: large enough to move a million pages in a few minutes, small enough to leave
 * most of a transaction to the stream. */
enum { MOVES_PER_TRANSACTION = 500, WORK_PER_TRANSACTION = 2000 };

static bool compare_upkeep(void *stage, bool idle, uint32_t sharers)
{
    (void)idle;
    struct compare_stage *s = stage;
    struct sp_compare_stage *compare = s->compare;
    struct sp_compare_stage_stats stats;
    if (sp_aside_take(&s->aside, compare_handle, s) != SP_OK)
        return false; /* and the flush fails */
    sp_compare_stage_move(compare, MOVES_PER_TRANSACTION / sharers + 1);
    bool owes = sp_compare_stage_work(compare, WORK_PER_TRANSACTION / sharers + 1);
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
    sp_sender_done(&s->sender);
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
