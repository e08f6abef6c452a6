/* See compare_helper.h. */
#include "compare_helper.h"

#include "harness.h"

static void on_publish(void *arg, const struct sp_status_event *event)
{
    (void)arg, (void)event;
    CU_FAIL("a cell publishes nothing");
}

void stage_init(struct stage *s, uint32_t cells, void (*send)(void *arg, struct sp_message *m),
                void *arg)
{
    *s = (struct stage){.db = sp_db_open_memory(),
                        .options = {.similarity = {.threshold = 0.8},
                                    .maps = {.now = &s->map},
                                    .routing = SP_ROUTING_LOSSLESS,
                                    .rho = 1,
                                    .cache_bytes = 1 << 16},
                        .outbox = {send, on_publish, arg}};
    CU_ASSERT_EQUAL_FATAL(sp_partition_default(cells, &s->map), SP_OK);
}

enum sp_err stage_open(struct stage *s)
{
    s->compare = sp_compare_stage_new(&s->options, stage_store(s), &s->outbox);
    return sp_compare_stage_load(s->compare);
}

void stage_done(struct stage *s)
{
    sp_compare_stage_free(s->compare);
    sp_partition_done(&s->map);
    sp_db_close(s->db);
}

struct sp_store *stage_store(struct stage *s)
{
    return sp_db_store(s->db, 1);
}

void stage_commit(struct stage *s)
{
    CU_ASSERT_EQUAL_FATAL(sp_compare_stage_flush(s->compare), SP_OK);
    CU_ASSERT_EQUAL_FATAL(sp_db_commit(s->db), SP_OK);
}

enum sp_err stage_reopen(struct stage *s)
{
    sp_compare_stage_free(s->compare);
    return stage_open(s);
}

void stage_restart(struct stage *s)
{
    stage_commit(s);
    CU_ASSERT_EQUAL_FATAL(stage_reopen(s), SP_OK);
}

struct sp_message *put_of(struct sp_id page, struct sp_put put)
{
    struct sp_message *m = sp_message_new(SP_MSG_PUT);
    m->page = page;
    m->put = put;
    return m;
}

struct sp_message *remove_of(struct sp_id page, struct sp_remove remove)
{
    struct sp_message *m = sp_message_new(SP_MSG_REMOVE);
    m->page = page;
    m->remove = remove;
    return m;
}

enum sp_err stage_try_step(struct stage *s, struct sp_message *m)
{
    enum sp_err err = sp_compare_stage_step(s->compare, m);
    sp_message_free(m);
    return err;
}

void stage_step(struct stage *s, struct sp_message *m)
{
    CU_ASSERT_EQUAL_FATAL(stage_try_step(s, m), SP_OK);
}

void stage_settle(struct stage *s)
{
    while (sp_compare_stage_work(s->compare, 100))
        ;
}

uint32_t stage_cell(const struct stage *s, uint32_t length)
{
    return sp_maps_cell(&s->options.maps, &(struct sp_signature){.length = {length}});
}

struct sp_compare_stage_stats stage_stats(const struct stage *s)
{
    struct sp_compare_stage_stats stats;
    sp_compare_stage_stats(s->compare, &stats);
    return stats;
}
