/* Messages for cells of a newer map, which the compare stage puts aside until it has the map. */
#include "codec/codec.h"
#include "harness.h"
#include "kafka/aside.h"
#include "kafka/stages.h"
#include "kafka/task.h"
#include "made_up.h"

enum { HASHES = 50, CACHE = 1 << 20 };

static struct place {
    struct sp_stage_options options;
    struct sp_partition_map maps[2];
    struct sp_signature *signature;
    struct sp_db *db;
    struct sp_worker_stage stage;
    void *made;
    uint64_t from, to; /* pages of the last edge that the stage reported; 0: none */
} p;

int32_t __wrap_sp_worker_partitions(const struct sp_worker *w, enum sp_topic topic);
void __wrap_sp_worker_count(struct sp_worker *w, enum sp_message_kind kind);
void __wrap_sp_worker_emit(struct sp_worker *w, enum sp_topic topic, int32_t partition,
                           struct sp_view key, struct sp_view value);

int32_t __wrap_sp_worker_partitions(const struct sp_worker *w, enum sp_topic topic)
{
    (void)w, (void)topic;
    return 1;
}

void __wrap_sp_worker_count(struct sp_worker *w, enum sp_message_kind kind)
{
    (void)w, (void)kind;
}

void __wrap_sp_worker_emit(struct sp_worker *w, enum sp_topic topic, int32_t partition,
                           struct sp_view key, struct sp_view value)
{
    struct sp_message *m = NULL;
    (void)w, (void)topic, (void)partition, (void)key;
    CU_ASSERT_EQUAL_FATAL(sp_message_decode(value, &m), SP_OK);
    if (m->kind == SP_MSG_MATCH) {
        p.from = m->page.hi;
        p.to = m->link.edges[0].page.hi;
    }
    sp_message_free(m);
}

static void open_stage(void)
{
    p.stage = sp_stage_compare(&p.options);
    CU_ASSERT_EQUAL_FATAL(
        p.stage.open(p.stage.arg, NULL, sp_db_store(p.db, SP_TASK_STORE_STAGE), &p.made), SP_OK);
}

static void close_stage(void)
{
    CU_ASSERT_EQUAL(p.stage.flush(p.made), SP_OK);
    p.stage.close(p.made);
    CU_ASSERT_EQUAL(sp_db_commit(p.db), SP_OK);
}

static void open_again(bool with_next_map)
{
    close_stage();
    if (with_next_map)
        p.options.compare.maps = (struct sp_maps){.now = &p.maps[1], .before = &p.maps[0]};
    open_stage();
}

static void begin(void)
{
    p = (struct place){.db = sp_db_open_memory()};
    CU_ASSERT_EQUAL_FATAL(sp_partition_default(1, &p.maps[0]), SP_OK);
    CU_ASSERT_EQUAL_FATAL(sp_partition_default(1, &p.maps[1]), SP_OK);
    p.maps[1].version = p.maps[0].version + 1;
    sp_similarity_options_default(&p.options.compare.similarity);
    p.options.compare.maps.now = &p.maps[0];
    p.options.compare.rho = 1;
    p.options.compare.cache_bytes = CACHE;
    p.signature = made_up_range((struct sp_id){1, 1}, 0, HASHES);
    open_stage();
}

static void end(void)
{
    close_stage();
    sp_db_close(p.db);
    sp_signature_unref(p.signature);
    sp_partition_done(&p.maps[0]);
    sp_partition_done(&p.maps[1]);
}

/* A page of that content comes to the cell that the map of this version has for it. */
static enum sp_err put(uint64_t page, uint32_t version, bool *ret_aside)
{
    struct sp_buf bytes = {0};
    struct sp_message *m = sp_message_new(SP_MSG_PUT);
    const char *why = NULL;
    m->page = (struct sp_id){page, 0};
    m->put.cell = version % SP_CELL_VERSIONS << SP_CELL_BITS;
    m->put.content_version = 1;
    m->put.signature = sp_signature_ref(p.signature);
    sp_message_encode(m, &bytes);
    sp_message_free(m);
    enum sp_err err = p.stage.step(p.made, sp_view("", 0), sp_buf_view(&bytes), &why);
    *ret_aside = err == SP_OTHER_MAP && p.stage.set_aside(p.made, sp_buf_view(&bytes));
    sp_buf_done(&bytes);
    return err;
}

static uint64_t aside(void)
{
    struct sp_stage_measure sum = {0};
    p.stage.measure(p.made, &sum);
    return sum.aside;
}

TEST(what_was_put_aside_is_handled_first_once_its_map_is_there)
{
    bool set_aside = false;
    begin();
    CU_ASSERT_EQUAL(put(1, p.maps[1].version, &set_aside), SP_OTHER_MAP);
    CU_ASSERT_TRUE(set_aside);
    CU_ASSERT_EQUAL(put(3, p.maps[0].version, &set_aside), SP_OK); /* others are handled */
    open_again(false);
    p.stage.upkeep(p.made, true, 1);
    CU_ASSERT_EQUAL(aside(), 1);
    open_again(true);
    CU_ASSERT_EQUAL(put(2, p.maps[1].version, &set_aside), SP_OK);
    CU_ASSERT_EQUAL(aside(), 0);
    CU_ASSERT(p.from == 2 && p.to == 1); /* the page that had the content before */
    open_again(true);
    CU_ASSERT_EQUAL(aside(), 0);
    end();
}

TEST(only_so_many_messages_are_put_aside_and_then_the_stage_stops)
{
    bool set_aside = false;
    begin();
    for (uint64_t i = 1; i <= SP_ASIDE_MOST; i++) {
        CU_ASSERT_EQUAL(put(i, p.maps[1].version, &set_aside), SP_OTHER_MAP);
        CU_ASSERT_TRUE(set_aside);
    }
    CU_ASSERT_EQUAL(put(1000, p.maps[1].version, &set_aside), SP_OTHER_MAP);
    CU_ASSERT_FALSE(set_aside);
    open_again(false);
    CU_ASSERT_EQUAL(aside(), SP_ASIDE_MOST);
    open_again(true);
    p.stage.upkeep(p.made, true, 1); /* without a message */
    CU_ASSERT_EQUAL(aside(), 0);
    end();
}

/* Its map is present now, but has no such cell. */
TEST(what_another_program_wrote_waits_without_harm)
{
    bool set_aside = false;
    begin();
    CU_ASSERT_EQUAL(put(1, p.maps[1].version + 3, &set_aside), SP_OTHER_MAP);
    CU_ASSERT_TRUE(set_aside);
    open_again(true);
    CU_ASSERT_EQUAL(put(2, p.maps[1].version, &set_aside), SP_OK);
    CU_ASSERT_EQUAL(aside(), 1);
    end();
}
